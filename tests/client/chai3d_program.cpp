// usage: chai3d-program SOCKET [until-the-end]
// A CHAI3D program's haptic loop on the adapter, compiled against the stand-in. Prints "ok" and "not ok".
// Time is counted in ticks of the servo, which a second client reads: nothing depends on how busy the
// machine is.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "server/client/chai3d/CMyCustomDevice.h"

using namespace chai3d;

static int failures;

static void check(bool is_good, const char *name)
{
    printf("%s chai3d: %s\n", is_good ? "ok" : "not ok", name);
    fflush(stdout);
    failures += !is_good;
}

static double seconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Where the grip rests under a constant force.
static cVector3d rest_under(cGenericHapticDevicePtr device, const cVector3d &force)
{
    cVector3d p;
    for (int n = 0; n < 700; n++) {
        device->getPosition(p);
        device->setForce(force);
    }
    return p;
}

static void check_description(const cHapticDeviceInfo &s)
{
    check(s.m_model == C_HAPTIC_DEVICE_FALCON && s.m_modelName == "Falcon" &&
              s.m_manufacturerName == "Novint Technologies",
          "the model is a Falcon");
    check(s.m_maxLinearForce == 8 && s.m_maxLinearStiffness == 3000 && s.m_maxLinearDamping == 20 &&
              s.m_workspaceRadius == 0.04 && s.m_gripperMaxAngleRad == 0 &&
              s.m_maxAngularTorque == 0 && s.m_maxGripperForce == 0 &&
              s.m_maxAngularStiffness == 0 && s.m_maxGripperLinearStiffness == 0 &&
              s.m_maxAngularDamping == 0 && s.m_maxGripperAngularDamping == 0,
          "its numbers are those of the compatibility sheet");
    check(s.m_sensedPosition && s.m_actuatedPosition && !s.m_sensedRotation && !s.m_sensedGripper &&
              !s.m_actuatedRotation && !s.m_actuatedGripper && s.m_leftHand && s.m_rightHand,
          "its abilities too");
}

static void check_axes(cGenericHapticDevicePtr device)
{
    cVector3d zero = rest_under(device, cVector3d(0, 0, 0));
    cVector3d x = rest_under(device, cVector3d(1, 0, 0));
    cVector3d y = rest_under(device, cVector3d(0, 1, 0));
    cVector3d z = rest_under(device, cVector3d(0, 0, 1));
    // a hand of 250 N/m gives way by 4 mm per newton, less friction
    check(x.x() - zero.x() > 0.002 && y.y() - zero.y() > 0.002 && z.z() - zero.z() > 0.002,
          "a force along an axis moves the grip along it");
}

// What a tool of CHAI3D does with a workspace radius of 1: world = 25 x device, forces as they are. A
// floor of 20 N per world unit must be felt as 500 N/m. Force and position are those that a second
// client sees in the server.
static void check_stiffness(cGenericHapticDevicePtr device, haptic_client *watcher)
{
    const double material = 20.0;
    const double scale = 1.0 / device->getSpecifications().m_workspaceRadius;
    double depth[2], force[2];
    for (int k = 0; k < 2; k++) {
        const double floor = scale * (0.022 + 0.005 * k); // the hand wants to be at 0.020
        cVector3d p;
        haptic_state s;
        depth[k] = force[k] = 0;
        for (int n = 0; n < 1200; n++) {
            device->getPosition(p);
            double inside = floor - scale * p.z();
            device->setForce(cVector3d(0, 0, inside > 0 ? material * inside : 0));
            if (n < 1000 || haptic_read(watcher, &s) != 0)
                continue;
            depth[k] += (floor / scale - s.position[2]) / 200;
            force[k] += s.force[2] / 200;
        }
    }
    double felt = (force[1] - force[0]) / (depth[1] - depth[0]);
    printf("felt %.1f N/m: %.3f N at %.3f mm, %.3f N at %.3f mm\n", felt, force[0], 1e3 * depth[0],
           force[1], 1e3 * depth[1]);
    check(scale == 25 && std::fabs(felt - material * 25) < 0.02 * material * 25,
          "with a workspace radius of 1 the stiffness felt is 25 times the material's");
}

// CHAI3D programs go on without a device, paced by the null device.
static void check_without_a_server()
{
    auto none = std::make_shared<cHapticdDevice>("/no/such/socket");
    check(!none->isDeviceAvailable() && !none->open() && !none->lastError().empty(),
          "without a server the device is not available and says why");
    check(cHapticdDevice::getNumDevices("/no/such/socket") == 0, "and is not counted");
    cGenericHapticDevicePtr device[2] = {none, cHapticdDevice::create("/no/such/socket")};
    bool is_harmless = true, is_paced = true;
    for (int k = 0; k < 2; k++) {
        double start = seconds();
        cVector3d p(1, 1, 1), force;
        for (int n = 0; n < 200; n++)
            is_harmless &= !device[k]->getPosition(p) && !device[k]->setForce(force);
        is_paced &= seconds() - start >= 0.2; // a pause of a millisecond is never shorter
    }
    check(is_harmless && is_paced, "the null device keeps a program's loop at 1 kHz or below");
}

static void check_pace(cGenericHapticDevicePtr device, haptic_client *watcher)
{
    haptic_state before, after;
    cVector3d v;
    int good = 0, told = 0;
    haptic_read(watcher, &before);
    for (int n = 0; n < 500; n++)
        good += device->getPosition(v) && device->setForce(cVector3d(0, 0, 0));
    haptic_read(watcher, &after);
    told = (int)(after.tick - before.tick);
    printf("500 loops took %d ticks\n", told);
    check(good == 500, "every loop succeeds");
    check(told >= 499, "the setter blocks until the next tick: never two loops in one");
    check(told < 2500, "and not longer: the loop runs at the servo's rate");
}

static void check_open(std::shared_ptr<cHapticdDevice> device, const std::string &socket)
{
    cVector3d v;
    cMatrix3d r;
    unsigned int mask = 0;
    bool on = true;
    check(!device->getPosition(v), "closed, reading fails");
    check(device->open() && device->isDeviceReady(), "it opens");
    check(device->open(), "opening again succeeds");
    auto second = std::make_shared<cHapticdDevice>(socket);
    check(!second->open() && !second->isDeviceReady() && !second->lastError().empty(),
          "a second program cannot open the same hand");
    check(device->close() && second->open() && second->close() && device->open() && device->close() &&
              device->open(),
          "the hand goes from one program to the other and back");
    check(device->calibrate(), "it is calibrated");
    check(device->getPosition(v) && device->getLinearVelocity(v) && device->getRotation(r) &&
              r(0, 0) == 1 && r(1, 0) == 0,
          "position, velocity and rotation come");
    check(device->getUserSwitches(mask) && mask == 5 && device->getUserSwitch(1, on) && !on,
          "switches 0 and 2 give mask 5");
}

// As any example of CHAI3D: through the handler's name for custom devices.
static void check_custom_name(const std::string &socket)
{
    size_t slash = socket.rfind('/');
    setenv("XDG_RUNTIME_DIR", socket.substr(0, slash).c_str(), 1);
    bool is_named = socket.substr(slash + 1) == "hapticd.sock";
    check(!is_named || (cMyCustomDevice::getNumDevices() >= 1 &&
                        cMyCustomDevice::create(0)->isDeviceAvailable()),
          "CHAI3D's handler finds it as the custom device");
}

// The server ends while a program runs: no jump to the origin, no busy loop, a reason.
static int read_until_the_end(const std::string &socket)
{
    auto device = std::make_shared<cHapticdDevice>(socket);
    cVector3d last, p;
    check(device->open() && device->getPosition(last), "reading");
    while (device->getPosition(p) && device->setForce(cVector3d(0, 0, 0)))
        last = p;
    double start = seconds();
    bool is_kept = true;
    for (int n = 0; n < 50; n++) {
        bool is_read = device->getPosition(p) || device->setForce(cVector3d(0, 0, 0));
        is_kept &= !is_read && std::fabs(p.z() - last.z()) < 1e-3 && p.z() > 0.01;
    }
    check(is_kept, "a read that fails keeps the last pose");
    check(seconds() - start >= 0.05 && !device->lastError().empty(),
          "after the server's end the loop is paced and the reason told");
    return failures != 0;
}

int main(int argc, char **argv)
{
    std::string socket = argc > 1 ? argv[1] : "";
    if (argc > 2)
        return read_until_the_end(socket);
    check_without_a_server();
    check_custom_name(socket);
    check(cHapticdDevice::getNumDevices(socket) >= 1, "the server's hands are counted");
    auto device = std::make_shared<cHapticdDevice>(socket);
    haptic_client *watcher = haptic_open(socket.c_str(), 0, NULL, 0);
    check(device->isDeviceAvailable() && !device->isDeviceReady() && watcher,
          "it is available, not yet ready");
    if (!watcher)
        return 1;
    check_description(device->getSpecifications());
    check_open(device, socket);
    check_pace(device, watcher);
    check_axes(device);
    check_stiffness(device, watcher);
    check(device->close() && !device->isDeviceReady() && !device->close(), "it closes once");
    haptic_close(watcher);
    return failures != 0;
}
