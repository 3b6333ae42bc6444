/* threads: a producer and a consumer hammer one ring. */
#include "tests/test.h"

#include <pthread.h>
#include <sched.h>

#include "server/ring.h"

/* Every word of a record says its number, so that a record written by halves shows. */
enum { WORDS = 27 }; /* 216 bytes: more than three cache lines, not a multiple of one */

typedef struct record {
    uint64_t words[WORDS];
} record;

static void record_fill(record *r, uint64_t number)
{
    for (int i = 0; i < WORDS; i++)
        r->words[i] = number * 31 + (uint64_t)i;
}

/* Its number, or UINT64_MAX where the words do not belong together. */
static uint64_t record_number(const record *r)
{
    uint64_t number = r->words[0] / 31;
    for (int i = 0; i < WORDS; i++)
        if (r->words[i] != number * 31 + (uint64_t)i)
            return UINT64_MAX;
    return number;
}

static void records_come_out_in_the_order_they_went_in(void **state)
{
    (void)state;
    ring r;
    assert_int_equal(ring_init(&r, 4, sizeof(int)), HR_OK);
    int out = -1;

    assert_false(ring_pop(&r, &out));
    /* 3 in and 3 out, 1000 times: the positions go round the ring 750 times */
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 3; k++)
            assert_true(ring_push(&r, &(int){3 * i + k}));
        assert_int_equal(ring_waiting(&r), 3);
        for (int k = 0; k < 3; k++) {
            assert_true(ring_pop(&r, &out));
            assert_int_equal(out, 3 * i + k);
        }
    }

    assert_int_equal(ring_dropped(&r), 0);
    assert_int_equal(ring_skipped(&r), 0);
    ring_destroy(&r);
}

static void a_full_ring_keeps_the_old_records_and_counts_the_new(void **state)
{
    (void)state;
    ring r;
    assert_int_equal(ring_init(&r, 8, sizeof(int)), HR_OK);

    for (int i = 0; i < 8; i++)
        assert_true(ring_push(&r, &i));
    for (int i = 8; i < 13; i++)
        assert_false(ring_push(&r, &i));

    assert_int_equal(ring_dropped(&r), 5);
    int out;
    for (int i = 0; i < 8; i++) {
        assert_true(ring_pop(&r, &out));
        assert_int_equal(out, i);
    }
    assert_false(ring_pop(&r, &out));
    assert_true(ring_push(&r, &(int){99}));
    assert_true(ring_pop(&r, &out));
    assert_int_equal(out, 99);
    ring_destroy(&r);
}

static void taking_the_latest_passes_over_the_rest(void **state)
{
    (void)state;
    ring r;
    assert_int_equal(ring_init(&r, 8, sizeof(int)), HR_OK);
    int out = -1;

    assert_false(ring_take_latest(&r, &out));
    for (int i = 0; i < 6; i++)
        assert_true(ring_push(&r, &i));
    assert_true(ring_take_latest(&r, &out));

    assert_int_equal(out, 5);
    assert_int_equal(ring_skipped(&r), 5);
    assert_false(ring_take_latest(&r, &out));
    assert_int_equal(ring_waiting(&r), 0);
    ring_destroy(&r);
}

static void a_reserved_slot_is_invisible_until_it_is_committed(void **state)
{
    (void)state;
    ring r;
    assert_int_equal(ring_init(&r, 2, sizeof(int)), HR_OK);

    int *slot = ring_reserve(&r);
    assert_non_null(slot);
    *slot = 7;
    assert_null(ring_peek(&r));
    assert_null(ring_peek_latest(&r));
    assert_ptr_equal(ring_reserve(&r), slot);
    ring_commit(&r);

    assert_int_equal(*(const int *)ring_peek(&r), 7);
    /* not released yet: the slot is still the consumer's */
    assert_true(ring_push(&r, &(int){8}));
    assert_null(ring_reserve(&r));
    ring_release(&r);
    assert_non_null(ring_reserve(&r));
    assert_int_equal(*(const int *)ring_peek(&r), 8);
    ring_destroy(&r);
}

static void capacities_round_up_and_nonsense_is_refused(void **state)
{
    (void)state;
    ring r;
    assert_int_equal(ring_init(&r, 5, 1), HR_OK);
    assert_int_equal(r.capacity, 8);
    ring_destroy(&r);
    assert_int_equal(ring_init(&r, 0, 1), HR_OK);
    assert_int_equal(r.capacity, 2);
    ring_destroy(&r);

    assert_int_equal(ring_init(&r, 4, 0), HR_ERR_ARGUMENT);
    assert_int_equal(ring_init(&r, UINT64_MAX, 8), HR_ERR_ARGUMENT);
    ring nothing = {0};
    ring_destroy(&nothing);
}

/* --- two threads ------------------------------------------------------------------------------ */

typedef struct stress {
    ring r;
    uint64_t offered; /* records that the producer tries to push */
    _Atomic bool is_done;
    bool by_latest; /* consumer takes the latest, or one by one */
    /* results */
    uint64_t pushed, taken, torn, out_of_order;
} stress;

static void *produce(void *argument)
{
    stress *s = argument;
    uint64_t pushed = 0;
    for (uint64_t i = 0; i < s->offered; i++) {
        record *slot = ring_reserve(&s->r);
        if (slot) {
            record_fill(slot, i);
            ring_commit(&s->r);
            pushed++;
        }
        if (i % 64 == 63)
            sched_yield(); /* on one core both sides get a turn */
    }
    s->pushed = pushed;
    atomic_store_explicit(&s->is_done, true, memory_order_release);
    return NULL;
}

static void consume(stress *s)
{
    uint64_t last = 0;
    bool is_first = true;
    for (;;) {
        bool is_done = atomic_load_explicit(&s->is_done, memory_order_acquire);
        const record *slot = s->by_latest ? ring_peek_latest(&s->r) : ring_peek(&s->r);
        if (!slot && is_done)
            return;
        if (!slot) {
            sched_yield();
            continue;
        }
        uint64_t number = record_number(slot);
        s->torn += number == UINT64_MAX;
        s->out_of_order += !is_first && number <= last;
        last = number;
        is_first = false;
        s->taken++;
        ring_release(&s->r);
    }
}

static void hammer(uint64_t capacity, bool by_latest)
{
    stress *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_int_equal(ring_init(&s->r, capacity, sizeof(record)), HR_OK);
    s->offered = (uint64_t)test_effort(400000);
    s->by_latest = by_latest;
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, s), 0);

    consume(s);
    pthread_join(producer, NULL);

    print_message("capacity %llu: %llu offered, %llu dropped, %llu taken, %llu passed over\n",
                  (unsigned long long)s->r.capacity, (unsigned long long)s->offered,
                  (unsigned long long)ring_dropped(&s->r), (unsigned long long)s->taken,
                  (unsigned long long)ring_skipped(&s->r));
    assert_int_equal(s->torn, 0);
    assert_int_equal(s->out_of_order, 0);
    /* nothing is lost without being counted */
    assert_int_equal(s->pushed + ring_dropped(&s->r), s->offered);
    assert_int_equal(s->taken + ring_skipped(&s->r), s->pushed);
    ring_destroy(&s->r);
    free(s);
}

static void no_record_is_torn_or_lost_between_two_threads(void **state)
{
    (void)state;
    hammer(2, false);
    hammer(64, false);
}

static void the_latest_record_is_never_torn_between_two_threads(void **state)
{
    (void)state;
    hammer(2, true);
    hammer(64, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_out_in_the_order_they_went_in),
        cmocka_unit_test(a_full_ring_keeps_the_old_records_and_counts_the_new),
        cmocka_unit_test(taking_the_latest_passes_over_the_rest),
        cmocka_unit_test(a_reserved_slot_is_invisible_until_it_is_committed),
        cmocka_unit_test(capacities_round_up_and_nonsense_is_refused),
        cmocka_unit_test(no_record_is_torn_or_lost_between_two_threads),
        cmocka_unit_test(the_latest_record_is_never_torn_between_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
