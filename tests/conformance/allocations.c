#include "tests/conformance/allocations.h"

#include <stdlib.h>

static _Thread_local long count;

long allocations_of_this_thread(void)
{
    return count;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#ifndef HAS_SANITIZER
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *old);

void *malloc(size_t size)
{
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count++;
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    count++;
    return __libc_realloc(old, size);
}

void free(void *old)
{
    count++;
    __libc_free(old);
}
#endif
