// hapticd as a haptic device of a CHAI3D program: build this pair of files with your program, link
// with -lhaptic, and hand the device to a tool:
//
//     auto device = std::make_shared<cHapticdDevice>();   // or with socket path and hand
//     tool->setHapticDevice(device);
//     tool->start();
//
// Axes and units are CHAI3D's already. One snapshot per getPosition: the other getters serve the
// same tick. open() takes the force lease of the hand: one owner at a time. The setter blocks until
// the server's next tick, which locks the program's loop to the servo. All of the server's limits
// apply to the force; it is held 5 ms at most. A read that fails leaves the last pose and says so.
//
// CMyCustomDevice.h beside this file gives the same device under the name that CHAI3D's own device
// handler looks for.
#ifndef CHAPTICDDEVICE_H
#define CHAPTICDDEVICE_H

#include <string>

#include <chai3d.h>
#include <haptic.h>

class cHapticdDevice : public chai3d::cGenericHapticDevice
{
  public:
    // Connects and reads the description; isDeviceAvailable() tells whether that worked.
    explicit cHapticdDevice(const std::string &a_socket = "", unsigned int a_hand = 0);
    virtual ~cHapticdDevice();

    // How many hands the running server has; 0 without a server.
    static unsigned int getNumDevices(const std::string &a_socket = "");

    // The device, or CHAI3D's harmless null device where no server runs, so that a program goes on.
    static chai3d::cGenericHapticDevicePtr create(const std::string &a_socket = "",
                                                  unsigned int a_hand = 0);

    virtual bool open();
    virtual bool close();

    // Waits for the device's homing, ten seconds at most.
    virtual bool calibrate(bool a_forceCalibration = false);

    virtual bool getPosition(chai3d::cVector3d &a_position);
    virtual bool getLinearVelocity(chai3d::cVector3d &a_linearVelocity);
    virtual bool getRotation(chai3d::cMatrix3d &a_rotation);
    virtual bool getAngularVelocity(chai3d::cVector3d &a_angularVelocity);
    virtual bool getUserSwitches(unsigned int &a_userSwitches);
    virtual bool setForceAndTorqueAndGripperForce(const chai3d::cVector3d &a_force,
                                                  const chai3d::cVector3d &a_torque,
                                                  const double a_gripperForce);

    // Why something failed, which CHAI3D's booleans cannot say.
    std::string lastError() const;

  private:
    cHapticdDevice(const cHapticdDevice &);
    cHapticdDevice &operator=(const cHapticdDevice &);

    haptic_client *m_client;
    haptic_state m_state; // of the last tick seen
    std::string m_error;
};

#endif
