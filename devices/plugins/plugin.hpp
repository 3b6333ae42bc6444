// What the plug-ins in C++ share: the newest message between two threads, the clock, a refusal.
#ifndef DEVICES_PLUGINS_PLUGIN_HPP
#define DEVICES_PLUGINS_PLUGIN_HPP

#include <atomic>
#include <chrono>
#include <cstring>

extern "C" {
#include "devices/device.h"
const device_driver *hapticd_device_driver(void);
}

// One writer, one reader, neither waits: three slots, of which the middle one changes hands.
template <typename T> class newest
{
  public:
    void put(const T &value)
    {
        slots[back] = value;
        back = middle.exchange(back | 4, std::memory_order_acq_rel) & 3;
    }
    bool take(T &value)
    {
        if (!(middle.load(std::memory_order_relaxed) & 4))
            return false;
        front = middle.exchange(front, std::memory_order_acq_rel) & 3;
        value = slots[front];
        return true;
    }

  private:
    T slots[3] = {};
    std::atomic<unsigned> middle{1};
    unsigned back = 0, front = 2;
};

// CLOCK_MONOTONIC, as the servo's.
inline int64_t now_ns()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

inline hr_status fail(hr_error *error, hr_status status, const char *text)
{
    if (error)
        strncpy(error->text, text, sizeof error->text - 1);
    return status;
}

#endif
