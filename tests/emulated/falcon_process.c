/* Level 3: the emulated Falcon as a device process under umockdev, with hot-plug.
 * usage: umockdev-wrapper falcon-process [--faults "..."] [--units N] -- PROGRAM ARGUMENTS...
 * Runs the program, whose libusb finds the emulated device, and ends with its exit code. */
#include <errno.h>
#include <glib-unix.h>
#include <linux/usbdevice_fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <umockdev.h>

#include "tests/emulated/usbfs.h"

enum { UNITS_MAX = 2, URBS_MAX = 64 };

typedef struct queued {
    UMockdevIoctlData *urb, *buffer;
    gulong client_address;
    UMockdevIoctlClient *owner;
    int64_t submit_ns;
    bool is_done;
} queued;

typedef struct unit {
    falcon_model model;
    queued urbs[URBS_MAX];
    int count;
    int number;
    bool is_shown;
    char serial[16];
} unit;

static GMutex lock;
static unit units[UNITS_MAX];
static int unit_count = 1;
static UMockdevTestbed *testbed;
static GMainLoop *loop;
static int exit_code = 1;

static struct usbdevfs_urb *urb_of(const queued *q)
{
    return (struct usbdevfs_urb *)(void *)q->urb->data;
}

static void finish(queued *q, int status, int length)
{
    urb_of(q)->status = status;
    urb_of(q)->actual_length = length;
    q->is_done = true;
}

static int submit(unit *u, UMockdevIoctlClient *client, UMockdevIoctlData *argument)
{
    int64_t now = usbfs_now();
    if (!model_is_plugged(&u->model, now))
        return ENODEV;
    if (u->count == URBS_MAX)
        return ENOMEM;
    UMockdevIoctlData *data =
        umockdev_ioctl_data_resolve(argument, 0, sizeof(struct usbdevfs_urb), NULL);
    struct usbdevfs_urb *urb = (struct usbdevfs_urb *)(void *)data->data;
    UMockdevIoctlData *buffer = umockdev_ioctl_data_resolve(
        data, G_STRUCT_OFFSET(struct usbdevfs_urb, buffer), (gsize)urb->buffer_length, NULL);
    queued *q = &u->urbs[u->count++];
    *q = (queued){data, buffer, data->client_addr, client, now, false};
    if (urb->type == USBDEVFS_URB_TYPE_CONTROL) {
        int length = usbfs_control(&u->model, now, buffer->data, urb->buffer_length - 8, u->serial);
        finish(q, length < 0 ? length : 0, length < 0 ? 0 : length);
    } else if (urb->endpoint == FALCON_ENDPOINT_OUT) {
        int status = model_out(&u->model, now, buffer->data, urb->buffer_length);
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
        int count =
            model_in(&u->model, now, q->submit_ns, q->buffer->data, urb_of(q)->buffer_length);
        if (count == MODEL_NOT_DUE)
            break;
        finish(q, count < 0 ? -EPIPE : 0, count < 0 ? 0 : count);
    }
}

static int reap(unit *u, UMockdevIoctlClient *client, UMockdevIoctlData *argument)
{
    look_for_data(u);
    for (int i = 0; i < u->count; i++) {
        queued q = u->urbs[i];
        if (!q.is_done || q.owner != client)
            continue;
        UMockdevIoctlData *slot = umockdev_ioctl_data_resolve(argument, 0, sizeof(gpointer), NULL);
        umockdev_ioctl_data_set_ptr(slot, 0, q.urb);
        g_object_unref(slot);
        memmove(&u->urbs[i], &u->urbs[i + 1], (size_t)(u->count - i - 1) * sizeof u->urbs[0]);
        u->count--;
        return 0;
    }
    return model_is_plugged(&u->model, usbfs_now()) ? EAGAIN : ENODEV;
}

static int discard(unit *u, gulong address)
{
    for (int i = 0; i < u->count; i++)
        if (u->urbs[i].client_address == address && !u->urbs[i].is_done) {
            finish(&u->urbs[i], -ENOENT, 0);
            return 0;
        }
    return EINVAL;
}

/* Returns 0 or an errno. */
static int serve(unit *u, UMockdevIoctlClient *client, gulong request, UMockdevIoctlData *argument)
{
    switch (request) {
    case USBDEVFS_GET_CAPABILITIES: {
        UMockdevIoctlData *flags = umockdev_ioctl_data_resolve(argument, 0, 4, NULL);
        *(uint32_t *)(void *)flags->data = USBDEVFS_CAP_BULK_CONTINUATION |
                                           USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
                                           USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
        g_object_unref(flags);
        return 0;
    }
    case USBDEVFS_GETDRIVER:
        return ENODATA;
    case USBDEVFS_CLAIMINTERFACE:
    case USBDEVFS_DISCONNECT_CLAIM:
        return usbfs_open(&u->model);
    case USBDEVFS_CLEAR_HALT:
        model_clear_halt(&u->model);
        return 0;
    case USBDEVFS_SUBMITURB:
        return submit(u, client, argument);
    case USBDEVFS_REAPURBNDELAY:
        return reap(u, client, argument);
    case USBDEVFS_DISCARDURB:
        return discard(u, *(gulong *)(void *)argument->data);
    default:
        return 0;
    }
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer data)
{
    (void)handler;
    gulong request = umockdev_ioctl_client_get_request(client);
    UMockdevIoctlData *argument = umockdev_ioctl_client_get_arg(client);
    g_mutex_lock(&lock);
    int code = serve(data, client, request, argument);
    g_mutex_unlock(&lock);
    umockdev_ioctl_client_complete(client, code ? -1 : 0, code);
    return TRUE;
}

static void show(unit *u)
{
    GError *error = NULL;
    char path[64];
    snprintf(path, sizeof path, "/dev/bus/usb/001/%03d", u->number + 5);
    UMockdevIoctlBase *handler = umockdev_ioctl_base_new();
    g_signal_connect(handler, "handle-ioctl", G_CALLBACK(on_ioctl), u);
    if (!umockdev_testbed_add_from_string(testbed, usbfs_device_text(u->number), &error) ||
        !umockdev_testbed_attach_ioctl(testbed, path, handler, &error)) {
        fprintf(stderr, "emulated falcon: %s\n", error->message);
        exit(2);
    }
    char place[128];
    snprintf(place, sizeof place, "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-%d", u->number + 3);
    umockdev_testbed_uevent(testbed, place, "add");
    u->is_shown = true;
}

static void hide(unit *u)
{
    char path[64];
    char place[128];
    snprintf(path, sizeof path, "/dev/bus/usb/001/%03d", u->number + 5);
    snprintf(place, sizeof place, "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-%d", u->number + 3);
    umockdev_testbed_uevent(testbed, place, "remove");
    (void)umockdev_testbed_detach_ioctl(testbed, path, NULL);
    umockdev_testbed_remove_device(testbed, place);
    u->is_shown = false;
}

static gboolean watch_plugs(gpointer data)
{
    (void)data;
    for (int i = 0; i < unit_count; i++) {
        g_mutex_lock(&lock);
        bool is_plugged = model_is_plugged(&units[i].model, usbfs_now());
        g_mutex_unlock(&lock);
        if (is_plugged && !units[i].is_shown)
            show(&units[i]);
        else if (!is_plugged && units[i].is_shown)
            hide(&units[i]);
    }
    return G_SOURCE_CONTINUE;
}

static void on_exit_of_child(GPid pid, gint status, gpointer data)
{
    (void)pid;
    (void)data;
    exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    g_main_loop_quit(loop);
}

static gboolean pass_on(gpointer data)
{
    kill(*(GPid *)data, SIGTERM);
    return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
    const char *text = getenv("EMULATED_FALCON");
    int at = 1;
    for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2) {
        if (strcmp(argv[at], "--faults") == 0)
            text = argv[at + 1];
        else if (strcmp(argv[at], "--units") == 0)
            unit_count = atoi(argv[at + 1]) > 1 ? 2 : 1;
    }
    model_faults faults;
    if (at + 1 >= argc || !usbfs_faults(text, &faults)) {
        fprintf(stderr, "usage: umockdev-wrapper falcon-process [--faults \"...\"] [--units N] -- "
                        "PROGRAM ARGUMENTS...\n");
        return 2;
    }
    testbed = umockdev_testbed_new();
    for (int i = 0; i < unit_count; i++) {
        units[i].number = i;
        snprintf(units[i].serial, sizeof units[i].serial, "EMUL000%u", (unsigned)i % 10u);
        model_init(&units[i].model, &faults, usbfs_script(), 1 + (uint64_t)i);
        show(&units[i]);
    }
    loop = g_main_loop_new(NULL, FALSE);
    GPid child;
    GError *error = NULL;
    if (!g_spawn_async(NULL, argv + at + 1, NULL,
                       G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH |
                           G_SPAWN_CHILD_INHERITS_STDIN,
                       NULL, NULL, &child, &error)) {
        fprintf(stderr, "emulated falcon: %s\n", error->message);
        return 2;
    }
    g_child_watch_add(child, on_exit_of_child, NULL);
    g_timeout_add(20, watch_plugs, NULL);
    g_unix_signal_add(SIGTERM, pass_on, &child);
    g_unix_signal_add(SIGINT, pass_on, &child);
    g_main_loop_run(loop);
    return exit_code;
}
