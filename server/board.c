#include "server/board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

hr_status board_open(board_host *b, const char *socket_path, int64_t period_ns, hr_error *error)
{
    memset(b, 0, sizeof *b);
    snprintf(b->path, sizeof b->path, "%.580s.board", socket_path);
    (void)unlink(b->path); /* of a server that was killed; the socket says whether one lives */
    int fd = open(b->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    void *memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof(board)) == 0)
        memory =
            mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    int code = errno;
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be shared, got: %s",
                         b->path, strerror(code));
    b->shared = memory;
    b->shared->version = BOARD_VERSION;
    b->shared->size = sizeof(board);
    b->shared->period_ns = period_ns;
    b->shared->is_open = 1;
    __atomic_store_n(&b->shared->magic, BOARD_MAGIC, __ATOMIC_RELEASE);
    return HR_OK;
}

void board_add_device(board_host *b, int hand, const char *name, const device_description *about)
{
    if (!b->shared || hand < 0 || hand >= BOARD_HANDS)
        return;
    board_device *d = &b->shared->devices[hand];
    snprintf(d->name, sizeof d->name, "%s", name);
    memcpy(d->model, about->model, sizeof d->model);
    memcpy(d->manufacturer, about->manufacturer, sizeof d->manufacturer);
    memcpy(d->serial, about->serial, sizeof d->serial);
    d->max_force = about->max_force;
    d->max_stiffness = about->max_stiffness;
    d->max_damping = about->max_damping;
    d->workspace_radius = about->workspace_radius;
    d->position_resolution = about->position_resolution;
    d->button_count = (uint64_t)about->button_count;
    d->senses_rotation = about->senses_rotation;
    d->senses_gripper = about->senses_gripper;
    d->actuates_position = about->actuates_position;
    d->actuates_rotation = about->actuates_rotation;
    d->actuates_gripper = about->actuates_gripper;
    d->has_motors = about->has_motors;
    d->is_present = 1;
    if (b->shared->hand_count < (uint64_t)hand + 1)
        b->shared->hand_count = (uint64_t)hand + 1;
}

void board_close(board_host *b)
{
    if (!b->shared)
        return;
    __atomic_store_n(&b->shared->is_open, 0, __ATOMIC_RELEASE);
    (void)unlink(b->path);
    munmap(b->shared, sizeof(board));
    b->shared = NULL;
}

HR_RT static void put(double *out, vec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

HR_RT void board_publish(board_host *b, const tick_record *r)
{
    if (!b->shared || r->hand >= BOARD_HANDS)
        return;
    const device_sample *s = &r->sample;
    board_state now = {.tick = r->tick,
                       .time_ns = r->time_ns,
                       .rotation = {s->rotation.w, s->rotation.x, s->rotation.y, s->rotation.z},
                       .gripper_angle = s->gripper_angle,
                       .gripper_speed = s->gripper_speed,
                       .buttons = s->buttons,
                       .valid = r->read_status == HR_OK ? s->valid : 0,
                       .flags = s->flags,
                       .reasons = r->reasons,
                       .state = r->state};
    put(now.position, s->position);
    put(now.velocity, s->velocity);
    put(now.angular_velocity, s->angular_velocity);
    put(now.proxy, r->proxy);
    put(now.tool, r->tool);
    put(now.force, r->force);
    uint64_t words[BOARD_STATE_WORDS];
    memcpy(words, &now, sizeof words);
    board_slot *slot = &b->shared->states[r->hand];
    uint64_t sequence = __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->sequence, sequence + 1, __ATOMIC_RELAXED);
    for (int i = 0; i < BOARD_STATE_WORDS; i++)
        __atomic_store_n(&slot->words[i], words[i], __ATOMIC_RELEASE);
    __atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
}

HR_RT void board_lease(board_host *b, int hand, const servo_command *command)
{
    if (!b->shared || hand >= BOARD_HANDS)
        return;
    uint64_t *holder = &b->shared->holders[hand];
    if (command->values[0] > 0)
        __atomic_store_n(holder, command->client, __ATOMIC_RELEASE);
    else if (__atomic_load_n(holder, __ATOMIC_RELAXED) == command->client)
        __atomic_store_n(holder, 0, __ATOMIC_RELEASE);
}

HR_RT bool board_take(board_host *b, int hand, int64_t now_ns, int64_t hold_ns, servo_command *out)
{
    if (!b->shared || hand >= BOARD_HANDS)
        return false;
    board_order *order = &b->shared->orders[hand];
    uint64_t before = __atomic_load_n(&order->sequence, __ATOMIC_ACQUIRE);
    if (before == b->seen[hand] || before & 1)
        return false;
    uint64_t words[BOARD_COMMAND_WORDS];
    for (int i = 0; i < BOARD_COMMAND_WORDS; i++)
        words[i] = __atomic_load_n(&order->words[i], __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&order->sequence, __ATOMIC_RELAXED) != before)
        return false; /* torn: the next tick gets it */
    b->seen[hand] = before;
    board_command c;
    memcpy(&c, words, sizeof c);
    int64_t latest = now_ns + hold_ns;
    *out = (servo_command){.kind = COMMAND_CLIENT_FORCE,
                           .hand = (uint32_t)hand,
                           .client = (uint32_t)c.client,
                           .deadline_ns = c.deadline_ns < latest ? c.deadline_ns : latest,
                           .values = {c.force[0], c.force[1], c.force[2]}};
    return c.client != 0 && c.client <= UINT32_MAX && c.deadline_ns > 0;
}
