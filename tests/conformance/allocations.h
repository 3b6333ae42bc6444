/* Counts what the calling thread allocates, by standing in front of the C library's allocator.
 * Under a sanitizer, which has its own, the count stays zero. */
#ifndef TESTS_CONFORMANCE_ALLOCATIONS_H
#define TESTS_CONFORMANCE_ALLOCATIONS_H

long allocations_of_this_thread(void);

#endif
