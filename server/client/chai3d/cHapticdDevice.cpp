#include "cHapticdDevice.h"

#include <string.h>

using namespace chai3d;

static const double hold_s = 0.005;

cHapticdDevice::cHapticdDevice(const std::string &a_socket, unsigned int a_hand)
    : cGenericHapticDevice(a_hand), m_client(NULL)
{
    char message[200] = "";
    memset(&m_state, 0, sizeof m_state);
    m_state.rotation[0] = 1;
    m_client = haptic_open(a_socket.empty() ? NULL : a_socket.c_str(), (int)a_hand, message,
                           sizeof message);
    m_deviceReady = false;
    m_deviceAvailable = m_client != NULL;
    m_error = message;
    if (!m_client)
        return;
    haptic_description d;
    haptic_describe(m_client, &d);
    cHapticDeviceInfo &s = m_specifications;
    bool is_falcon = strcmp(d.model, "Falcon") == 0;
    s.m_model = is_falcon ? C_HAPTIC_DEVICE_FALCON : C_HAPTIC_DEVICE_CUSTOM;
    s.m_modelName = d.model;
    s.m_manufacturerName = d.manufacturer;
    s.m_maxLinearForce = d.max_force;
    s.m_maxAngularTorque = s.m_maxGripperForce = 0;
    s.m_maxLinearStiffness = d.max_stiffness;
    s.m_maxAngularStiffness = s.m_maxGripperLinearStiffness = 0;
    s.m_maxLinearDamping = d.max_damping;
    s.m_maxAngularDamping = s.m_maxGripperAngularDamping = 0;
    s.m_workspaceRadius = d.workspace_radius;
    s.m_gripperMaxAngleRad = 0;
    s.m_sensedPosition = true;
    s.m_sensedRotation = d.senses_rotation != 0;
    s.m_sensedGripper = d.senses_gripper != 0;
    s.m_actuatedPosition = d.actuates_position != 0;
    s.m_actuatedRotation = d.actuates_rotation != 0;
    s.m_actuatedGripper = d.actuates_gripper != 0;
    s.m_leftHand = s.m_rightHand = true;
}

unsigned int cHapticdDevice::getNumDevices(const std::string &a_socket)
{
    unsigned int count = 0;
    haptic_client *client = NULL;
    while ((client = haptic_open(a_socket.empty() ? NULL : a_socket.c_str(), (int)count, NULL, 0))) {
        haptic_close(client);
        count++;
    }
    return count;
}

cGenericHapticDevicePtr cHapticdDevice::create(const std::string &a_socket, unsigned int a_hand)
{
    std::shared_ptr<cHapticdDevice> device = std::make_shared<cHapticdDevice>(a_socket, a_hand);
    if (device->isDeviceAvailable())
        return device;
    return std::make_shared<cGenericHapticDevice>(a_hand);
}

cHapticdDevice::~cHapticdDevice()
{
    haptic_close(m_client);
}

// One owner at a time: a device whose forces another program commands does not open.
bool cHapticdDevice::open()
{
    if (!m_client)
        return C_ERROR;
    m_deviceReady = haptic_read(m_client, &m_state) == 0 && haptic_lease(m_client) == 0;
    return m_deviceReady;
}

bool cHapticdDevice::close()
{
    if (!m_deviceReady)
        return C_ERROR;
    haptic_release(m_client);
    m_deviceReady = false;
    return C_SUCCESS;
}

bool cHapticdDevice::calibrate(bool)
{
    for (int n = 0; m_deviceReady && n < 10000; n++) {
        if (m_state.is_homed)
            return C_SUCCESS;
        if (haptic_wait(m_client, &m_state) != 0)
            break;
    }
    return C_ERROR;
}

bool cHapticdDevice::getPosition(cVector3d &a_position)
{
    if (!m_deviceReady)
        return C_ERROR;
    bool is_read = haptic_read(m_client, &m_state) == 0;
    a_position.set(m_state.position[0], m_state.position[1], m_state.position[2]);
    return is_read && m_state.has_position;
}

bool cHapticdDevice::getLinearVelocity(cVector3d &a_linearVelocity)
{
    a_linearVelocity.set(m_state.velocity[0], m_state.velocity[1], m_state.velocity[2]);
    m_linearVelocity = a_linearVelocity;
    return m_deviceReady;
}

bool cHapticdDevice::getRotation(cMatrix3d &a_rotation)
{
    const double w = m_state.rotation[0], x = m_state.rotation[1];
    const double y = m_state.rotation[2], z = m_state.rotation[3];
    a_rotation.identity();
    if (!m_state.has_rotation)
        return m_deviceReady;
    a_rotation(0, 0) = 1 - 2 * (y * y + z * z);
    a_rotation(0, 1) = 2 * (x * y - w * z);
    a_rotation(0, 2) = 2 * (x * z + w * y);
    a_rotation(1, 0) = 2 * (x * y + w * z);
    a_rotation(1, 1) = 1 - 2 * (x * x + z * z);
    a_rotation(1, 2) = 2 * (y * z - w * x);
    a_rotation(2, 0) = 2 * (x * z - w * y);
    a_rotation(2, 1) = 2 * (y * z + w * x);
    a_rotation(2, 2) = 1 - 2 * (x * x + y * y);
    return m_deviceReady;
}

bool cHapticdDevice::getAngularVelocity(cVector3d &a_angularVelocity)
{
    a_angularVelocity.set(m_state.angular_velocity[0], m_state.angular_velocity[1],
                          m_state.angular_velocity[2]);
    m_angularVelocity = a_angularVelocity;
    return m_deviceReady;
}

bool cHapticdDevice::getUserSwitches(unsigned int &a_userSwitches)
{
    a_userSwitches = m_state.buttons;
    return m_deviceReady;
}

bool cHapticdDevice::setForceAndTorqueAndGripperForce(const cVector3d &a_force,
                                                      const cVector3d &a_torque,
                                                      const double a_gripperForce)
{
    const double force[3] = {a_force.x(), a_force.y(), a_force.z()};
    bool is_sent = m_deviceReady && haptic_force(m_client, force, hold_s) == 0;
    m_prevForce = a_force;
    m_prevTorque = a_torque;
    m_prevGripperForce = a_gripperForce;
    if (m_deviceReady && haptic_wait(m_client, &m_state) == 0)
        return is_sent;
    // Without a server, or after its end, the base class's pause keeps the program near 1 kHz.
    (void)cGenericHapticDevice::setForceAndTorqueAndGripperForce(a_force, a_torque, a_gripperForce);
    return C_ERROR;
}

std::string cHapticdDevice::lastError() const
{
    return m_client ? haptic_error(m_client) : m_error;
}
