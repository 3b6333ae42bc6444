/* Level 2: the emulated Falcon under the real libusb, in the same process. Preloaded, it answers
 * every usbfs ioctl from the model and passes the rest on; sysfs comes from umockdev-run.
 *   EMULATED_FALCON         faults, see usbfs.h
 *   EMULATED_FALCON_SCRIPT  file with the hand's script
 *   EMULATED_DENIED         opening the device file is not permitted
 *   EMULATED_DRIVER         name of a kernel driver that is bound to it
 *   EMULATED_MOTORS         file that gets, at the end, what the motors were told */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/usbdevice_fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/emulated/usbfs.h"

enum { UNITS = 2, URBS_MAX = 64 };

typedef struct queued {
    struct usbdevfs_urb *urb;
    int64_t submit_ns;
    bool is_done;
    int fd;
} queued;

typedef struct unit {
    falcon_model model;
    queued urbs[URBS_MAX];
    int count;
    char serial[16];
} unit;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unit units[UNITS];
static bool is_ready;

static void prepare(void)
{
    model_faults faults;
    if (is_ready)
        return;
    is_ready = true;
    if (!usbfs_faults(getenv("EMULATED_FALCON"), &faults))
        _exit(2);
    for (int i = 0; i < UNITS; i++) {
        model_init(&units[i].model, &faults, usbfs_script(), 1 + (uint64_t)i);
        snprintf(units[i].serial, sizeof units[i].serial, "EMUL000%u", (unsigned)i % 10u);
    }
}

/* For tests that want to know what really reached the motors. */
static __attribute__((destructor)) void write_motors(void)
{
    const char *path = getenv("EMULATED_MOTORS");
    FILE *file = path && is_ready ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < UNITS; i++) {
        const falcon_model *m = &units[i].model;
        fprintf(file,
                "unit %d commands %llu uploads %llu before_homing %llu largest %d last %d %d %d\n",
                i, (unsigned long long)m->commands, (unsigned long long)m->uploads,
                (unsigned long long)m->pushes_before_homing, m->motor_largest, m->motors[0],
                m->motors[1], m->motors[2]);
    }
    if (file)
        fclose(file);
}

/* By the name of the device file behind the descriptor. */
static unit *unit_of(int fd)
{
    char link[64];
    char path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/006") == 0 ? &units[1] : &units[0];
}

static void finish(queued *q, int status, int length)
{
    q->urb->status = status;
    q->urb->actual_length = length;
    q->is_done = true;
}

static int submit(unit *u, int fd, struct usbdevfs_urb *urb)
{
    int64_t now = usbfs_now();
    if (!model_is_plugged(&u->model, now)) {
        errno = ENODEV;
        return -1;
    }
    if (u->count == URBS_MAX) {
        errno = ENOMEM;
        return -1;
    }
    queued *q = &u->urbs[u->count++];
    *q = (queued){.urb = urb, .submit_ns = now, .fd = fd};
    if (urb->type == USBDEVFS_URB_TYPE_CONTROL) {
        int length = usbfs_control(&u->model, now, urb->buffer, urb->buffer_length - 8, u->serial);
        finish(q, length < 0 ? length : 0, length < 0 ? 0 : length);
    } else if (urb->endpoint == FALCON_ENDPOINT_OUT) {
        int status = model_out(&u->model, now, urb->buffer, urb->buffer_length);
        finish(q, status == HR_OK ? 0 : -ESHUTDOWN, status == HR_OK ? urb->buffer_length : 0);
    }
    return 0;
}

static void look_for_data(unit *u)
{
    int64_t now = usbfs_now();
    bool is_plugged = model_is_plugged(&u->model, now);
    for (int i = 0; i < u->count; i++) {
        queued *q = &u->urbs[i];
        if (q->is_done)
            continue;
        if (!is_plugged) {
            finish(q, -ESHUTDOWN, 0);
            continue;
        }
        int count = model_in(&u->model, now, q->submit_ns, q->urb->buffer, q->urb->buffer_length);
        if (count == MODEL_NOT_DUE)
            break; /* transfers finish in order */
        finish(q, count < 0 ? -EPIPE : 0, count < 0 ? 0 : count);
    }
}

static int reap(unit *u, int fd, void **out)
{
    look_for_data(u);
    for (int i = 0; i < u->count; i++) {
        if (!u->urbs[i].is_done || u->urbs[i].fd != fd)
            continue;
        *out = u->urbs[i].urb;
        memmove(&u->urbs[i], &u->urbs[i + 1], (size_t)(u->count - i - 1) * sizeof u->urbs[0]);
        u->count--;
        return 0;
    }
    errno = model_is_plugged(&u->model, usbfs_now()) ? EAGAIN : ENODEV;
    return -1;
}

static int discard(unit *u, const void *urb)
{
    for (int i = 0; i < u->count; i++)
        if (u->urbs[i].urb == urb && !u->urbs[i].is_done) {
            finish(&u->urbs[i], -ENOENT, 0);
            return 0;
        }
    errno = EINVAL;
    return -1;
}

static int serve(int fd, unsigned long request, void *argument)
{
    unit *u = unit_of(fd);
    switch (request) {
    case USBDEVFS_GET_CAPABILITIES:
        *(uint32_t *)argument = USBDEVFS_CAP_BULK_CONTINUATION | USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
                                USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
        return 0;
    case USBDEVFS_GETDRIVER:
        if (getenv("EMULATED_DRIVER")) {
            struct usbdevfs_getdriver *answer = argument;
            snprintf(answer->driver, sizeof answer->driver, "%s", getenv("EMULATED_DRIVER"));
            return 0;
        }
        errno = ENODATA;
        return -1;
    case USBDEVFS_CLAIMINTERFACE:
    case USBDEVFS_DISCONNECT_CLAIM:
        errno = usbfs_open(&u->model);
        return errno ? -1 : 0;
    case USBDEVFS_CLEAR_HALT:
        model_clear_halt(&u->model);
        return 0;
    case USBDEVFS_SUBMITURB:
        return submit(u, fd, argument);
    case USBDEVFS_REAPURBNDELAY:
        return reap(u, fd, argument);
    case USBDEVFS_DISCARDURB:
        return discard(u, argument);
    default:
        return 0;
    }
}

typedef int (*open_function)(const char *, int, ...);

static int open_next(const char *name, const char *path, int flags, int mode)
{
    open_function next = NULL;
    if (getenv("EMULATED_DENIED") && strstr(path, "/bus/usb/001/")) {
        errno = EACCES;
        return -1;
    }
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(&next, &symbol, sizeof next);
    return next(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list values;
    va_start(values, flags);
    int mode = va_arg(values, int);
    va_end(values);
    return open_next("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list values;
    va_start(values, flags);
    int mode = va_arg(values, int);
    va_end(values);
    return open_next("open64", path, flags, mode);
}

/* What a program built with buffer checks calls. */
int __open_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return open_next("open", path, flags, 0);
}

int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list values;
    va_start(values, request);
    void *argument = va_arg(values, void *);
    va_end(values);
    if (_IOC_TYPE(request) == 'U') {
        pthread_mutex_lock(&lock);
        prepare();
        int result = serve(fd, request, argument);
        pthread_mutex_unlock(&lock);
        if (result != 0 && request == USBDEVFS_REAPURBNDELAY && errno == EAGAIN) {
            /* a regular file is always ready: do not let libusb spin */
            struct timespec pause = {0, 50000};
            nanosleep(&pause, NULL);
            errno = EAGAIN;
        }
        return result;
    }
    if (!next) {
        void *symbol = dlsym(RTLD_NEXT, "ioctl");
        memcpy(&next, &symbol, sizeof next);
    }
    return next(fd, request, argument);
}
