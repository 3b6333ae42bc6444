#include "tests/emulated/model_transport.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static model_transport *mine(falcon_transport *t)
{
    return (model_transport *)t;
}

static int64_t now_model(falcon_transport *base)
{
    model_transport *t = mine(base);
    if (t->is_live) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        t->now_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    return t->now_ns;
}

static void submit_all(model_transport *t)
{
    t->submitted_ns[0] = t->submitted_ns[1] = t->now_ns;
}

static hr_status open_model(falcon_transport *base, hr_error *error)
{
    model_transport *t = mine(base);
    t->now_ns += 200000;
    int status = model_open(t->model, t->now_ns);
    if (status == HR_ERR_NOT_FOUND)
        return error_set(error, HR_ERR_NOT_FOUND, "no Falcon is plugged in");
    if (status != HR_OK)
        return error_set(error, (hr_status)status, "another program uses the device");
    t->is_open = true;
    t->stale_count = 0;
    submit_all(t);
    return HR_OK;
}

static void close_model(falcon_transport *base)
{
    mine(base)->is_open = false;
}

static hr_status control(falcon_transport *base, int request, int value)
{
    model_transport *t = mine(base);
    t->now_ns += 100000;
    /* an IN transfer in flight keeps what it has: only a drain gets rid of it */
    if (request == FTDI_RESET && t->model->faults.has_stale_bytes && t->model->fifo_count > 0) {
        int count = t->model->fifo_count < 60 ? t->model->fifo_count : 60;
        memcpy(t->stale, t->model->fifo, (size_t)count);
        t->stale_count = count;
    }
    return (hr_status)model_control(t->model, t->now_ns, request, value);
}

static hr_status write_model(falcon_transport *base, const uint8_t *bytes, size_t size)
{
    model_transport *t = mine(base);
    return (hr_status)model_out(t->model, t->now_ns, bytes, (int)size);
}

static int read_model(falcon_transport *base, uint8_t *bytes, size_t capacity)
{
    model_transport *t = mine(base);
    uint8_t packet[FALCON_USB_PACKET];
    int total = 0;
    if (!model_is_plugged(t->model, t->now_ns))
        return HR_ERR_LOST;
    if (t->stale_count > 0 && capacity >= (size_t)t->stale_count) {
        memcpy(bytes, t->stale, (size_t)t->stale_count);
        total = t->stale_count;
        t->stale_count = 0;
    }
    for (int i = 0; i < 2 && total + FALCON_USB_PACKET <= (int)capacity; i++) {
        int count = model_in(t->model, t->now_ns, t->submitted_ns[i], packet, sizeof packet);
        if (count == MODEL_STALLED) /* what the transport over libusb does */
            model_clear_halt(t->model);
        if (count < 0)
            continue;
        total += (int)ftdi_strip(packet, (size_t)count, bytes + total);
        t->submitted_ns[i] = t->now_ns;
    }
    return total;
}

static hr_status drain(falcon_transport *base)
{
    model_transport *t = mine(base);
    t->stale_count = 0;
    submit_all(t);
    return HR_OK;
}

/* The next 250 us, or earlier: fine enough for every delay in the model. Nothing happens to a
 * closed device. */
static void wait_model(falcon_transport *base, int64_t until_ns)
{
    model_transport *t = mine(base);
    if (t->is_live) {
        int64_t left = until_ns - now_model(base);
        struct timespec pause = {0, left < 250000 ? (left > 0 ? left : 0) : 250000};
        nanosleep(&pause, NULL);
        (void)now_model(base);
        return;
    }
    int64_t step = t->now_ns + (t->is_open ? 250000 : 10000000);
    t->now_ns = until_ns < step && until_ns > t->now_ns ? until_ns : step;
}

static const char *serial(const falcon_transport *base)
{
    (void)base;
    return "EMULATED";
}

static void destroy(falcon_transport *base)
{
    close_model(base);
    if (mine(base)->is_live) {
        free(mine(base)->model);
        free(base);
    }
}

static const falcon_transport_calls calls = {
    .open = open_model,
    .close = close_model,
    .control = control,
    .write = write_model,
    .read = read_model,
    .drain = drain,
    .wait = wait_model,
    .now = now_model,
    .serial = serial,
    .destroy = destroy,
};

void model_transport_init(model_transport *t, falcon_model *model, int64_t now_ns)
{
    memset(t, 0, sizeof *t);
    t->base.calls = &calls;
    t->model = model;
    t->now_ns = now_ns;
}

falcon_transport *model_transport_live(const model_faults *faults, const char *script,
                                       uint64_t seed)
{
    model_transport *t = malloc(sizeof *t);
    falcon_model *model = malloc(sizeof *model);
    if (!t || !model) {
        free(t);
        free(model);
        return NULL;
    }
    model_init(model, faults, script, seed);
    model_transport_init(t, model, 0);
    t->is_live = true;
    (void)now_model(&t->base);
    return &t->base;
}
