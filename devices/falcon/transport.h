/* How the link reaches a Falcon: libusb, or a model of one in a test. All calls come from one
 * thread, which is never the servo's. */
#ifndef DEVICES_FALCON_TRANSPORT_H
#define DEVICES_FALCON_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "geometry/error.h"

typedef struct falcon_transport falcon_transport; /* each kind's own; starts with `calls` */

typedef struct falcon_transport_calls {
    /* Finds, opens and claims the device and starts reading. HR_ERR_NOT_FOUND, HR_ERR_BUSY,
     * HR_ERR_IO with a message. */
    hr_status (*open)(falcon_transport *t, hr_error *error);

    /* Ends all transfers. Harmless when closed. */
    void (*close)(falcon_transport *t);

    /* One FTDI request, finished on return. HR_ERR_LOST where the device is gone. */
    hr_status (*control)(falcon_transport *t, int request, int value);

    /* Starts sending; HR_ERR_BUSY while the last bytes are under way. */
    hr_status (*write)(falcon_transport *t, const uint8_t *bytes, size_t size);

    /* Received so far, FTDI status bytes removed; HR_ERR_LOST (negative) where the device is gone.
     */
    int (*read)(falcon_transport *t, uint8_t *bytes, size_t capacity);

    /* Cancels and reaps every transfer, throws away what came, and starts reading again. */
    hr_status (*drain)(falcon_transport *t);

    /* Returns when something has come or at the given time. */
    void (*wait)(falcon_transport *t, int64_t until_ns);

    int64_t (*now)(falcon_transport *t);

    /* Serial number of the unit that was opened last; empty before. Stays valid. */
    const char *(*serial)(const falcon_transport *t);
    void (*destroy)(falcon_transport *t);
} falcon_transport_calls;

struct falcon_transport {
    const falcon_transport_calls *calls;
};

#endif
