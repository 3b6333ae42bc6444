/* `haptic doctor`: what is wrong, and the command that mends it. */
#include <getopt.h>
#include <grp.h>
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "devices/falcon/firmware.h"
#include "devices/falcon/usb.h"
#include "devices/registry.h"
#include "server/command.h"
#include "server/control_client.h"

static const char usage[] =
    "usage: haptic doctor [--firmware FILE] [--json]\n"
    "\n"
    "Checks USB, the Falcon's permissions, drivers and firmware, the udev rule, group and\n"
    "service, the real-time settings, and what a running server waits for (homing). Each\n"
    "trouble is shown with its cause and the command that mends it.\n"
    "Nothing is powered. Exit code 0: all is well; 1: something is wrong.\n"
    "\n"
    "  --firmware FILE    check this firmware file instead of the one that would be used\n"
    "  --json             an object with \"ok\" and \"checks\" (name, state, found, remedy)\n"
    "  --help             this text\n";

typedef enum verdict { GOOD, NOTE, WRONG } verdict;

typedef struct visit {
    json_t *checks;
    bool is_json;
    int wrong;
} visit;

static void say(visit *v, verdict state, const char *name, const char *found, const char *remedy)
{
    static const char *const words[] = {"good", "note", "wrong"};
    v->wrong += state == WRONG;
    json_array_append_new(v->checks, json_pack("{s:s, s:s, s:s, s:s}", "name", name, "state",
                                               words[state], "found", found, "remedy", remedy));
    if (v->is_json)
        return;
    printf("%-6s %-22s %s\n", words[state], name, found);
    if (remedy[0])
        printf("       %-22s mend it: %s\n", "", remedy);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static const char *rule_path(void)
{
    static const char *const places[] = {
        "/etc/udev/rules.d/70-hapticd.rules", "/usr/local/lib/udev/rules.d/70-hapticd.rules",
        "/usr/lib/udev/rules.d/70-hapticd.rules", "/lib/udev/rules.d/70-hapticd.rules"};
    for (int i = 0; i < HR_COUNT(places); i++)
        if (exists(places[i]))
            return places[i];
    return NULL;
}

static void check_unit(visit *v, const falcon_unit *u)
{
    char name[64];
    char found[256];
    snprintf(name, sizeof name, "falcon at port %.31s", u->port);
    if (!u->may_open) {
        bool is_denied = strstr(u->problem, "permission") != NULL;
        snprintf(found, sizeof found, "cannot be opened: %s",
                 is_denied ? "no permission on its device file" : u->problem);
        say(v, WRONG, name, found,
            is_denied
                ? (rule_path()
                       ? "sudo usermod -aG haptic $USER, log in again, plug the Falcon in again"
                       : "sudo make install && sudo udevadm control --reload && sudo udevadm "
                         "trigger")
                : "end the other program (fuser -v /dev/bus/usb/*/*), then try again");
        return;
    }
    snprintf(found, sizeof found, "can be opened, serial number %s",
             u->serial[0] ? u->serial : "not readable");
    say(v, GOOD, name, found, "");
    if (u->driver[0]) {
        char remedy[200];
        snprintf(remedy, sizeof remedy,
                 "hapticd detaches it when it starts; at once: echo '%.31s:1.0' | sudo tee "
                 "/sys/bus/usb/drivers/%.31s/unbind",
                 u->port, u->driver);
        snprintf(found, sizeof found, "a kernel driver is attached to it: %.31s", u->driver);
        say(v, WRONG, name, found, remedy);
    }
}

static void check_usb(visit *v)
{
    falcon_unit units[FALCON_UNITS_MAX] = {0};
    hr_error error = {""};
    int count = falcon_usb_list(units, FALCON_UNITS_MAX, &error);
    if (count < 0) {
        say(v, WRONG, "usb", error.text, "check that /dev/bus/usb exists (lsusb)");
        return;
    }
    if (count == 0)
        say(v, WRONG, "falcon", "no Falcon is plugged in (no USB device 0403:cb48)",
            "plug in its USB cable and its own wall supply, then: lsusb -d 0403:cb48");
    for (int i = 0; i < count; i++)
        check_unit(v, &units[i]);
}

static void check_rule(visit *v)
{
    const char *path = rule_path();
    if (path)
        say(v, GOOD, "udev rule", path, "");
    else
        say(v, geteuid() == 0 ? NOTE : WRONG, "udev rule",
            "not installed: only root may open a Falcon",
            "sudo make install && sudo udevadm control --reload && sudo udevadm trigger");
}

static bool is_member(gid_t group)
{
    gid_t groups[256];
    int count = getgroups(HR_COUNT(groups), groups);
    bool is_in = getegid() == group;
    for (int i = 0; i < count; i++)
        is_in |= groups[i] == group;
    return is_in;
}

/* Whoever sits at the machine may use the device by the rule; the group is for everybody else. */
static void check_group(visit *v)
{
    const struct group *group = getgrnam("haptic");
    if (!group)
        say(v, NOTE, "group", "there is no group \"haptic\"",
            "sudo groupadd --system haptic && sudo usermod -aG haptic $USER");
    else if (geteuid() != 0 && !is_member(group->gr_gid))
        say(v, NOTE, "group", "you are not in the group \"haptic\"",
            "sudo usermod -aG haptic $USER, then log in again");
    else
        say(v, GOOD, "group", "haptic", "");
}

static void check_service(visit *v)
{
    static const char *const places[] = {
        "/etc/systemd/system/hapticd.service", "/usr/local/lib/systemd/system/hapticd.service",
        "/usr/lib/systemd/system/hapticd.service", "/lib/systemd/system/hapticd.service"};
    const char *path = NULL;
    for (int i = 0; i < HR_COUNT(places) && !path; i++)
        path = exists(places[i]) ? places[i] : NULL;
    say(v, path ? GOOD : NOTE, "service", path ? path : "no systemd unit is installed",
        path ? "" : "sudo make install, then: sudo systemctl enable --now hapticd");
}

/* A running server knows what its devices are waiting for. */
static void check_server(visit *v)
{
    static control_client c;
    hr_error error = {""};
    json_t *answer = NULL;
    if (control_client_open(&c, NULL, &error) == HR_OK &&
        control_client_send(&c, json_pack("{s:s}", "op", "status"), &error) == HR_OK)
        answer = control_client_receive(&c, 3000, &error);
    control_client_close(&c);
    const json_t *devices = json_object_get(json_object_get(answer, "status"), "devices");
    if (!answer)
        say(v, NOTE, "server", "no hapticd runs here", "");
    size_t i;
    const json_t *item;
    json_array_foreach(devices, i, item)
    {
        char name[64];
        char found[300];
        const char *words = json_string_value(json_object_get(item, "message"));
        bool is_homing = words && strstr(words, "not homed") != NULL;
        snprintf(name, sizeof name, "hand %.40s", json_string_value(json_object_get(item, "name")));
        snprintf(found, sizeof found, "%s: %.200s",
                 json_string_value(json_object_get(item, "model")),
                 words && words[0] ? words : "ready");
        say(v, words && words[0] ? WRONG : GOOD, name, found,
            is_homing           ? "pull the grip fully out, then push it straight in"
            : words && words[0] ? "plug in its USB cable and its wall supply, then: haptic arm"
                                : "");
    }
    json_decref(answer);
}

static void check_firmware(visit *v, const char *wanted)
{
    static falcon_firmware firmware;
    char path[512] = "";
    char found[700];
    hr_error error = {""};
    hr_status status = falcon_firmware_find(wanted, path, sizeof path, &error);
    if (status != HR_OK) {
        say(v, WRONG, "firmware", error.text,
            "mkdir -p ~/.local/share/hapticd && cp nvent_firmware.bin "
            "~/.local/share/hapticd/falcon.bin (the file comes with libnifalcon, folder firmware/; "
            "8492 bytes, SHA-256 1119e39c39fab1f3..., under Novint's non-commercial licence)");
        return;
    }
    status = falcon_firmware_load(path, &firmware, &error);
    if (status != HR_OK) {
        snprintf(found, sizeof found, "%.600s", error.text);
        say(v, WRONG, "firmware", found,
            "copy the right file there: nvent_firmware.bin, 8492 bytes, SHA-256 "
            "1119e39c39fab1f3...");
        return;
    }
    snprintf(found, sizeof found, "%.300s: %zu bytes, %d blocks, SHA-256 %.16s..., %s", path,
             firmware.size, firmware.blocks, firmware.sha256,
             firmware.known ? firmware.known : "not one of the four known images");
    say(v, firmware.known ? GOOD : NOTE, "firmware", found,
        firmware.known ? "" : "compare: sha256sum FILE should start with 1119e39c39fab1f3");
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* Tries what the server will try. */
static bool may_use_fifo(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    struct sched_param parameters = {.sched_priority = 80};
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &parameters);
    bool may = pthread_create(&thread, &attributes, do_nothing, NULL) == 0;
    if (may)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return may;
}

static void check_realtime(visit *v)
{
    struct rlimit lock;
    char found[128];
    if (may_use_fifo())
        say(v, GOOD, "real-time scheduling", "SCHED_FIFO 80 is allowed", "");
    else
        say(v, WRONG, "real-time scheduling", "SCHED_FIFO is refused: the server runs degraded",
            "sudo setcap cap_sys_nice,cap_ipc_lock+ep $(command -v hapticd), or run it as the "
            "service: sudo systemctl start hapticd");
    getrlimit(RLIMIT_MEMLOCK, &lock);
    bool is_enough =
        geteuid() == 0 || lock.rlim_cur == RLIM_INFINITY || lock.rlim_cur >= 256u << 20;
    snprintf(found, sizeof found, "%llu kB may be locked",
             (unsigned long long)(lock.rlim_cur == RLIM_INFINITY ? 0 : lock.rlim_cur / 1024));
    say(v, is_enough ? GOOD : NOTE, "locked memory", is_enough ? "enough may be locked" : found,
        is_enough ? ""
                  : "echo '@haptic - memlock unlimited' | sudo tee "
                    "/etc/security/limits.d/hapticd.conf, then log in again");
    if (exists("/sys/kernel/realtime"))
        say(v, GOOD, "kernel", "PREEMPT_RT", "");
    else
        say(v, NOTE, "kernel", "not a real-time kernel: rare delays of some milliseconds",
            "sudo apt-get install linux-image-rt-amd64; 'haptic latency' measures it");
}

int cmd_doctor(int argc, char **argv)
{
    static const struct option names[] = {{"firmware", required_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    visit v = {.checks = json_array()};
    const char *firmware = NULL;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (letter == 'h') {
            fputs(usage, stdout);
            json_decref(v.checks);
            return COMMAND_OK;
        }
        if (letter == 'j')
            v.is_json = true;
        else if (letter == 'f')
            firmware = optarg;
        else
            break;
    }
    if (letter == '?' || optind != argc) {
        json_decref(v.checks);
        return command_usage_error("doctor", "unknown or incomplete option");
    }
    check_usb(&v);
    check_rule(&v);
    check_group(&v);
    check_service(&v);
    check_firmware(&v, firmware);
    check_realtime(&v);
    check_server(&v);
    if (v.is_json) {
        json_t *all = json_pack("{s:b, s:O}", "ok", v.wrong == 0, "checks", v.checks);
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(all);
    } else {
        printf(v.wrong ? "%d to mend\n" : "all is well%.0d\n", v.wrong);
    }
    json_decref(v.checks);
    return v.wrong ? COMMAND_FAILED : COMMAND_OK;
}
