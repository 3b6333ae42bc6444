// Plug-in "nifalcon": a Falcon through libnifalcon, for people who have it working. Only its raw level is
// used (encoder counts in, motor values out); kinematics, calibration and checks are ours, because its
// own force mapping is wrong away from the axis. Built where libnifalcon is found (make plugins).
// The address is an index. Prefer the driver "falcon": it needs no library and survives unplugging.
#include <cstdlib>
#include <new>
#include <thread>

#include "falcon/core/FalconDevice.h"
#include "falcon/firmware/FalconFirmwareNovintSDK.h"
#include "falcon/grip/FalconGripFourButton.h"

#include "devices/plugins/plugin.hpp"
extern "C" {
#include "devices/falcon/host.h"
}

namespace {

struct heard {
    falcon_report report;
    int64_t time_ns;
};

struct order {
    int16_t values[3];
    int64_t deadline_ns;
};

// libnifalcon's homed state is not per arm.
enum { ALL_ARMS = 7 };

// Reports may stay away this long before the device counts as lost.
const int64_t silence_ns = 300000000;

} // namespace

struct device {
    libnifalcon::FalconDevice falcon;
    falcon_host host;
    newest<heard> reports;
    newest<order> orders;
    std::thread thread;
    std::atomic<bool> is_closing{false}, is_lost{false};
    bool has_sample = false;
};

static void io_loop(device *dev)
{
    auto firmware = dev->falcon.getFalconFirmware();
    order o = {};
    int64_t last_ns = now_ns();
    firmware->setLEDStatus(0); // uninitialised before
    firmware->setHomingMode(true);
    const unsigned flags = libnifalcon::FalconDevice::FALCON_LOOP_FIRMWARE |
                           libnifalcon::FalconDevice::FALCON_LOOP_GRIP;
    while (!dev->is_closing.load(std::memory_order_acquire)) {
        dev->orders.take(o);
        bool may_push = now_ns() < o.deadline_ns && firmware->isHomed();
        std::array<int, 3> forces = {{0, 0, 0}};
        for (int i = 0; i < 3 && may_push; i++)
            forces[i] = o.values[i];
        firmware->setForces(forces);
        if (!dev->falcon.runIOLoop(flags)) { // true only with a new report
            dev->is_lost.store(now_ns() - last_ns > silence_ns, std::memory_order_relaxed);
            continue;
        }
        heard h = {};
        std::array<int, 3> counts = firmware->getEncoderValues();
        for (int i = 0; i < 3; i++)
            h.report.counts[i] = (int16_t)counts[i];
        h.report.homed = firmware->isHomed() ? ALL_ARMS : 0;
        h.report.buttons = (uint8_t)(dev->falcon.getFalconGrip()->getDigitalInputs() & 15);
        h.time_ns = last_ns = now_ns();
        dev->reports.put(h);
        dev->is_lost.store(false, std::memory_order_relaxed);
    }
    firmware->setForces(std::array<int, 3>{{0, 0, 0}});
    for (int n = 0; n < 20; n++)
        dev->falcon.runIOLoop(flags);
}

static int ni_count(void)
{
    libnifalcon::FalconDevice falcon;
    unsigned int n = 0;
    return falcon.getDeviceCount(n) ? (int)n : 0;
}

static hr_status start(device *dev, unsigned index, hr_error *error)
{
    dev->falcon.setFalconFirmware<libnifalcon::FalconFirmwareNovintSDK>();
    dev->falcon.setFalconGrip<libnifalcon::FalconGripFourButton>();
    if (!dev->falcon.open(index))
        return fail(error, HR_ERR_NOT_FOUND, "nifalcon: no such Falcon, or no permission");
    const char *file = getenv("HAPTICD_FALCON_FIRMWARE");
    bool is_loaded = dev->falcon.isFirmwareLoaded();
    if (!is_loaded && file && dev->falcon.setFirmwareFile(file))
        is_loaded = dev->falcon.loadFirmware(10, false);
    if (!is_loaded)
        return fail(error, HR_ERR_PROTOCOL,
                    "nifalcon: firmware cannot be loaded; set HAPTICD_FALCON_FIRMWARE");
    return HR_OK;
}

static hr_status ni_open(const char *address, const device_settings *settings, device **out,
                         hr_error *error)
{
    char *end = NULL;
    unsigned long index = strtoul(address && *address ? address : "0", &end, 10);
    if (settings && settings->count > 0)
        return fail(error, HR_ERR_ARGUMENT, "nifalcon: expected no settings, found some");
    if (*end)
        return fail(error, HR_ERR_ARGUMENT, "nifalcon: expected an index as the address");
    device *dev = new (std::nothrow) device;
    if (!dev)
        return fail(error, HR_ERR_MEMORY, "nifalcon: out of memory");
    falcon_calibration calibration = falcon_calibration_default();
    falcon_host_init(&dev->host, &calibration);
    hr_status status = start(dev, (unsigned)index, error);
    if (status != HR_OK) {
        delete dev;
        return status;
    }
    dev->thread = std::thread(io_loop, dev);
    *out = dev;
    return HR_OK;
}

static void ni_close(device *dev)
{
    if (!dev)
        return;
    dev->is_closing.store(true, std::memory_order_release);
    dev->thread.join();
    dev->falcon.close();
    delete dev;
}

static void ni_describe(const device *, device_description *out)
{
    memset(out, 0, sizeof *out);
    strcpy(out->model, "Falcon");
    strcpy(out->manufacturer, "Novint Technologies");
    out->max_force = 8;
    out->peak_force = 10;
    out->max_stiffness = 3000;
    out->max_damping = 20;
    out->workspace_radius = 0.04;
    out->position_resolution = 40e-6;
    out->latency = 0.002;
    out->native_rate_hz = 1000;
    out->button_count = 4;
    out->senses_position = out->actuates_position = true;
    out->fits_left_hand = out->fits_right_hand = true;
    out->has_motors = true;
}

static hr_status ni_calibrate(device *dev, bool)
{
    return dev->is_lost.load(std::memory_order_relaxed) ? HR_ERR_LOST : HR_OK;
}

static double ni_progress(const device *dev)
{
    return dev->host.homed == ALL_ARMS ? 1 : 0;
}

HR_RT static hr_status ni_enable(device *dev, bool on)
{
    dev->host.is_enabled = on;
    if (!on)
        dev->orders.put(order());
    return HR_OK;
}

HR_RT static hr_status ni_read(device *dev, int64_t now, device_sample *out)
{
    heard h;
    if (dev->is_lost.load(std::memory_order_relaxed)) {
        falcon_host_reset(&dev->host);
        dev->has_sample = false;
        return HR_ERR_LOST;
    }
    if (!dev->reports.take(h)) {
        if (!dev->has_sample)
            return HR_ERR_BUSY;
        device_sample *s = &dev->host.sample;
        s->flags = (s->flags & ~(uint32_t)(DEVICE_IS_ENABLED | DEVICE_HAS_JUMPED)) |
                   (uint32_t)DEVICE_IS_LATE |
                   (dev->host.is_enabled ? (uint32_t)DEVICE_IS_ENABLED : 0u);
        *out = *s;
        return HR_OK;
    }
    int64_t time_ns = h.time_ns < now ? h.time_ns : now;
    if (time_ns < dev->host.sample.time_ns)
        time_ns = dev->host.sample.time_ns;
    hr_status status = falcon_host_report(&dev->host, time_ns, &h.report, out);
    dev->has_sample |= status == HR_OK;
    return status;
}

HR_RT static hr_status ni_write(device *dev, int64_t now, const device_command *c)
{
    order o = {};
    hr_status status = falcon_host_force(&dev->host, c->force, o.values);
    o.deadline_ns = c->deadline_ns ? c->deadline_ns : now + 100000000;
    dev->orders.put(o);
    return status;
}

static const char *ni_last_error(const device *dev)
{
    return dev->is_lost.load(std::memory_order_relaxed) ? "libnifalcon brings no reports" : "";
}

const device_driver *hapticd_device_driver(void)
{
    static const device_driver driver = {
        sizeof(device_driver),
        DEVICE_ABI_VERSION,
        "nifalcon",
        "a Falcon through libnifalcon; the address is its index",
        ni_count,
        ni_open,
        ni_close,
        ni_describe,
        ni_calibrate,
        ni_progress,
        ni_enable,
        ni_read,
        ni_write,
        ni_last_error,
    };
    return &driver;
}
