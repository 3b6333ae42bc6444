#include "tests/emulated/usbfs.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t usbfs_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* String descriptors: 0 languages, 1 maker, 2 product, 3 serial number. */
static int string_descriptor(int index, const char *serial, uint8_t *out, int capacity)
{
    const char *texts[4] = {"", "FTDI", "Falcon HID", serial};
    uint8_t whole[80] = {4, 3, 0x09, 0x04};
    int length = 4;
    if (index < 0 || index > 3)
        return -EPIPE;
    if (index > 0) {
        length = 2;
        for (const char *c = texts[index]; *c && length + 2 < (int)sizeof whole; c++) {
            whole[length++] = (uint8_t)*c;
            whole[length++] = 0;
        }
        whole[0] = (uint8_t)length;
    }
    int count = length < capacity ? length : capacity;
    memcpy(out, whole, (size_t)count);
    return count;
}

int usbfs_open(falcon_model *m)
{
    int status = model_open(m, usbfs_now());
    return status == HR_OK ? 0 : status == HR_ERR_NOT_FOUND ? ENODEV : EBUSY;
}

int usbfs_control(falcon_model *m, int64_t now_ns, uint8_t *packet, int length, const char *serial)
{
    int request = packet[1];
    int value = packet[2] | packet[3] << 8;
    if (!model_is_plugged(m, now_ns))
        return -ENODEV;
    if (packet[0] == FTDI_REQUEST_TYPE) {
        int status = model_control(m, now_ns, request, value);
        return status == HR_OK ? 0 : status == HR_ERR_LOST ? -ENODEV : -EPIPE;
    }
    if (packet[0] == 0x80 && request == 6 && value >> 8 == 3)
        return string_descriptor(value & 255, serial, packet + 8, length);
    return packet[0] & 0x80 ? -EPIPE : 0;
}

static const struct {
    const char *name;
    char kind; /* d double, b bool, i int */
    size_t offset;
} words[] = {
    {"control_fails", 'd', offsetof(model_faults, control_fails)},
    {"greeting_lost", 'd', offsetof(model_faults, greeting_lost)},
    {"echo_wrong", 'd', offsetof(model_faults, echo_wrong)},
    {"echo_lost", 'd', offsetof(model_faults, echo_lost)},
    {"report_lost", 'd', offsetof(model_faults, report_lost)},
    {"report_runt", 'd', offsetof(model_faults, report_runt)},
    {"report_garbage", 'd', offsetof(model_faults, report_garbage)},
    {"report_late", 'd', offsetof(model_faults, report_late)},
    {"in_stalls", 'd', offsetof(model_faults, in_stalls)},
    {"hang_at", 'd', offsetof(model_faults, hang_at)},
    {"hang_for", 'd', offsetof(model_faults, hang_for)},
    {"has_stale_bytes", 'b', offsetof(model_faults, has_stale_bytes)},
    {"greets_once", 'b', offsetof(model_faults, greets_once)},
    {"greets_with_zero", 'b', offsetof(model_faults, greets_with_zero)},
    {"is_unpowered", 'b', offsetof(model_faults, is_unpowered)},
    {"is_frozen", 'b', offsetof(model_faults, is_frozen)},
    {"loses_firmware", 'b', offsetof(model_faults, loses_firmware)},
    {"refused_opens", 'i', offsetof(model_faults, refused_opens)},
    {"unplug_at", 'd', offsetof(model_faults, unplug_at)},
    {"replug_at", 'd', offsetof(model_faults, replug_at)},
    {"unplug_every", 'd', offsetof(model_faults, unplug_every)},
    {"unplug_for", 'd', offsetof(model_faults, unplug_for)},
    {"motor_gain", 'd', offsetof(model_faults, motor_gain)},
    {"payload_kg", 'd', offsetof(model_faults, payload_kg)},
    {"payload_at", 'd', offsetof(model_faults, payload_at)},
};

static bool set_fault(const char *word, model_faults *out)
{
    const char *equals = strchr(word, '=');
    for (int i = 0; equals && i < HR_COUNT(words); i++) {
        if (strlen(words[i].name) != (size_t)(equals - word) ||
            strncmp(words[i].name, word, (size_t)(equals - word)) != 0)
            continue;
        char *field = (char *)out + words[i].offset;
        double value = atof(equals + 1);
        if (words[i].kind == 'd')
            memcpy(field, &value, sizeof value);
        else if (words[i].kind == 'b')
            *(bool *)(void *)field = value != 0;
        else
            *(int *)(void *)field = (int)value;
        return true;
    }
    return false;
}

bool usbfs_faults(const char *text, model_faults *out)
{
    char copy[1024];
    char *rest = NULL;
    *out = (model_faults){0};
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *word = strtok_r(copy, " ,;", &rest); word; word = strtok_r(NULL, " ,;", &rest))
        if (!set_fault(word, out)) {
            fprintf(stderr, "emulated falcon: no fault \"%s\"\n", word);
            return false;
        }
    return true;
}

const char *usbfs_script(void)
{
    static char text[8192];
    const char *path = getenv("EMULATED_FALCON_SCRIPT");
    FILE *file = path && *path ? fopen(path, "r") : NULL;
    if (!file)
        return NULL;
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    return text;
}

const char *usbfs_device_text(int n)
{
    static char text[2][1024];
    snprintf(text[n], sizeof text[n],
             "P: /devices/pci0000:00/0000:00:14.0/usb1/1-%d\n"
             "N: bus/usb/001/%03d\n"
             "E: DEVTYPE=usb_device\nE: SUBSYSTEM=usb\nE: DEVNAME=/dev/bus/usb/001/%03d\n"
             "E: BUSNUM=001\nE: DEVNUM=%03d\nE: MAJOR=189\nE: MINOR=%d\n"
             "E: PRODUCT=403/cb48/400\n"
             "A: busnum=1\\n\nA: devnum=%d\\n\nA: bConfigurationValue=1\\n\nA: speed=12\\n\n"
             "A: idVendor=0403\\n\nA: idProduct=cb48\\n\n"
             "H: descriptors=1201100100000008030448CB00040102030109022000010100802D0904000002FFFFFF"
             "020705810240000007050202400000\n\n",
             n + 3, n + 5, n + 5, n + 5, n + 4, n + 5);
    return text[n];
}
