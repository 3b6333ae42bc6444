#include "tests/emulated/falcon_model.h"

#include <string.h>

#include "tests/emulated/falcon_arms.h"

static const double centre_z = 0.120;
static const double mass = 0.15;    /* kg, of the mechanism */
static const double friction = 1.0; /* N s/m */

static const char default_script[] = "move 0.030 0 0 over 0.5\nhold 0.1\nmove -0.035 0 0 over 0.8\n"
                                     "hold 0.1\nmove 0.01 0 0 over 0.4\n"
                                     "circle 0 0 0 about 0 0 1 turns 2 over 4\nrepeat\n";

static bool happens(falcon_model *m, double probability)
{
    return probability > 0 && sim_random_unit(&m->random) < probability;
}

void model_init(falcon_model *m, const model_faults *faults, const char *script, uint64_t seed)
{
    static sim_script parsed; /* large */
    hr_error error;
    memset(m, 0, sizeof *m);
    m->faults = *faults;
    m->random = seed;
    const char *text = script ? script : default_script;
    if (sim_script_parse(text, strlen(text), "emulated hand", &parsed, &error) != HR_OK)
        (void)!sim_script_parse(default_script, strlen(default_script), "", &parsed, &error);
    sim_grip grip = {.mass = 0.3, .damping = 15, .stiffness = 500, .tremor = 20e-6};
    sim_hand_init(&m->hand, grip, &parsed, seed);
    m->latency_ms = 16;
    m->position = (vec3){0, 0, centre_z};
    m->was_plugged = true;
}

static double time_of(const falcon_model *m, int64_t now_ns)
{
    return m->is_started ? (double)(now_ns - m->start_ns) * 1e-9 : 0;
}

static bool plugged_at(const falcon_model *m, double t)
{
    const model_faults *f = &m->faults;
    if (f->unplug_at > 0 && t >= f->unplug_at && !(f->replug_at > 0 && t >= f->replug_at))
        return false;
    return !(f->unplug_every > 0 && t > f->unplug_every &&
             fmod(t, f->unplug_every) < f->unplug_for);
}

static void lose_power(falcon_model *m)
{
    m->state = MODEL_RESET;
    m->homed = 0;
    m->has_greeted = false;
    m->command_count = 0;
    memset(m->motors, 0, sizeof m->motors);
    memcpy(m->power_up_angles, m->angles, sizeof m->angles);
}

bool model_is_plugged(falcon_model *m, int64_t now_ns)
{
    bool is_plugged = plugged_at(m, time_of(m, now_ns));
    if (m->was_plugged && !is_plugged) {
        m->unplugs++;
        m->fifo_count = m->answer_count = 0;
        memset(m->motors, 0, sizeof m->motors);
        if (m->faults.loses_firmware)
            lose_power(m);
    }
    m->was_plugged = is_plugged;
    return is_plugged;
}

/* --- mechanism ----------------------------------------------------------------------------------
 */

static void pass_index_marks(falcon_model *m, const double before[3])
{
    const double mark = 35 * M_PI / 180;
    if (m->state != MODEL_RUNNING || !(m->flags & FALCON_HOMING))
        return;
    for (int i = 0; i < 3; i++)
        if ((before[i] - mark) * (m->angles[i] - mark) <= 0)
            m->homed |= (uint8_t)(1u << i);
}

static vec3 stopped(vec3 p)
{
    double radius = hypot(p.x, p.y);
    double factor = radius > 0.045 ? 0.045 / radius : 1;
    return (vec3){factor * p.x, factor * p.y, fmin(fmax(p.z, 0.076), 0.158)};
}

static void move(falcon_model *m, double t, double h)
{
    sim_intent intent;
    sim_hand_intent(&m->hand, t, &intent);
    vec3 base = {m->position.z - centre_z, m->position.x, m->position.y};
    vec3 base_velocity = {m->velocity.z, m->velocity.x, m->velocity.y};
    vec3 hand = sim_grip_force(&m->hand.grip, &intent, base, base_velocity);
    vec3 force = {hand.y, hand.z, hand.x};
    double motor_gain = m->faults.motor_gain > 0 ? m->faults.motor_gain : 10000;
    double torque[3] = {-m->motors[0] / motor_gain, -m->motors[1] / motor_gain,
                        -m->motors[2] / motor_gain};
    vec3 motors;
    bool has_torque = m->motors[0] || m->motors[1] || m->motors[2];
    if (has_torque && arms_force(m->position, torque, &motors))
        force = vec3_add(force, motors);
    force = vec3_add_scaled(force, -friction, m->velocity);
    bool is_loaded = m->faults.payload_kg > 0 && t >= m->faults.payload_at;
    if (is_loaded)
        force.y -= m->faults.payload_kg * 9.81;
    m->velocity = vec3_add_scaled(m->velocity, h / (mass + m->hand.grip.mass), force);
    vec3 next = vec3_add_scaled(m->position, h, m->velocity);
    vec3 inside = stopped(next);
    if (vec3_distance(next, inside) > 0)
        m->velocity = (vec3){0, 0, 0};
    double before[3];
    memcpy(before, m->angles, sizeof before);
    if (arms_angles(inside, m->angles))
        m->position = inside;
    pass_index_marks(m, before);
}

static void advance(falcon_model *m, int64_t now_ns)
{
    if (!m->is_started) {
        m->is_started = true;
        m->start_ns = m->time_ns = now_ns;
        (void)arms_angles(m->position, m->angles);
        memcpy(m->power_up_angles, m->angles, sizeof m->angles);
    }
    /* the mechanism moves in whole milliseconds; a pause of more than ten seconds is cut */
    for (int n = 0; n < 10000 && m->time_ns + 1000000 <= now_ns; n++) {
        m->time_ns += 1000000;
        move(m, time_of(m, m->time_ns), 1e-3);
    }
    if (m->time_ns + 1000000 <= now_ns)
        m->time_ns = now_ns;
}

/* --- processor ----------------------------------------------------------------------------------
 */

static void answer(falcon_model *m, int64_t ready_ns, const uint8_t *bytes, int count)
{
    if (m->answer_count == HR_COUNT(m->answers) || count > (int)sizeof m->answers[0].bytes)
        return; /* an overrun of the chip: lost */
    memcpy(m->answers[m->answer_count].bytes, bytes, (size_t)count);
    m->answers[m->answer_count].count = count;
    m->answers[m->answer_count++].ready_ns = ready_ns;
}

static void deliver(falcon_model *m, int64_t now_ns)
{
    int kept = 0;
    for (int i = 0; i < m->answer_count; i++) {
        if (m->answers[i].ready_ns > now_ns) {
            m->answers[kept++] = m->answers[i];
            continue;
        }
        for (int b = 0; b < m->answers[i].count && m->fifo_count < (int)sizeof m->fifo; b++)
            m->fifo[m->fifo_count++] = m->answers[i].bytes[b];
    }
    m->answer_count = kept;
}

static void make_report(falcon_model *m, uint8_t out[FALCON_PACKET])
{
    falcon_report report = {.homed = m->homed};
    sim_intent intent;
    sim_hand_intent(&m->hand, time_of(m, m->time_ns), &intent);
    report.buttons = (uint8_t)(intent.buttons & 15);
    for (int i = 0; i < 3; i++) {
        int counts = arms_counts(m->angles[i]);
        if (!(m->homed & (1u << i)))
            counts -= arms_counts(m->power_up_angles[i]);
        report.counts[i] = (int16_t)counts;
        if (m->faults.is_frozen && m->has_frozen)
            report.counts[i] = m->frozen_counts[i];
        m->frozen_counts[i] = report.counts[i];
    }
    m->has_frozen = true;
    falcon_encode_report(&report, out);
}

static void exchange(falcon_model *m, int64_t now_ns)
{
    uint8_t report[FALCON_PACKET + 8];
    int16_t values[3];
    uint8_t flags;
    if (!falcon_decode_command(m->command, values, &flags))
        return;
    m->commands++;
    memcpy(m->motors, values, sizeof m->motors);
    m->flags = flags;
    for (int i = 0; i < 3; i++) {
        int size = values[i] < 0 ? -values[i] : values[i];
        m->motor_largest = size > m->motor_largest ? size : m->motor_largest;
        m->pushes_before_homing += size > 0 && m->homed != 7;
    }
    /* 16 bytes each way at 1.5 Mbaud are 107 us each */
    int64_t ready = now_ns + 250000;
    if (happens(m, m->faults.report_lost))
        return;
    if (happens(m, m->faults.report_late))
        ready += 4000000;
    if (happens(m, m->faults.report_garbage))
        answer(m, ready, (const uint8_t *)"AB<A", 4);
    make_report(m, report);
    answer(m, ready, report, happens(m, m->faults.report_runt) ? FALCON_PACKET - 2 : FALCON_PACKET);
}

static unsigned image_word(const falcon_model *m, int word)
{
    return m->image[2 * word] | (unsigned)m->image[2 * word + 1] << 8;
}

/* Has the whole boot table come? */
static bool is_loaded(const falcon_model *m)
{
    int words = m->image_size / 2;
    int at = 11;
    if (words < 12 || image_word(m, 0) != 0x08aa)
        return false;
    while (at < words) {
        int count = (int)image_word(m, at);
        if (count == 0)
            return true;
        at += 3 + count;
    }
    return false;
}

static void take_byte(falcon_model *m, int64_t now_ns, uint8_t byte)
{
    static const uint8_t hello[3] = {0x0a, 0x43, 0x0d};
    static const uint8_t welcome[5] = {0x00, 0x0a, 0x44, 0x2c, 0x0d};
    if (m->state == MODEL_RUNNING) {
        if (m->divisor != FTDI_DIVISOR_RUN)
            return;
        if (m->command_count == 0 && byte != '<')
            return;
        m->command[m->command_count++] = byte;
        if (m->command_count == FALCON_PACKET) {
            m->command_count = 0;
            exchange(m, now_ns);
        }
    } else if (m->state == MODEL_RESET && m->divisor == FTDI_DIVISOR_9600 && m->has_dtr) {
        m->command_count = byte == hello[m->command_count] ? m->command_count + 1 : 0;
        if (m->command_count < 3)
            return;
        m->command_count = 0;
        if (happens(m, m->faults.greeting_lost) || (m->faults.greets_once && m->has_greeted))
            return;
        m->has_greeted = true;
        int skip = m->faults.greets_with_zero ? 0 : 1;
        answer(m, now_ns + 5000000, welcome + skip, 5 - skip);
        m->state = MODEL_GREETED;
    } else if (m->state == MODEL_GREETED && m->divisor == FTDI_DIVISOR_LOADER && byte == 0x41) {
        answer(m, now_ns + 200000, &byte, 1);
        m->state = MODEL_LOADING;
        m->image_size = 0;
    } else if (m->state == MODEL_LOADING && m->divisor == FTDI_DIVISOR_LOADER) {
        if (m->image_size < (int)sizeof m->image)
            m->image[m->image_size++] = byte;
        uint8_t echo = happens(m, m->faults.echo_wrong) ? (uint8_t)(byte ^ 0x10) : byte;
        if (!happens(m, m->faults.echo_lost) && m->fifo_count < (int)sizeof m->fifo)
            m->fifo[m->fifo_count++] = echo;
        if (is_loaded(m)) {
            m->state = MODEL_RUNNING;
            m->uploads++;
            m->homed = 0;
            m->command_count = 0;
            memcpy(m->power_up_angles, m->angles, sizeof m->angles);
        }
    }
}

/* --- FTDI ---------------------------------------------------------------------------------------
 */

int model_open(falcon_model *m, int64_t now_ns)
{
    advance(m, now_ns);
    if (!model_is_plugged(m, now_ns))
        return HR_ERR_NOT_FOUND;
    if (m->faults.refused_opens > 0) {
        m->faults.refused_opens--;
        return HR_ERR_BUSY;
    }
    if (m->faults.has_stale_bytes)
        for (int i = 0; i < 50; i++)
            m->fifo[m->fifo_count++ % (int)sizeof m->fifo] =
                (uint8_t)("<ABCDAAAAAAAAAAAA>"[i % 17]);
    if (m->fifo_count > (int)sizeof m->fifo)
        m->fifo_count = (int)sizeof m->fifo;
    return HR_OK;
}

int model_control(falcon_model *m, int64_t now_ns, int request, int value)
{
    advance(m, now_ns);
    if (!model_is_plugged(m, now_ns))
        return HR_ERR_LOST;
    if (happens(m, m->faults.control_fails))
        return HR_ERR_IO;
    if (request == FTDI_RESET) {
        m->fifo_count = 0;
    } else if (request == FTDI_LATENCY) {
        m->latency_ms = value;
    } else if (request == FTDI_DIVISOR) {
        m->divisor = value;
    } else if (request == FTDI_EVENT_CHARACTER) {
        m->has_event_character = (value & 0x100) != 0;
    } else if (request == FTDI_MODEM && (value & 0x0100)) {
        bool is_high = value & 1;
        /* a rising edge at the slow speed resets the processor into its loader */
        if (is_high && !m->has_dtr && m->divisor == FTDI_DIVISOR_9600)
            lose_power(m);
        m->has_dtr = is_high;
    }
    return HR_OK;
}

int model_out(falcon_model *m, int64_t now_ns, const uint8_t *bytes, int count)
{
    advance(m, now_ns);
    if (!model_is_plugged(m, now_ns))
        return HR_ERR_LOST;
    double t = time_of(m, now_ns) - m->faults.hang_at;
    bool is_hung = m->faults.hang_for > 0 && t >= 0 && t < m->faults.hang_for;
    if (m->faults.is_unpowered || is_hung)
        return HR_OK;
    for (int i = 0; i < count; i++)
        take_byte(m, now_ns, bytes[i]);
    return HR_OK;
}

void model_clear_halt(falcon_model *m)
{
    m->is_halted = false;
}

int model_in(falcon_model *m, int64_t now_ns, int64_t submit_ns, uint8_t *bytes, int capacity)
{
    advance(m, now_ns);
    deliver(m, now_ns);
    int space = capacity < FALCON_USB_PACKET ? capacity - 2 : FALCON_USB_PACKET - 2;
    bool is_full = m->fifo_count >= space;
    bool is_flushed =
        m->has_event_character && m->fifo_count > 0 && m->fifo[m->fifo_count - 1] == '>';
    if (!is_full && !is_flushed && now_ns < submit_ns + m->latency_ms * 1000000LL)
        return m->is_halted ? MODEL_STALLED : MODEL_NOT_DUE;
    if (!m->is_halted && happens(m, m->faults.in_stalls)) {
        m->is_halted = true;
        m->stalls++;
    }
    if (m->is_halted)
        return MODEL_STALLED;
    int count = m->fifo_count < space ? m->fifo_count : space;
    bytes[0] = 0x01;
    bytes[1] = 0x60;
    memcpy(bytes + 2, m->fifo, (size_t)count);
    memmove(m->fifo, m->fifo + count, (size_t)(m->fifo_count - count));
    m->fifo_count -= count;
    return count + 2;
}

int model_make_firmware(uint8_t *out, int size, uint64_t seed)
{
    int words = size / 2;
    memset(out, 0, (size_t)size);
    unsigned head[11] = {0x08aa, 0, 0, 0, 0, 0, 0, 0, 0, 0x003f, 0x8002};
    int at = 0;
    for (; at < 11; at++) {
        out[2 * at] = (uint8_t)head[at];
        out[2 * at + 1] = (uint8_t)(head[at] >> 8);
    }
    while (at + 5 < words) { /* blocks of up to 100 words, one word for the end */
        int count = words - at - 4 < 100 ? words - at - 4 : 100;
        unsigned block[3] = {(unsigned)count, 0x003f, 0x8000};
        for (int i = 0; i < 3; i++, at++) {
            out[2 * at] = (uint8_t)block[i];
            out[2 * at + 1] = (uint8_t)(block[i] >> 8);
        }
        for (int i = 0; i < count; i++, at++) {
            uint64_t r = sim_random(&seed);
            out[2 * at] = (uint8_t)r;
            out[2 * at + 1] = (uint8_t)(r >> 8);
        }
    }
    out[2 * at] = out[2 * at + 1] = 0;
    return 2 * (at + 1);
}
