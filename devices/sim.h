/* The simulated Falcon held by the simulated hand: the driver "sim". The address names the device
 * (it becomes the serial number); two at once are two addresses. */
#ifndef DEVICES_SIM_H
#define DEVICES_SIM_H

#include "devices/device.h"
#include "devices/sim_falcon.h"

/* Settings: those of SIM_FALCON_SETTINGS, `script` (text, see sim_hand.h) or `script_file`, and
 * `imposed` (the hand's path is followed exactly, whatever the motors do). */
extern const device_driver device_sim;

/* For devices that device_sim opened. */
void sim_truth_of(const device *dev, sim_truth *out);

/* J that the motors put into the grip since the first read; positive is energy put out. Exact: sum
 * of motor torque times turn of the arm. */
double sim_energy(const device *dev);

#endif
