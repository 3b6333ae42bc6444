/* `haptic calibrate`: how many motor units make a newton, by hanging a weight on the grip. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "devices/falcon.h"
#include "devices/registry.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic calibrate --weight KG [--device falcon[:ADDRESS]] [-o FILE]\n"
    "\n"
    "Finds the motor gain of one Falcon. The program homes the device, then holds the grip in\n"
    "the middle of its workspace with a slow controller; first with nothing on it, then with a\n"
    "known weight hung on the grip. The force it needed for the weight against the weight's own\n"
    "(mass times 9.81 m/s^2) gives the gain. Friction is averaged out by holding for 3 s each.\n"
    "\n"
    "  --weight KG        mass that will be hung on, 0.05 to 0.5\n"
    "  --device ADDRESS   which device; the first Falcon unless given\n"
    "  -o FILE            where to write; ~/.config/hapticd/falcon-SERIAL.conf unless given\n"
    "  --help             this text\n";

static const double gravity = 9.81;   /* m/s^2 */
static const double force_most = 6.0; /* N, of the controller */

/* Ctrl-C while the motors hold the grip: let go first, then end. */
static volatile sig_atomic_t is_stopped;

static void on_stop(int number)
{
    (void)number;
    is_stopped = 1;
}

typedef struct session {
    device *dev;
    device_sample sample;
    vec3 sum; /* N s, integral part of the controller */
    int64_t next_ns;
} session;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* A millisecond of the loop. With `is_holding` a PID controller keeps the grip at the middle. */
static hr_status tick(session *s, bool is_holding, vec3 *force)
{
    s->next_ns += 1000000;
    if (s->next_ns < now_ns() - 20000000)
        s->next_ns = now_ns();
    struct timespec until = {s->next_ns / 1000000000, s->next_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    hr_status status = device_falcon.read(s->dev, s->next_ns, &s->sample);
    *force = (vec3){0, 0, 0};
    if (is_holding && status == HR_OK && !is_stopped) {
        vec3 away = s->sample.position;
        s->sum = vec3_clamp_length(vec3_add_scaled(s->sum, -300e-3, away), force_most);
        *force = vec3_add(s->sum, vec3_scale(-150, away));
        *force = vec3_add_scaled(*force, -6, s->sample.velocity);
        *force = vec3_clamp_length(*force, force_most);
    }
    device_command c = {.deadline_ns = s->next_ns + 20000000, .force = *force};
    hr_status written = device_falcon.write(s->dev, s->next_ns, &c);
    if (is_stopped)
        return HR_ERR_DISABLED;
    return status != HR_OK ? status : written;
}

/* Waits for the return key while the loop goes on; false at the end of the input or at a signal. */
static bool ask(session *s, const char *question, bool is_holding)
{
    printf("%s, then press return ", question);
    fflush(stdout);
    while (!is_stopped) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        vec3 force;
        if (poll(&input, 1, 0) > 0) {
            char key;
            long count = read(STDIN_FILENO, &key, 1);
            if (count <= 0 || key == '\n')
                return count > 0;
        }
        (void)tick(s, is_holding, &force);
    }
    return false;
}

static hr_status home(session *s)
{
    printf("homing: pull the grip fully out, then push it straight in\n");
    vec3 force;
    for (int n = 0; n < 120000 && !is_stopped; n++) {
        hr_status status = tick(s, false, &force);
        if (status == HR_OK && s->sample.flags & DEVICE_IS_HOMED)
            return HR_OK;
    }
    return HR_ERR_DEADLINE;
}

/* Mean vertical force over three seconds of rest, after at most 15 s of settling. */
static hr_status weigh(session *s, double *out)
{
    double sum = 0;
    int calm = 0;
    for (int n = 0; n < 18000; n++) {
        vec3 force;
        hr_status status = tick(s, true, &force);
        if (status != HR_OK && status != HR_ERR_BUSY)
            return status;
        bool is_calm = vec3_length(s->sample.position) < 0.003 &&
                       vec3_length(s->sample.velocity) < 0.02 &&
                       !(s->sample.flags & DEVICE_IS_SATURATED);
        sum = is_calm ? sum + force.z : 0;
        calm = is_calm ? calm + 1 : 0;
        if (calm == 3000) {
            *out = sum / calm;
            return HR_OK;
        }
    }
    return HR_ERR_DEADLINE;
}

static hr_status write_file(const char *wanted, const falcon_calibration *c, const char *serial,
                            hr_error *error)
{
    char path[700];
    char text[512];
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *user = getenv("HOME");
    if (wanted) {
        snprintf(path, sizeof path, "%s", wanted);
    } else {
        char folder[600];
        bool has_config = config && *config;
        int length = snprintf(folder, sizeof folder, "%.500s%s",
                              has_config ? config
                              : user     ? user
                                         : ".",
                              has_config ? "" : "/.config");
        (void)mkdir(folder, 0755);
        snprintf(folder + length, sizeof folder - (size_t)length, "/hapticd");
        (void)mkdir(folder, 0755);
        snprintf(path, sizeof path, "%s/falcon-%s.conf", folder, serial);
    }
    falcon_calibration_print(c, serial, text, sizeof text);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be written, found: %s",
                         path, strerror(errno));
    printf("wrote %s\n%s", path, text);
    return HR_OK;
}

static int refuse(const char *what)
{
    fprintf(stderr, "haptic calibrate: %s\n", is_stopped ? "stopped; the motors are off" : what);
    return COMMAND_FAILED;
}

/* The device's own words where it has some. */
static int refuse_with(const session *s, const char *what)
{
    const char *words = device_falcon.last_error(s->dev);
    return refuse(words[0] ? words : what);
}

static int run(session *s, double kilograms, const char *file)
{
    double empty = 0;
    double loaded = 0;
    device_description about;
    device_falcon.describe(s->dev, &about);
    s->next_ns = now_ns();
    if (home(s) != HR_OK)
        return refuse_with(s, "the homing took too long");
    if (!ask(s, "homed; let go of the grip", false))
        return refuse("the input ended");
    (void)device_falcon.enable(s->dev, true);
    if (weigh(s, &empty) != HR_OK)
        return refuse_with(s, "the grip did not come to rest; is something touching it?");
    printf("empty: %.3f N\n", empty);
    if (!ask(s, "hang the weight on the grip", true))
        return refuse("the input ended");
    if (weigh(s, &loaded) != HR_OK)
        return refuse_with(s, "the grip did not come to rest with the weight; is it too heavy?");
    double factor = (loaded - empty) / (kilograms * gravity);
    printf("loaded: %.3f N; %.4f of the weight's %.3f N\n", loaded, factor, kilograms * gravity);
    if (!(factor > 0.2 && factor < 5))
        return refuse("the weight was not felt: expected a factor from 0.2 to 5");
    falcon_calibration c = falcon_host_of(s->dev)->calibration;
    for (int i = 0; i < FALCON_ARMS; i++)
        c.units_per_newton_metre[i] *= factor;
    hr_error error = {""};
    if (write_file(file, &c, about.serial, &error) != HR_OK)
        return command_input_error(&error);
    return COMMAND_OK;
}

int cmd_calibrate(int argc, char **argv)
{
    static const struct option names[] = {{"weight", required_argument, NULL, 'w'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *device_text = "falcon";
    const char *file = NULL;
    double kilograms = 0;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
        char *end = NULL;
        if (letter == 'h') {
            fputs(usage, stdout);
            return COMMAND_OK;
        }
        if (letter == 'd')
            device_text = optarg;
        else if (letter == 'o')
            file = optarg;
        else if (letter != 'w')
            return command_usage_error("calibrate", "unknown or incomplete option");
        else if (!((kilograms = strtod(optarg, &end)) >= 0.05 && kilograms <= 0.5) || *end)
            return command_usage_error("calibrate",
                                       "--weight: expected 0.05 to 0.5 kg, found \"%s\"", optarg);
    }
    if (kilograms == 0 || optind != argc)
        return command_usage_error("calibrate", "expected --weight KG and no other argument");
    char driver[32];
    char address[128];
    hr_error error = {""};
    if (registry_split(device_text, driver, sizeof driver, address, sizeof address, &error))
        return command_input_error(&error);
    if (strcmp(driver, "falcon") != 0)
        return command_usage_error("calibrate", "--device: expected falcon[:ADDRESS], found \"%s\"",
                                   device_text);
    static session s;
    struct sigaction action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (device_falcon.open(address, NULL, &s.dev, &error) != HR_OK)
        return refuse(error.text);
    int code = run(&s, kilograms, file);
    device_falcon.close(s.dev);
    return code;
}
