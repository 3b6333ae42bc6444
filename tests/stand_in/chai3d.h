// A stand-in for CHAI3D's device interface, as far as our two adapters use it: names, arguments and
// defaults only, so that they cannot rot without CHAI3D being there. Written from its
// documentation.
#ifndef TESTS_STAND_IN_CHAI3D_H
#define TESTS_STAND_IN_CHAI3D_H

#include <cmath>
#include <memory>
#include <string>
#include <unistd.h>

namespace chai3d
{

const bool C_SUCCESS = true;
const bool C_ERROR = false;

class cVector3d
{
  public:
    cVector3d(double x = 0, double y = 0, double z = 0) : m_x(x), m_y(y), m_z(z)
    {
    }
    double x() const
    {
        return m_x;
    }
    double y() const
    {
        return m_y;
    }
    double z() const
    {
        return m_z;
    }
    void set(double x, double y, double z)
    {
        m_x = x, m_y = y, m_z = z;
    }
    void zero()
    {
        set(0, 0, 0);
    }

  private:
    double m_x, m_y, m_z;
};

class cMatrix3d
{
  public:
    cMatrix3d()
    {
        identity();
    }
    void identity()
    {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[i][j] = i == j;
    }
    double &operator()(int i, int j)
    {
        return m[i][j];
    }
    double operator()(int i, int j) const
    {
        return m[i][j];
    }

  private:
    double m[3][3];
};

enum cHapticDeviceModel { C_HAPTIC_DEVICE_VIRTUAL, C_HAPTIC_DEVICE_FALCON, C_HAPTIC_DEVICE_CUSTOM };

struct cHapticDeviceInfo {
    cHapticDeviceModel m_model = C_HAPTIC_DEVICE_VIRTUAL;
    std::string m_modelName = "no device", m_manufacturerName = "CHAI3D";
    double m_maxLinearForce = 0.1, m_maxAngularTorque = 0.1, m_maxGripperForce = 0.1;
    double m_maxLinearStiffness = 0.1, m_maxAngularStiffness = 0.1,
           m_maxGripperLinearStiffness = 0.1;
    double m_maxLinearDamping = 0, m_maxAngularDamping = 0, m_maxGripperAngularDamping = 0;
    double m_workspaceRadius = 0.1, m_gripperMaxAngleRad = 0;
    bool m_sensedPosition = false, m_sensedRotation = false, m_sensedGripper = false;
    bool m_actuatedPosition = false, m_actuatedRotation = false, m_actuatedGripper = false;
    bool m_leftHand = false, m_rightHand = false;
};

class cGenericHapticDevice;
typedef std::shared_ptr<cGenericHapticDevice> cGenericHapticDevicePtr;

class cGenericHapticDevice
{
  public:
    cGenericHapticDevice(unsigned int = 0)
    {
    }
    virtual ~cGenericHapticDevice()
    {
    }
    virtual bool open()
    {
        return C_ERROR;
    }
    virtual bool close()
    {
        return C_ERROR;
    }
    virtual bool calibrate(bool = false)
    {
        return m_deviceReady;
    }
    virtual bool getPosition(cVector3d &p)
    {
        p.zero();
        return m_deviceReady;
    }
    virtual bool getLinearVelocity(cVector3d &v)
    {
        v = m_linearVelocity;
        return m_deviceReady;
    }
    virtual bool getRotation(cMatrix3d &r)
    {
        r.identity();
        return m_deviceReady;
    }
    virtual bool getAngularVelocity(cVector3d &w)
    {
        w = m_angularVelocity;
        return m_deviceReady;
    }
    virtual bool getGripperAngleRad(double &a)
    {
        a = 0.1;
        return true;
    }
    virtual bool getGripperAngularVelocity(double &w)
    {
        w = m_gripperAngularVelocity;
        return m_deviceReady;
    }
    virtual bool getUserSwitch(int i, bool &on)
    {
        unsigned int mask = 0;
        bool good = getUserSwitches(mask);
        on = good && (mask >> i & 1);
        return good;
    }
    virtual bool getUserSwitches(unsigned int &mask)
    {
        mask = 0;
        return m_deviceReady;
    }
    bool setForce(const cVector3d &f)
    {
        return setForceAndTorqueAndGripperForce(f, cVector3d(), 0.0);
    }
    virtual bool setForceAndTorqueAndGripperForce(const cVector3d &, const cVector3d &,
                                                  const double)
    {
        usleep(1000);
        return m_deviceReady;
    }
    bool isDeviceReady() const
    {
        return m_deviceReady;
    }
    bool isDeviceAvailable() const
    {
        return m_deviceAvailable;
    }
    cHapticDeviceInfo getSpecifications()
    {
        return m_specifications;
    }
    cHapticDeviceInfo m_specifications;

  protected:
    bool m_deviceReady = false, m_deviceAvailable = false;
    cVector3d m_prevForce, m_prevTorque, m_linearVelocity, m_angularVelocity;
    double m_prevGripperForce = 0, m_gripperAngularVelocity = 0;
};

// A bead on a spring in place of hardware: pushed by the force, sampled by the clock of its calls.
class cStandInDevice : public cGenericHapticDevice
{
  public:
    cStandInDevice()
    {
        m_deviceAvailable = true;
        m_specifications.m_model = C_HAPTIC_DEVICE_CUSTOM;
        m_specifications.m_modelName = "Stand-in";
        m_specifications.m_maxLinearForce = 5;
        m_specifications.m_maxLinearStiffness = 1000;
        m_specifications.m_workspaceRadius = 0.1;
        m_specifications.m_sensedPosition = m_specifications.m_actuatedPosition = true;
    }
    bool open()
    {
        return m_deviceReady = true;
    }
    bool close()
    {
        bool was = m_deviceReady;
        m_deviceReady = false;
        return was;
    }
    bool getPosition(cVector3d &p)
    {
        m_v = 0.9 * m_v + 0.001 * (m_prevForce.x() - 50 * m_x) / 0.1;
        m_x += 0.001 * m_v;
        p.set(m_x, 0, 0);
        m_linearVelocity.set(m_v, 0, 0);
        return m_deviceReady;
    }
    bool getUserSwitches(unsigned int &mask)
    {
        mask = 5;
        return m_deviceReady;
    }
    bool setForceAndTorqueAndGripperForce(const cVector3d &f, const cVector3d &, const double)
    {
        m_prevForce = f;
        return m_deviceReady;
    }

  private:
    double m_x = 0.02, m_v = 0;
};

class cHapticDeviceHandler
{
  public:
    unsigned int getNumDevices()
    {
        return 1;
    }
    bool getDevice(cGenericHapticDevicePtr &p, unsigned int i = 0)
    {
        if (i == 0)
            p = std::make_shared<cStandInDevice>();
        else
            p = std::make_shared<cGenericHapticDevice>();
        return i == 0;
    }
};

} // namespace chai3d

#endif
