// usage: chai3d-program SOCKET
// A CHAI3D program's haptic loop on the adapter, compiled against the stand-in. Prints "ok" and "not ok".
#include <cstdio>
#include <ctime>
#include <vector>

#include "server/client/chai3d/cHapticdDevice.h"

using namespace chai3d;

static int failures;

static void check(bool is_good, const char *name)
{
    printf("%s chai3d: %s\n", is_good ? "ok" : "not ok", name);
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
              s.m_workspaceRadius == 0.04 && s.m_maxAngularTorque == 0 && s.m_maxGripperForce == 0,
          "its numbers are those of the compatibility sheet");
    check(s.m_sensedPosition && s.m_actuatedPosition && !s.m_sensedRotation && !s.m_sensedGripper &&
              s.m_leftHand && s.m_rightHand,
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

int main(int argc, char **argv)
{
    std::string socket = argc > 1 ? argv[1] : "";
    auto none = std::make_shared<cHapticdDevice>("/no/such/socket");
    check(!none->isDeviceAvailable() && !none->open() && !none->lastError().empty(),
          "without a server the device is not available and says why");

    auto device = std::make_shared<cHapticdDevice>(socket);
    check(device->isDeviceAvailable() && !device->isDeviceReady(), "it is available, not yet ready");
    check_description(device->getSpecifications());
    cVector3d v;
    cMatrix3d r;
    unsigned int mask = 0;
    bool on = true;
    check(!device->getPosition(v), "closed, reading fails");
    check(device->open() && device->isDeviceReady(), "it opens");
    check(device->open(), "opening again succeeds");
    check(device->calibrate(), "it is calibrated");
    check(device->getPosition(v) && device->getLinearVelocity(v) && device->getRotation(r) &&
              r(0, 0) == 1 && r(1, 0) == 0,
          "position, velocity and rotation come");
    check(device->getUserSwitches(mask) && mask == 5 && device->getUserSwitch(1, on) && !on,
          "switches 0 and 2 give mask 5");
    double start = seconds();
    cVector3d force(0, 0, 0);
    int good = 0;
    for (int n = 0; n < 500; n++)
        good += device->getPosition(v) && device->setForce(force);
    double took = seconds() - start;
    printf("500 loops took %.3f s\n", took);
    check(good == 500, "every loop succeeds");
    check(took > 0.45, "the setter paces the loop to the servo");
    check_axes(device);
    check(device->close() && !device->isDeviceReady() && !device->close(), "it closes once");
    return failures != 0;
}
