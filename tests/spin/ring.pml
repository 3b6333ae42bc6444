/* The ring of server/ring.h with its two threads interleaved in every possible way: no record is
 * torn, none comes twice or out of order, none is lost without being counted. Spin knows no memory
 * orders; a store that is visible too early is one of the planted mistakes (BUG), and TSan looks at
 * the real code.
 *
 *   BUG 1: the commit becomes visible before the record is complete (no release order)
 *   BUG 2: the slot is given back before it has been read
 *   BUG 3: one record too many before the ring counts as full
 *   BUG 4: the latest is taken without counting what was passed over
 *   BUG 5: the double buffer: the producer never looks whether the consumer reads */
#ifndef BUG
#define BUG 0
#endif
#define CAPACITY 2
#define OFFERED  6

byte head, tail;          /* producer stores head, consumer stores tail */
byte first[CAPACITY];     /* a record is two words */
byte second[CAPACITY];
byte dropped, skipped, taken;
bool is_done;

active proctype producer()
{
    byte number = 1, own_head = 0, tail_seen = 0;
    do
    :: number <= OFFERED ->
        if
        :: own_head - tail_seen >= CAPACITY -> tail_seen = tail
        :: else -> skip
        fi;
        if
#if BUG == 3
        :: own_head - tail_seen > CAPACITY -> dropped++
#elif BUG == 5
        :: false -> skip
#else
        :: own_head - tail_seen >= CAPACITY -> dropped++
#endif
        :: else ->
            first[own_head % CAPACITY] = number;
#if BUG == 1
            own_head++;
            head = own_head;
            second[(own_head - 1) % CAPACITY] = number
#else
            second[own_head % CAPACITY] = number;
            own_head++;
            head = own_head
#endif
        fi;
        number++
    :: else -> break
    od;
    is_done = true
}

active proctype consumer()
{
    byte own_tail = 0, head_seen = 0, at, x, y, last = 0;
    bool was_done;
    do
    :: true ->
        was_done = is_done;
        head_seen = head;
        if
        :: own_tail == head_seen && was_done -> break
        :: own_tail == head_seen && !was_done -> skip
        :: own_tail != head_seen ->
            if
            :: at = own_tail            /* one by one */
            :: at = head_seen - 1;      /* or only the newest */
#if BUG != 4
                skipped = skipped + (at - own_tail);
#endif
                own_tail = at;
                tail = own_tail
            fi;
#if BUG == 2
            own_tail++;
            tail = own_tail;
            x = first[at % CAPACITY];
            y = second[at % CAPACITY];
#else
            x = first[at % CAPACITY];
            y = second[at % CAPACITY];
            own_tail++;
            tail = own_tail;
#endif
            assert(x == y);             /* not torn */
            assert(x > last);           /* in order, never twice */
            last = x;
            taken++
        fi
    od;
    assert(taken + skipped + dropped == OFFERED)    /* all accounted for */
}
