// A stand-in for libnifalcon's raw level, as far as our plug-in uses it: a Falcon that is homed and
// whose arms swing slowly. Names and arguments only; written from the fact sheet.
#ifndef TESTS_STAND_IN_FALCON_DEVICE_H
#define TESTS_STAND_IN_FALCON_DEVICE_H

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <unistd.h>

namespace libnifalcon
{

class FalconFirmware
{
  public:
    void setHomingMode(bool on)
    {
        homing = on;
    }
    bool isHomed()
    {
        return homing && loops > 50;
    }
    int getHomingModeStatus()
    {
        return isHomed() ? 7 : 0;
    }
    void setLEDStatus(unsigned int)
    {
    }
    void setForces(const std::array<int, 3> &f)
    {
        forces = f;
    }
    std::array<int, 3> getEncoderValues()
    {
        int swing = (int)std::lround(60 * std::sin(loops * 0.005));
        return {{-300 + swing, -300 - swing, -300 + swing / 2}};
    }
    bool homing = false;
    int loops = 0;
    std::array<int, 3> forces = {{0, 0, 0}};
};
class FalconFirmwareNovintSDK : public FalconFirmware
{
};

class FalconGrip
{
  public:
    unsigned int getDigitalInputs()
    {
        return 0;
    }
};
class FalconGripFourButton : public FalconGrip
{
};

class FalconDevice
{
  public:
    enum { FALCON_LOOP_FIRMWARE = 0x1, FALCON_LOOP_KINEMATIC = 0x2, FALCON_LOOP_GRIP = 0x4 };
    template <class T> void setFalconFirmware()
    {
    }
    template <class T> void setFalconGrip()
    {
    }
    bool getDeviceCount(unsigned int &n)
    {
        n = 1;
        return true;
    }
    bool open(unsigned int i)
    {
        return i == 0;
    }
    void close()
    {
    }
    bool isFirmwareLoaded()
    {
        return true;
    }
    bool setFirmwareFile(const std::string &)
    {
        return true;
    }
    bool loadFirmware(unsigned int, bool)
    {
        return true;
    }
    bool runIOLoop(unsigned int)
    {
        usleep(900);
        firmware->loops++;
        return true;
    }
    int getErrorCode()
    {
        return 0;
    }
    std::shared_ptr<FalconFirmware> getFalconFirmware()
    {
        return firmware;
    }
    std::shared_ptr<FalconGrip> getFalconGrip()
    {
        return grip;
    }

  private:
    std::shared_ptr<FalconFirmware> firmware = std::make_shared<FalconFirmware>();
    std::shared_ptr<FalconGrip> grip = std::make_shared<FalconGrip>();
};

} // namespace libnifalcon

#endif
