#include "tests/test.h"

#include <string.h>
#include <unistd.h>

#include "server/board.h"

typedef struct fixture {
    board_host host;
    char path[128];
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    hr_error error = {""};
    snprintf(f->path, sizeof f->path, "/tmp/hapticd-test-board-%d", (int)getpid());
    assert_int_equal(board_open(&f->host, f->path, 1000000, &error), HR_OK);
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    fixture *f = *state;
    board_close(&f->host);
    assert_int_not_equal(access(f->host.path, F_OK), 0);
    free(f);
    return 0;
}

/* As a client reads it. */
static board_state shown(const fixture *f, int hand)
{
    board_state s;
    const board_slot *slot = &f->host.shared->states[hand];
    assert_int_equal(slot->sequence & 1, 0);
    memcpy(&s, slot->words, sizeof s);
    return s;
}

/* As a client writes it; an odd number says that it has not finished. */
static void write_order(const fixture *f, const board_command *command, uint64_t sequence)
{
    board_order *order = &f->host.shared->orders[1];
    memcpy(order->words, command, sizeof *command);
    order->sequence = sequence;
}

static void a_tick_is_shown_to_clients(void **state)
{
    fixture *f = *state;
    tick_record r = {.tick = 7, .hand = 1, .reasons = 5, .read_status = HR_OK, .force = {1, 2, 3}};
    r.sample.valid = DEVICE_HAS_POSITION | DEVICE_HAS_BUTTONS;
    r.sample.position = (vec3){0.01, 0.02, 0.03};
    r.sample.buttons = 5;

    board_publish(&f->host, &r);

    board_state s = shown(f, 1);
    assert_int_equal(s.tick, 7);
    assert_int_equal(s.buttons, 5);
    assert_int_equal(s.reasons, 5);
    assert_int_equal(s.valid, DEVICE_HAS_POSITION | DEVICE_HAS_BUTTONS);
    assert_true(s.position[2] == 0.03 && s.force[2] == 3);
}

/* A read that fails never teleports the tool to the origin: the pose stays, its validity goes. */
static void a_failed_read_keeps_the_pose_and_clears_its_validity(void **state)
{
    fixture *f = *state;
    tick_record r = {.tick = 8, .hand = 1, .read_status = HR_ERR_LOST};
    r.sample.valid = DEVICE_HAS_POSITION;
    r.sample.position = (vec3){0.01, 0.02, 0.03};

    board_publish(&f->host, &r);

    board_state s = shown(f, 1);
    assert_int_equal(s.valid, 0);
    assert_true(s.position[0] == 0.01 && s.position[1] == 0.02 && s.position[2] == 0.03);
}

static void a_command_is_taken_once_and_its_deadline_is_cut(void **state)
{
    fixture *f = *state;
    servo_command c = {0};
    write_order(f, &(board_command){3, INT64_MAX, {1, 2, 3}}, 2);

    assert_true(board_take(&f->host, 1, 1000, 50, &c));
    assert_int_equal(c.kind, COMMAND_CLIENT_FORCE);
    assert_int_equal(c.client, 3);
    assert_int_equal(c.hand, 1);
    assert_int_equal(c.deadline_ns, 1050);
    assert_true(c.values[0] == 1 && c.values[1] == 2 && c.values[2] == 3);
    assert_false(board_take(&f->host, 1, 1000, 50, &c));
    assert_false(board_take(&f->host, 0, 1000, 50, &c));
    write_order(f, &(board_command){3, 1020, {1, 2, 3}}, 4);
    assert_true(board_take(&f->host, 1, 1000, 50, &c));
    assert_int_equal(c.deadline_ns, 1020);
}

static void what_is_half_written_or_nobodys_is_left_alone(void **state)
{
    fixture *f = *state;
    servo_command c = {0};
    write_order(f, &(board_command){3, 1020, {1, 2, 3}}, 3);
    assert_false(board_take(&f->host, 1, 1000, 50, &c));
    write_order(f, &(board_command){0, 1020, {1, 2, 3}}, 4);
    assert_false(board_take(&f->host, 1, 1000, 50, &c));
    write_order(f, &(board_command){3, 0, {1, 2, 3}}, 6);
    assert_false(board_take(&f->host, 1, 1000, 50, &c));
    /* 2^32 + 3 is not client 3 */
    write_order(f, &(board_command){(1ull << 32) + 3, 1020, {1, 2, 3}}, 8);
    assert_false(board_take(&f->host, 1, 1000, 50, &c));
}

static void everybody_sees_who_holds_the_lease(void **state)
{
    fixture *f = *state;
    const uint64_t *holders = f->host.shared->holders;
    board_lease(&f->host, 1, &(servo_command){.client = 3, .values = {1}});
    assert_int_equal(holders[1], 3);
    assert_int_equal(holders[0], 0);
    board_lease(&f->host, 1, &(servo_command){.client = 4, .values = {1}});
    board_lease(&f->host, 1, &(servo_command){.client = 3, .values = {0}}); /* no longer its own */
    assert_int_equal(holders[1], 4);
    board_lease(&f->host, 1, &(servo_command){.client = 4, .values = {0}});
    assert_int_equal(holders[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tick_is_shown_to_clients, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(a_failed_read_keeps_the_pose_and_clears_its_validity,
                                        make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(a_command_is_taken_once_and_its_deadline_is_cut,
                                        make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(what_is_half_written_or_nobodys_is_left_alone, make_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(everybody_sees_who_holds_the_lease, make_fixture,
                                        free_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
