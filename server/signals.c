/* A fault in our own code must not leave a force on the device. */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "server/server.h"

enum {
    WAIT_MS = 500 /* for the servo to let go of the devices, when another thread has failed */
};

static server *_Atomic guarded;

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* Async-signal-safe: drivers' writes are HR_RT, so they neither lock nor allocate. In the servo's
 * own thread the devices are ours; in another thread the servo still runs and is asked to stop. */
static void on_fatal(int number)
{
    server *s = atomic_exchange(&guarded, NULL);
    if (s && s->has_servo_thread && pthread_equal(pthread_self(), s->servo_thread)) {
        servo_emergency(&s->servo);
    } else if (s) {
        servo_stop(&s->servo);
        struct timespec millisecond = {0, 1000000};
        for (int i = 0; i < WAIT_MS && server_is_running(s); i++)
            nanosleep(&millisecond, NULL);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void server_guard_signals(server *s)
{
    atomic_store(&guarded, s);
    struct sigaction action = {.sa_handler = s ? on_fatal : SIG_DFL};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_NODEFER;
    for (int i = 0; i < HR_COUNT(fatal_signals); i++)
        sigaction(fatal_signals[i], &action, NULL);
}
