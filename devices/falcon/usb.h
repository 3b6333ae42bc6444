/* The transport over libusb-1.0, and what is plugged in. Not for the servo thread. */
#ifndef DEVICES_FALCON_USB_H
#define DEVICES_FALCON_USB_H

#include <stdbool.h>

#include "devices/falcon/transport.h"

enum { FALCON_UNITS_MAX = 16 };

typedef struct falcon_unit {
    int index;
    int bus, address;
    char port[32];   /* "1-3.2": bus and port path, stable for a socket */
    char serial[32]; /* empty where it could not be read */
    bool may_open;
    char problem[160]; /* why it could not be opened, and the remedy */
    char driver[32];   /* kernel driver bound to interface 0; empty: none */
} falcon_unit;

/* Lists Falcons in order of port; returns how many, or a negative hr_status where USB itself does
 * not work. Reading the serial number opens the device for a moment. */
int falcon_usb_list(falcon_unit *units, int capacity, hr_error *error);

/* `address`: "" or NULL: the first; "N": by index; "serial:X"; "port:1-3.2"; or a bare serial
 * number. The device itself is opened by the transport's open. HR_ERR_ARGUMENT for an address that
 * is none of these. The caller ends it with calls->destroy. */
HR_MUST_USE hr_status falcon_usb_create(const char *address, falcon_transport **out,
                                        hr_error *error);

#endif
