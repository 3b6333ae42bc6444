#include "server/control_connect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

hr_status control_path(const char *configured, char *out, size_t size, hr_error *error)
{
    int length;
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (configured && configured[0])
        length = snprintf(out, size, "%s", configured);
    else if (folder && folder[0] && access(folder, W_OK | X_OK) == 0)
        length = snprintf(out, size, "%s/hapticd.sock", folder);
    else
        length = snprintf(out, size, "/tmp/hapticd-%u.sock", (unsigned)getuid());
    struct sockaddr_un address;
    if (length < 0 || (size_t)length >= size || (size_t)length >= sizeof address.sun_path)
        return error_set(error, HR_ERR_CAPACITY,
                         "control.socket: expected a path of at most %zu bytes, got \"%.60s...\"",
                         sizeof address.sun_path - 1, configured);
    return HR_OK;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strnlen(path, sizeof address.sun_path - 1));
    return address;
}

int control_connect(const char *path, hr_error *error)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    error_set(error, HR_ERR_IO, "%s: expected a running hapticd, got: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
