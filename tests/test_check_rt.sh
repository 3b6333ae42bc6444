#!/bin/sh
# Plants violations of the real-time rules; tests/check-rt.sh must refuse every one, by name, and
# accept what is clean.
here=$(dirname "$0"); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
flags="-std=c17 -O2 -fno-jump-tables -fno-math-errno -D_GNU_SOURCE -I$here/.. -w"
head='#include "geometry/base.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
'
compiler=gcc
compile() { printf '%s%s\n' "$head" "$2" > "$work/$1.c" && $compiler $flags -c -o "$work/$1.o" "$work/$1.c"; }
refused() { # name, piece of the message, code
    compile "$1" "$3" || { echo "not ok $compiler $1: does not compile"; return; }
    if "$here/check-rt.sh" "$work/allow" "$work/$1.o" "$work/clean.o" > "$work/out" 2>&1
    then echo "not ok $compiler $1: accepted"
    elif grep -qF -- "$2" "$work/out"; then echo "ok $compiler $1"
    else echo "not ok $compiler $1: expected '$2', got: $(cat "$work/out")"; fi
}
printf 'memcpy # bounded\nsqrt\nclock_nanosleep # the sleep\nindirect exchange # a driver\n' > "$work/allow"

for compiler in gcc clang; do
command -v $compiler > /dev/null || continue
compile clean 'double lower(double x); HR_RT double lower(double x) { return sqrt(x) + 1; }
HR_RT static __attribute__((noinline)) double local(double x) { return lower(x) * 2; }
typedef int (*driver)(void *); int exchange(driver d, void *p);
HR_RT int exchange(driver d, void *p) { return d(p) + 1; }
double clean(double x, void *to, const void *from, size_t n);
HR_RT double clean(double x, void *to, const void *from, size_t n) { memcpy(to, from, n); return local(x); }'
if "$here/check-rt.sh" "$work/allow" "$work/clean.o" > "$work/out" 2>&1
then echo "ok $compiler clean_code_is_accepted"; else echo "not ok $compiler clean_code_is_accepted: $(cat "$work/out")"; fi

refused allocation "tick: calls malloc, which is not HR_RT" \
    'void *tick(size_t n); HR_RT void *tick(size_t n) { char *p = malloc(n); if (p) p[0] = 1; return p; }'
refused tail_call "tick: calls free" 'void tick(void *p); HR_RT void tick(void *p) { free(p); }'
refused mutex "tick: calls pthread_mutex_lock" \
    'void tick(pthread_mutex_t *m); HR_RT void tick(pthread_mutex_t *m) { pthread_mutex_lock(m); m->__data.__count = 7; }'
refused printing "tick: calls " 'void tick(int n); HR_RT void tick(int n) { printf("%d of %d\n", n, n); }'
refused relative_sleep "tick: calls usleep" 'void tick(void); HR_RT void tick(void) { usleep(1); }'
refused unmarked_function "tick: calls helper" \
    '__attribute__((noinline)) void helper(int *p) { *p += 1; }
     void tick(int *p); HR_RT void tick(int *p) { helper(p); *p += 1; }'
refused unmarked_static_function "tick: calls .text" \
    '__attribute__((noinline)) static void helper(volatile int *p) { *p += 1; *p *= 3; }
     void tick(int *p); HR_RT void tick(int *p) { helper(p); *p += 1; }'
refused function_pointer "tick: indirect call" \
    'int tick(int (*f)(int)); HR_RT int tick(int (*f)(int)) { return f(1) + 1; }'
refused function_pointer_tail_call "tick: indirect call" \
    'int tick(int (*f)(int)); HR_RT int tick(int (*f)(int)) { return f(1); }'
refused system_call_instruction "tick: system call" \
    'long tick(void); HR_RT long tick(void) { long r = 39; __asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory"); return r; }'
refused call_on_a_branch "tick: calls abort" \
    'int tick(int n); HR_RT int tick(int n) { if (n < 0) abort(); return n + 1; }'
refused pointer_called_outside_the_named_function "tick: indirect call" \
    'extern int (*table[4])(void *); int tick(int n, void *p); HR_RT int tick(int n, void *p) { return table[n & 3](p) + 1; }'
# "local" is a real-time function of clean.o, but a static one: no excuse for another object
refused namesake_of_a_static_function "tick: calls local" \
    'double local(double x); double tick(double x); HR_RT double tick(double x) { return local(x) + 1; }'
done

printf 'int nothing;\n' > "$work/empty.c"; gcc -c -o "$work/empty.o" "$work/empty.c"
if "$here/check-rt.sh" "$work/allow" "$work/empty.o" > /dev/null 2>&1
then echo "not ok objects_without_real_time_code: accepted"; else echo "ok objects_without_real_time_code"; fi
exit 0
