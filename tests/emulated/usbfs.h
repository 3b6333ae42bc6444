/* What the shim and the umockdev process share: the device's USB descriptors, its answers to
 * control requests, and faults as text. */
#ifndef TESTS_EMULATED_USBFS_H
#define TESTS_EMULATED_USBFS_H

#include "tests/emulated/falcon_model.h"

/* Claims the interface: 0 or an errno. */
int usbfs_open(falcon_model *m);

/* A control transfer: 8 bytes of set-up packet, then `length` bytes of data stage. Returns the
 * length of the data stage, or a negative errno. */
int usbfs_control(falcon_model *m, int64_t now_ns, uint8_t *packet, int length, const char *serial);

/* "unplug_at=2 replug_at=3 report_lost=0.1 greets_once=1 script=FILE": names are those of
 * model_faults. False at the first word that is not understood, which is printed. */
bool usbfs_faults(const char *text, model_faults *out);

/* The hand's script from the file that EMULATED_FALCON_SCRIPT names; NULL: the model's own. */
const char *usbfs_script(void);

/* Device number n (0 or 1) as umockdev describes it. */
const char *usbfs_device_text(int n);

int64_t usbfs_now(void);

#endif
