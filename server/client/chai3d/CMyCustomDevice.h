// hapticd for programs that ask CHAI3D's cHapticDeviceHandler: put this file and the cHapticdDevice pair
// in place of src/devices/CMyCustomDevice.h and .cpp, build CHAI3D with
// C_ENABLE_CUSTOM_DEVICE_SUPPORT and link with -lhaptic. Every hand of the running server then is a
// device of the handler.
#ifndef CMyCustomDeviceH
#define CMyCustomDeviceH

#include <cHapticdDevice.h>

namespace chai3d
{

class cMyCustomDevice;
typedef std::shared_ptr<cMyCustomDevice> cMyCustomDevicePtr;

class cMyCustomDevice : public cHapticdDevice
{
  public:
    cMyCustomDevice(unsigned int a_deviceNumber = 0) : cHapticdDevice("", a_deviceNumber)
    {
    }
    static unsigned int getNumDevices()
    {
        return cHapticdDevice::getNumDevices();
    }
    static cMyCustomDevicePtr create(unsigned int a_deviceNumber = 0)
    {
        return std::make_shared<cMyCustomDevice>(a_deviceNumber);
    }
};

} // namespace chai3d

#endif
