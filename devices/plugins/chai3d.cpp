// Plug-in "chai3d": any device that the user's CHAI3D supports, as a device of hapticd. The address is
// the index in CHAI3D's handler. Built by the user against their CHAI3D:
//
//     c++ -std=c++17 -fPIC -shared -I/usr/local/include/hapticd -I$CHAI3D/src -o chai3d.so chai3d.cpp -lchai3d
//     hapticd --device ./chai3d.so:0
//
// (-I. in the source tree of hapticd, where this file is devices/plugins/chai3d.cpp)
//
// Vendor calls may block, so they run on a thread of their own, once per millisecond, in the order that
// CHAI3D's velocity estimator wants; the servo only touches two mailboxes. A getter that fails clears
// its validity bit and leaves the old value: no zeros reach the servo.
#include <cmath>
#include <new>
#include <thread>

#include "chai3d.h"

#include "devices/plugins/plugin.hpp"

using namespace chai3d;

namespace {

struct order {
    vec3 force;
    vec3 torque;
    double gripper_force;
    int64_t deadline_ns;
};

// Not every version of CHAI3D has enableForces in the base class.
template <typename D> auto enable_forces(D &d, bool on, int) -> decltype(d.enableForces(on))
{
    return d.enableForces(on);
}
template <typename D> bool enable_forces(D &, bool, long)
{
    return true;
}

} // namespace

struct device {
    cHapticDeviceHandler handler; // stays alive as long as the device
    cGenericHapticDevicePtr chai;
    cHapticDeviceInfo about;
    newest<device_sample> samples;
    newest<order> orders;
    std::thread thread;
    std::atomic<bool> is_closing{false}, is_failing{false};
    device_sample sample = {}; // servo's
    bool is_enabled = false, is_saturated = false, has_sample = false;
};

static vec3 vector_of(const cVector3d &v)
{
    return vec3{v.x(), v.y(), v.z()};
}

// Exactly once per millisecond and in this order: the getters feed CHAI3D's estimator.
static void read_once(device *dev, device_sample *s)
{
    cVector3d v;
    cMatrix3d r;
    double gripper = 0;
    unsigned int mask = 0;
    s->valid = 0;
    if (dev->chai->getPosition(v)) {
        s->position = vector_of(v);
        s->valid |= DEVICE_HAS_POSITION;
    }
    if (dev->about.m_sensedRotation && dev->chai->getRotation(r)) {
        mat3 m;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m.m[i][j] = r(i, j);
        s->rotation = quat_from_mat3(m);
        s->valid |= DEVICE_HAS_ROTATION;
    }
    if (dev->about.m_sensedGripper && dev->chai->getGripperAngleRad(gripper)) {
        s->gripper_angle = gripper;
        s->valid |= DEVICE_HAS_GRIPPER;
    }
    if (dev->chai->getLinearVelocity(v)) {
        s->velocity = vector_of(v);
        s->valid |= DEVICE_HAS_VELOCITY;
    }
    if (dev->about.m_sensedRotation && dev->chai->getAngularVelocity(v))
        s->angular_velocity = vector_of(v);
    if (dev->chai->getUserSwitches(mask)) {
        s->buttons = mask;
        s->valid |= DEVICE_HAS_BUTTONS;
    }
    s->time_ns = now_ns();
    s->sequence++;
}

static void io_loop(device *dev)
{
    device_sample s = {};
    s.rotation = quat{1, 0, 0, 0};
    order o = {};
    auto next = std::chrono::steady_clock::now();
    while (!dev->is_closing.load(std::memory_order_acquire)) {
        read_once(dev, &s);
        dev->samples.put(s);
        dev->orders.take(o);
        bool is_late = now_ns() > o.deadline_ns;
        cVector3d force(is_late ? 0 : o.force.x, is_late ? 0 : o.force.y, is_late ? 0 : o.force.z);
        cVector3d torque(is_late ? 0 : o.torque.x, is_late ? 0 : o.torque.y,
                         is_late ? 0 : o.torque.z);
        bool is_good = dev->chai->setForceAndTorqueAndGripperForce(force, torque,
                                                                   is_late ? 0 : o.gripper_force);
        dev->is_failing.store(!is_good, std::memory_order_relaxed);
        next += std::chrono::milliseconds(1);
        auto now = std::chrono::steady_clock::now();
        if (next < now)
            next = now; // the vendor's call blocked: keep going
        std::this_thread::sleep_until(next);
    }
    dev->chai->setForceAndTorqueAndGripperForce(cVector3d(), cVector3d(), 0);
}

static int chai_count(void)
{
    cHapticDeviceHandler handler;
    return (int)handler.getNumDevices();
}

static hr_status chai_open(const char *address, const device_settings *settings, device **out,
                           hr_error *error)
{
    char *end = NULL;
    unsigned long index = strtoul(address && *address ? address : "0", &end, 10);
    if (settings && settings->count > 0)
        return fail(error, HR_ERR_ARGUMENT, "chai3d: expected no settings, found some");
    if (*end)
        return fail(error, HR_ERR_ARGUMENT, "chai3d: expected an index as the address");
    device *dev = new (std::nothrow) device;
    if (!dev)
        return fail(error, HR_ERR_MEMORY, "chai3d: out of memory");
    bool is_there = dev->handler.getDevice(dev->chai, (unsigned)index) && dev->chai;
    // "already open" is false plus ready
    if (!is_there || (!dev->chai->open() && !dev->chai->isDeviceReady())) {
        delete dev;
        return fail(error, HR_ERR_NOT_FOUND, "chai3d: no such device, or it cannot be opened");
    }
    dev->chai->calibrate(false);
    dev->about = dev->chai->getSpecifications(); // valid only after open
    dev->thread = std::thread(io_loop, dev);
    *out = dev;
    return HR_OK;
}

static void chai_close(device *dev)
{
    if (!dev)
        return;
    dev->is_closing.store(true, std::memory_order_release);
    dev->thread.join();
    enable_forces(*dev->chai, false, 0);
    dev->chai->close();
    delete dev;
}

static void copy_text(char *out, const std::string &text)
{
    strncpy(out, text.c_str(), 31);
    out[31] = '\0';
}

static void chai_describe(const device *dev, device_description *out)
{
    const cHapticDeviceInfo &a = dev->about;
    memset(out, 0, sizeof *out);
    copy_text(out->model, a.m_modelName);
    copy_text(out->manufacturer, a.m_manufacturerName);
    out->max_force = out->peak_force = a.m_maxLinearForce;
    out->max_torque = a.m_maxAngularTorque;
    out->max_gripper_force = a.m_maxGripperForce;
    out->max_stiffness = a.m_maxLinearStiffness;
    out->max_angular_stiffness = a.m_maxAngularStiffness;
    out->max_damping = a.m_maxLinearDamping;
    out->workspace_radius = a.m_workspaceRadius;
    out->position_resolution = 60e-6; // CHAI3D does not say
    out->latency = 0.002;
    out->native_rate_hz = 1000;
    out->button_count = 32;
    out->senses_position = a.m_sensedPosition;
    out->senses_rotation = a.m_sensedRotation;
    out->senses_gripper = a.m_sensedGripper;
    out->actuates_position = a.m_actuatedPosition;
    out->actuates_rotation = a.m_actuatedRotation;
    out->actuates_gripper = a.m_actuatedGripper;
    out->fits_left_hand = a.m_leftHand;
    out->fits_right_hand = a.m_rightHand;
    out->has_motors = true;
}

static hr_status chai_calibrate(device *dev, bool)
{
    return dev->is_failing.load(std::memory_order_relaxed) ? HR_ERR_IO : HR_OK;
}

static double chai_progress(const device *)
{
    return 1; // CHAI3D shows no progress; open has calibrated
}

HR_RT static hr_status chai_enable(device *dev, bool on)
{
    dev->is_enabled = on;
    if (!on)
        dev->orders.put(order());
    return HR_OK;
}

HR_RT static hr_status chai_read(device *dev, int64_t now, device_sample *out)
{
    device_sample fresh;
    bool is_new = dev->samples.take(fresh);
    if (is_new) {
        int64_t before = dev->sample.time_ns;
        dev->sample = fresh;
        dev->sample.time_ns = fresh.time_ns < now ? fresh.time_ns : now;
        if (dev->sample.time_ns < before)
            dev->sample.time_ns = before;
        dev->has_sample = true;
    }
    if (!dev->has_sample)
        return HR_ERR_BUSY;
    dev->sample.flags = (uint32_t)DEVICE_IS_HOMED | (dev->is_enabled ? (uint32_t)DEVICE_IS_ENABLED : 0u) |
                        (dev->is_saturated ? (uint32_t)DEVICE_IS_SATURATED : 0u) |
                        (is_new ? 0u : (uint32_t)DEVICE_IS_LATE);
    *out = dev->sample;
    return dev->is_failing.load(std::memory_order_relaxed) ? HR_ERR_IO : HR_OK;
}

HR_RT static hr_status chai_write(device *dev, int64_t now, const device_command *c)
{
    order o = {};
    hr_status status = HR_OK;
    dev->is_saturated = false;
    bool is_finite =
        vec3_is_finite(c->force) && vec3_is_finite(c->torque) && std::isfinite(c->gripper_force);
    bool is_zero = is_finite && vec3_length(c->force) == 0 && vec3_length(c->torque) == 0 &&
                   c->gripper_force == 0;
    if (!is_finite)
        status = HR_ERR_NOT_FINITE;
    else if (!dev->is_enabled)
        status = is_zero ? HR_OK : HR_ERR_DISABLED;
    else {
        dev->is_saturated = vec3_length(c->force) > dev->about.m_maxLinearForce;
        o.force = vec3_clamp_length(c->force, dev->about.m_maxLinearForce);
        o.torque = vec3_clamp_length(c->torque, dev->about.m_maxAngularTorque);
        o.gripper_force = fmin(fmax(c->gripper_force, -dev->about.m_maxGripperForce),
                               dev->about.m_maxGripperForce);
        o.deadline_ns = c->deadline_ns ? c->deadline_ns : now + 100000000;
    }
    dev->orders.put(o);
    return status;
}

static const char *chai_last_error(const device *dev)
{
    return dev->is_failing.load(std::memory_order_relaxed)
               ? "CHAI3D's device refuses the force (it says no more)"
               : "";
}

const device_driver *hapticd_device_driver(void)
{
    static const device_driver driver = {
        sizeof(device_driver),
        DEVICE_ABI_VERSION,
        "chai3d",
        "any device of CHAI3D; the address is its index",
        chai_count,
        chai_open,
        chai_close,
        chai_describe,
        chai_calibrate,
        chai_progress,
        chai_enable,
        chai_read,
        chai_write,
        chai_last_error,
    };
    return &driver;
}
