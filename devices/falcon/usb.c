#include "devices/falcon/usb.h"

#include <errno.h>
#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "devices/falcon/protocol.h"

/* Two IN transfers are always queued, so that one is ready while the other is being looked at. */
enum { IN_TRANSFERS = 2, RECEIVED_MAX = 8192 };

typedef struct usb_transport {
    falcon_transport base;
    libusb_context *context;
    libusb_device_handle *handle;
    struct libusb_transfer *in[IN_TRANSFERS];
    struct libusb_transfer *out;
    uint8_t in_bytes[IN_TRANSFERS][FALCON_USB_PACKET * 8];
    uint8_t out_bytes[256];
    bool is_in_flight[IN_TRANSFERS];
    bool is_out_flying, is_lost, is_stopping;
    bool is_in_stalled, is_out_stalled; /* an endpoint has halted: to be cleared */
    uint8_t received[RECEIVED_MAX];
    size_t received_count;
    char address[64];
    char serial[32];
} usb_transport;

static usb_transport *mine(falcon_transport *t)
{
    return (usb_transport *)t;
}

static int64_t now_usb(falcon_transport *t)
{
    (void)t;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* --- finding ------------------------------------------------------------------------------------
 */

static void describe_port(libusb_device *device, char *out, size_t size)
{
    uint8_t ports[8];
    int count = libusb_get_port_numbers(device, ports, sizeof ports);
    int length = snprintf(out, size, "%d", libusb_get_bus_number(device));
    for (int i = 0; i < count && length > 0 && (size_t)length < size; i++)
        length +=
            snprintf(out + length, size - (size_t)length, "%c%d", i == 0 ? '-' : '.', ports[i]);
}

static bool is_falcon(libusb_device *device, struct libusb_device_descriptor *descriptor)
{
    return libusb_get_device_descriptor(device, descriptor) == 0 &&
           descriptor->idVendor == FALCON_VENDOR && descriptor->idProduct == FALCON_PRODUCT;
}

static void read_serial(libusb_device_handle *handle, uint8_t index, char *out, size_t size)
{
    unsigned char text[64] = "";
    out[0] = '\0';
    if (index && libusb_get_string_descriptor_ascii(handle, index, text, sizeof text) > 0)
        snprintf(out, size, "%.31s", (const char *)text);
}

static void explain_open(int code, char *out, size_t size)
{
    if (code == LIBUSB_ERROR_ACCESS)
        snprintf(out, size,
                 "no permission; install the udev rule (make install) and plug it in again");
    else if (code == LIBUSB_ERROR_BUSY)
        snprintf(out, size, "another program uses the device");
    else
        snprintf(out, size, "%s", libusb_strerror(code));
}

/* Its name from sysfs; "ftdi_sio" is the only one that could be there otherwise. */
static void name_driver(const char *port, char *out, size_t size)
{
    char link[96];
    char target[256];
    snprintf(link, sizeof link, "/sys/bus/usb/devices/%.31s:1.0/driver", port);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(out, size, "%.31s", slash ? slash + 1 : "ftdi_sio");
}

static void fill_unit(libusb_device *device, const struct libusb_device_descriptor *descriptor,
                      falcon_unit *unit)
{
    libusb_device_handle *handle = NULL;
    describe_port(device, unit->port, sizeof unit->port);
    unit->bus = libusb_get_bus_number(device);
    unit->address = libusb_get_device_address(device);
    int code = libusb_open(device, &handle);
    unit->may_open = code == 0;
    if (code != 0) {
        explain_open(code, unit->problem, sizeof unit->problem);
        return;
    }
    read_serial(handle, descriptor->iSerialNumber, unit->serial, sizeof unit->serial);
    if (libusb_kernel_driver_active(handle, 0) == 1)
        name_driver(unit->port, unit->driver, sizeof unit->driver);
    libusb_close(handle);
}

static int by_port(const void *a, const void *b)
{
    return strcmp(((const falcon_unit *)a)->port, ((const falcon_unit *)b)->port);
}

static hr_status start_libusb(libusb_context **out, hr_error *error)
{
    int code = libusb_init(out);
    return code == 0 ? HR_OK
                     : error_set(error, HR_ERR_IO, "USB: expected a working libusb, found: %s",
                                 libusb_strerror(code));
}

static int list_units(libusb_context *context, falcon_unit *units, int capacity)
{
    libusb_device **list = NULL;
    long total = libusb_get_device_list(context, &list);
    int count = 0;
    for (long i = 0; i < total && count < capacity; i++) {
        struct libusb_device_descriptor descriptor;
        if (!is_falcon(list[i], &descriptor))
            continue;
        units[count] = (falcon_unit){0};
        fill_unit(list[i], &descriptor, &units[count++]);
    }
    if (list)
        libusb_free_device_list(list, 1);
    qsort(units, (size_t)count, sizeof *units, by_port);
    for (int i = 0; i < count; i++)
        units[i].index = i;
    return count;
}

int falcon_usb_list(falcon_unit *units, int capacity, hr_error *error)
{
    libusb_context *context = NULL;
    hr_status status = start_libusb(&context, error);
    if (status != HR_OK)
        return status;
    int count = list_units(context, units, capacity);
    libusb_exit(context);
    return count;
}

/* Does the unit carry this address? */
static bool is_meant(const char *address, const falcon_unit *unit)
{
    if (!address[0])
        return unit->index == 0;
    if (strncmp(address, "serial:", 7) == 0)
        return strcmp(address + 7, unit->serial) == 0;
    if (strncmp(address, "port:", 5) == 0)
        return strcmp(address + 5, unit->port) == 0;
    char *end = NULL;
    long index = strtol(address, &end, 10);
    /* a serial number may consist of digits, but has eight of them */
    if (!*end && strlen(address) <= 2)
        return unit->index == (int)index;
    return strcmp(address, unit->serial) == 0;
}

/* Nobody has the address: perhaps because its serial number could not be read. */
static hr_status refuse_address(const char *address, const falcon_unit *units, int count,
                                hr_error *error)
{
    if (count == 0)
        return error_set(error, HR_ERR_NOT_FOUND, "no Falcon is plugged in");
    for (int i = 0; i < count; i++)
        if (!units[i].may_open)
            return error_set(error, HR_ERR_BUSY,
                             "no Falcon with the address \"%s\" could be opened; the one at port "
                             "%s: %s",
                             address, units[i].port, units[i].problem);
    return error_set(error, HR_ERR_NOT_FOUND,
                     "no Falcon with the address \"%s\" among the %d plugged in (haptic devices "
                     "lists them)",
                     address, count);
}

/* --- opening ------------------------------------------------------------------------------------
 */

static void close_usb(falcon_transport *base);
static hr_status submit_in(usb_transport *t);

static hr_status claim(usb_transport *t, libusb_device *device, const falcon_unit *unit,
                       hr_error *error)
{
    int code = libusb_open(device, &t->handle);
    if (code == 0) {
        (void)libusb_set_auto_detach_kernel_driver(t->handle, 1);
        code = libusb_claim_interface(t->handle, 0);
    }
    if (code == 0)
        return HR_OK;
    char reason[160];
    explain_open(code, reason, sizeof reason);
    if (t->handle)
        libusb_close(t->handle);
    t->handle = NULL;
    return error_set(error, code == LIBUSB_ERROR_NO_DEVICE ? HR_ERR_LOST : HR_ERR_BUSY,
                     "Falcon at port %s: %s", unit->port, reason);
}

static hr_status find_and_claim(usb_transport *t, const falcon_unit *unit, hr_error *error)
{
    libusb_device **list = NULL;
    long total = libusb_get_device_list(t->context, &list);
    hr_status status =
        error_set(error, HR_ERR_NOT_FOUND, "the Falcon at port %s went away", unit->port);
    for (long i = 0; i < total; i++) {
        struct libusb_device_descriptor descriptor;
        char port[32];
        if (!is_falcon(list[i], &descriptor))
            continue;
        describe_port(list[i], port, sizeof port);
        if (strcmp(port, unit->port) == 0) {
            status = claim(t, list[i], unit, error);
            break;
        }
    }
    if (list)
        libusb_free_device_list(list, 1);
    return status;
}

static hr_status open_usb(falcon_transport *base, hr_error *error)
{
    usb_transport *t = mine(base);
    falcon_unit units[FALCON_UNITS_MAX] = {0};
    close_usb(base);
    /* One context for the transport's whole life: libusb 1.0.26 crashes when a context is ended
     * while it has yet to be told that a device went away. */
    hr_status status = t->context ? HR_OK : start_libusb(&t->context, error);
    if (status != HR_OK)
        return status;
    int count = list_units(t->context, units, FALCON_UNITS_MAX);
    int chosen = 0;
    while (chosen < count && !is_meant(t->address, &units[chosen]))
        chosen++;
    if (chosen == count)
        return refuse_address(t->address, units, count, error);
    status = find_and_claim(t, &units[chosen], error);
    if (status == HR_OK) {
        snprintf(t->serial, sizeof t->serial, "%s", units[chosen].serial);
        t->is_lost = t->is_stopping = t->is_in_stalled = t->is_out_stalled = false;
        t->received_count = 0;
        status = submit_in(t);
        if (status != HR_OK)
            (void)error_set(error, status, "Falcon at port %s: %s", units[chosen].port,
                            status_text(status));
    }
    if (status != HR_OK)
        close_usb(base);
    return status;
}

/* --- transfers ----------------------------------------------------------------------------------
 */

static bool is_gone(enum libusb_transfer_status status)
{
    return status == LIBUSB_TRANSFER_NO_DEVICE || status == LIBUSB_TRANSFER_ERROR;
}

static void LIBUSB_CALL on_in(struct libusb_transfer *transfer)
{
    usb_transport *t = transfer->user_data;
    int which = transfer == t->in[0] ? 0 : 1;
    t->is_in_flight[which] = false;
    size_t length = (size_t)transfer->actual_length;
    if (transfer->status == LIBUSB_TRANSFER_COMPLETED &&
        t->received_count + length <= sizeof t->received)
        t->received_count += ftdi_strip(transfer->buffer, length, t->received + t->received_count);
    if (is_gone(transfer->status))
        t->is_lost = true;
    if (transfer->status == LIBUSB_TRANSFER_STALL)
        t->is_in_stalled = true;
    if (t->is_stopping || t->is_lost || t->is_in_stalled)
        return;
    int code = libusb_submit_transfer(transfer);
    t->is_in_flight[which] = code == 0;
    if (code != 0)
        t->is_lost = true;
}

static void LIBUSB_CALL on_out(struct libusb_transfer *transfer)
{
    usb_transport *t = transfer->user_data;
    t->is_out_flying = false;
    if (is_gone(transfer->status))
        t->is_lost = true;
    if (transfer->status == LIBUSB_TRANSFER_STALL)
        t->is_out_stalled = true;
}

static hr_status submit_in(usb_transport *t)
{
    for (int i = 0; i < IN_TRANSFERS; i++) {
        if (t->is_in_flight[i])
            continue;
        libusb_fill_bulk_transfer(t->in[i], t->handle, FALCON_ENDPOINT_IN, t->in_bytes[i],
                                  FALCON_USB_PACKET, on_in, t, 0);
        if (libusb_submit_transfer(t->in[i]) != 0)
            return HR_ERR_LOST;
        t->is_in_flight[i] = true;
    }
    return HR_OK;
}

/* A halted endpoint answers nothing until the host clears it; transfers on it end at once. */
static void clear_stalls(usb_transport *t)
{
    bool is_good = true;
    if (t->is_in_stalled)
        is_good = libusb_clear_halt(t->handle, FALCON_ENDPOINT_IN) == 0;
    if (t->is_out_stalled)
        is_good = libusb_clear_halt(t->handle, FALCON_ENDPOINT_OUT) == 0 && is_good;
    bool was_in = t->is_in_stalled;
    t->is_in_stalled = t->is_out_stalled = false;
    if (!is_good || (was_in && submit_in(t) != HR_OK))
        t->is_lost = true;
}

static bool is_anything_flying(const usb_transport *t)
{
    return t->is_in_flight[0] || t->is_in_flight[1] || t->is_out_flying;
}

static void handle_events(usb_transport *t, int64_t for_ns)
{
    struct timeval limit = {for_ns / 1000000000, for_ns % 1000000000 / 1000};
    (void)libusb_handle_events_timeout_completed(t->context, &limit, NULL);
}

/* Cancels and reaps; false where a transfer does not come back within half a second. */
static bool stop_transfers(usb_transport *t)
{
    t->is_stopping = true;
    for (int i = 0; i < IN_TRANSFERS; i++)
        if (t->is_in_flight[i])
            (void)libusb_cancel_transfer(t->in[i]);
    if (t->is_out_flying)
        (void)libusb_cancel_transfer(t->out);
    int64_t end = now_usb(NULL) + 500000000;
    while (is_anything_flying(t) && now_usb(NULL) < end)
        handle_events(t, 10000000);
    t->is_stopping = false;
    return !is_anything_flying(t);
}

static hr_status drain(falcon_transport *base)
{
    usb_transport *t = mine(base);
    bool is_quiet = stop_transfers(t);
    t->received_count = 0;
    if (t->is_lost)
        return HR_ERR_LOST;
    return is_quiet ? submit_in(t) : HR_ERR_IO;
}

static void close_usb(falcon_transport *base)
{
    usb_transport *t = mine(base);
    if (t->handle) {
        (void)stop_transfers(t);
        (void)libusb_release_interface(t->handle, 0);
        libusb_close(t->handle);
    }
    t->handle = NULL;
}

static hr_status control(falcon_transport *base, int request, int value)
{
    usb_transport *t = mine(base);
    if (!t->handle || t->is_lost)
        return HR_ERR_LOST;
    int code = libusb_control_transfer(t->handle, FTDI_REQUEST_TYPE, (uint8_t)request,
                                       (uint16_t)value, 0, NULL, 0, 1000);
    if (code == LIBUSB_ERROR_NO_DEVICE)
        t->is_lost = true;
    return code == 0 ? HR_OK : t->is_lost ? HR_ERR_LOST : HR_ERR_IO;
}

static hr_status write_usb(falcon_transport *base, const uint8_t *bytes, size_t size)
{
    usb_transport *t = mine(base);
    if (!t->handle || t->is_lost)
        return HR_ERR_LOST;
    if (t->is_out_flying)
        return HR_ERR_BUSY;
    if (size > sizeof t->out_bytes)
        return HR_ERR_CAPACITY;
    memcpy(t->out_bytes, bytes, size);
    libusb_fill_bulk_transfer(t->out, t->handle, FALCON_ENDPOINT_OUT, t->out_bytes, (int)size,
                              on_out, t, 1000);
    int code = libusb_submit_transfer(t->out);
    if (code != 0) {
        t->is_lost |= code == LIBUSB_ERROR_NO_DEVICE;
        return t->is_lost ? HR_ERR_LOST : HR_ERR_IO;
    }
    t->is_out_flying = true;
    return HR_OK;
}

static int read_usb(falcon_transport *base, uint8_t *bytes, size_t capacity)
{
    usb_transport *t = mine(base);
    if (t->handle && t->received_count == 0)
        handle_events(t, 0);
    if (t->handle && !t->is_lost && (t->is_in_stalled || t->is_out_stalled))
        clear_stalls(t);
    if (!t->handle || t->is_lost)
        return HR_ERR_LOST;
    size_t count = t->received_count < capacity ? t->received_count : capacity;
    memcpy(bytes, t->received, count);
    memmove(t->received, t->received + count, t->received_count - count);
    t->received_count -= count;
    return (int)count;
}

static void wait_usb(falcon_transport *base, int64_t until_ns)
{
    usb_transport *t = mine(base);
    int64_t left = until_ns - now_usb(base);
    if (left <= 0)
        return;
    if (left > 100000000)
        left = 100000000; /* look around ten times a second at least */
    if (t->handle && !t->is_lost) {
        if (t->received_count == 0)
            handle_events(t, left);
        return;
    }
    if (t->context) { /* what is plugged in or out wakes it */
        handle_events(t, left);
        return;
    }
    struct timespec pause = {0, left};
    nanosleep(&pause, NULL);
}

static void destroy(falcon_transport *base)
{
    usb_transport *t = mine(base);
    close_usb(base);
    for (int i = 0; i < IN_TRANSFERS; i++)
        libusb_free_transfer(t->in[i]);
    libusb_free_transfer(t->out);
    if (t->context) {
        handle_events(t, 0); /* departures that were not told yet */
        libusb_exit(t->context);
    }
    free(t);
}

static const char *serial(const falcon_transport *base)
{
    return ((const usb_transport *)base)->serial;
}

static const falcon_transport_calls calls = {
    .open = open_usb,
    .close = close_usb,
    .control = control,
    .write = write_usb,
    .read = read_usb,
    .drain = drain,
    .wait = wait_usb,
    .now = now_usb,
    .serial = serial,
    .destroy = destroy,
};

hr_status falcon_usb_create(const char *address, falcon_transport **out, hr_error *error)
{
    const char *rest = address ? strchr(address, ':') : NULL;
    bool is_prefixed =
        rest && (strncmp(address, "serial:", 7) == 0 || strncmp(address, "port:", 5) == 0);
    bool is_long = address && strlen(address) >= sizeof(((usb_transport *)0)->address);
    if (is_long || (rest && (!is_prefixed || !rest[1])))
        return error_set(error, HR_ERR_ARGUMENT,
                         "falcon: expected an index, serial:NUMBER or port:PATH, found \"%.80s\"",
                         address);
    usb_transport *t = calloc(1, sizeof *t);
    if (!t)
        return error_set(error, HR_ERR_MEMORY, "falcon: out of memory");
    t->base.calls = &calls;
    snprintf(t->address, sizeof t->address, "%s", address ? address : "");
    bool is_good = true;
    for (int i = 0; i < IN_TRANSFERS; i++)
        is_good = (t->in[i] = libusb_alloc_transfer(0)) && is_good;
    is_good = (t->out = libusb_alloc_transfer(0)) && is_good;
    if (!is_good) {
        destroy(&t->base);
        return error_set(error, HR_ERR_MEMORY, "falcon: out of memory");
    }
    *out = &t->base;
    return HR_OK;
}
