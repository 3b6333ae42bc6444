#include "server/realtime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    STACK_BYTES = 2 << 20,  /* the thread sanitizer alone puts 0.8 MB there */
    TOUCH_BYTES = 192 << 10 /* of the stack; the servo needs a tenth of it */
};

void realtime_lock_memory(realtime_state *s)
{
    /* freed memory stays ours, and big blocks come from the heap: no later mmap, no page fault */
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_MMAP_MAX, 0);
    s->has_locked_memory = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    s->lock_error = s->has_locked_memory ? 0 : errno;
}

int realtime_highest_cpu(const char *list)
{
    int highest = -1;
    while (*list) {
        char *end;
        long number = strtol(list, &end, 10);
        if (end == list)
            break;
        if (number >= 0 && number < CPU_SETSIZE && number > highest)
            highest = (int)number;
        list = *end == ',' || *end == '-' ? end + 1 : end;
    }
    return highest;
}

static bool read_text(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t used = fread(out, 1, size - 1, file);
    out[used] = '\0';
    fclose(file);
    return true;
}

void realtime_choose_cpu(realtime_state *s, int wanted)
{
    char list[256] = "";
    s->cpu = wanted;
    s->cpu_is_isolated = false;
    int isolated = -1;
    if (read_text("/sys/devices/system/cpu/isolated", list, sizeof list))
        isolated = realtime_highest_cpu(list);
    if (wanted < 0)
        s->cpu = isolated;
    s->cpu_is_isolated = isolated >= 0 && (wanted < 0 || wanted == isolated);
}

void realtime_hold_latency(realtime_state *s)
{
    s->latency_fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
    if (s->latency_fd < 0)
        return;
    int32_t microseconds = 0;
    if (write(s->latency_fd, &microseconds, sizeof microseconds) != sizeof microseconds) {
        close(s->latency_fd);
        s->latency_fd = -1;
    }
}

void realtime_release(realtime_state *s)
{
    if (s->latency_fd >= 0)
        close(s->latency_fd);
    s->latency_fd = -1;
    munlockall();
}

static int start(const realtime_state *s, int priority, void *(*run)(void *), void *argument,
                 pthread_t *out)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (priority > 0) {
        struct sched_param parameters = {.sched_priority = priority};
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &parameters);
    }
    if (s && s->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)s->cpu, &set);
        pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    int error = pthread_create(out, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

hr_status realtime_start(realtime_state *s, int priority, void *(*run)(void *), void *argument,
                         pthread_t *out)
{
    s->priority = priority;
    s->fifo_error = start(s, priority, run, argument, out);
    if (s->fifo_error == EINVAL && s->cpu >= 0) { /* no such CPU: run anywhere */
        s->cpu = -1;
        s->cpu_is_isolated = false;
        s->fifo_error = start(s, priority, run, argument, out);
    }
    s->has_fifo = s->fifo_error == 0;
    if (s->has_fifo)
        return HR_OK;
    return start(s, 0, run, argument, out) == 0 ? HR_OK : HR_ERR_IO;
}

hr_status realtime_start_normal(void *(*run)(void *), void *argument, pthread_t *out)
{
    return start(NULL, 0, run, argument, out) == 0 ? HR_OK : HR_ERR_IO;
}

void realtime_touch_stack(void)
{
    volatile char room[TOUCH_BYTES];
    for (size_t i = 0; i < sizeof room; i += 1024)
        room[i] = 1;
    (void)room[sizeof room - 1024];
}

bool realtime_has_capability(int number)
{
    char text[4096];
    if (!read_text("/proc/self/status", text, sizeof text))
        return false;
    const char *line = strstr(text, "\nCapEff:");
    if (!line)
        return false;
    unsigned long long bits = strtoull(line + strlen("\nCapEff:"), NULL, 16);
    return bits >> number & 1;
}

void realtime_describe(const realtime_state *s, char *out, size_t size)
{
    char scheduling[128];
    char memory[128];
    char cpu[32] = "";
    if (s->has_fifo)
        snprintf(scheduling, sizeof scheduling, "SCHED_FIFO %d", s->priority);
    else
        snprintf(scheduling, sizeof scheduling, "normal scheduling (%s)", strerror(s->fifo_error));
    if (s->has_locked_memory)
        snprintf(memory, sizeof memory, "memory locked");
    else
        snprintf(memory, sizeof memory, "memory not locked (%s)", strerror(s->lock_error));
    if (s->cpu >= 0)
        snprintf(cpu, sizeof cpu, ", cpu %d%s", s->cpu, s->cpu_is_isolated ? " isolated" : "");
    snprintf(out, size, "%s, %s%s", scheduling, memory, cpu);
}

static void limit_text(int resource, char *out, size_t size)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        snprintf(out, size, "unknown");
    else if (limit.rlim_cur == RLIM_INFINITY)
        snprintf(out, size, "unlimited");
    else
        snprintf(out, size, "%llu", (unsigned long long)limit.rlim_cur);
}

void realtime_explain(const realtime_state *s, const char *program, char *out, size_t size)
{
    char rtprio[32];
    char memlock[32];
    out[0] = '\0';
    if (!realtime_is_degraded(s))
        return;
    limit_text(RLIMIT_RTPRIO, rtprio, sizeof rtprio);
    limit_text(RLIMIT_MEMLOCK, memlock, sizeof memlock);
    snprintf(out, size,
             "degraded: %s%s%s%s%s\n"
             "  CAP_SYS_NICE %s, CAP_IPC_LOCK %s; limits: rtprio %s, memlock %s bytes\n"
             "  (a kernel with RT group scheduling refuses SCHED_FIFO to groups without a share)\n"
             "  to mend it: sudo setcap cap_sys_nice,cap_ipc_lock=ep %s\n"
             "  simulated devices run as they are; real motors stay off unless "
             "servo.allow_degraded is true\n",
             s->has_fifo ? "" : "SCHED_FIFO refused: ", s->has_fifo ? "" : strerror(s->fifo_error),
             !s->has_fifo && !s->has_locked_memory ? "; " : "",
             s->has_locked_memory ? "" : "locking memory refused: ",
             s->has_locked_memory ? "" : strerror(s->lock_error),
             realtime_has_capability(CAP_SYS_NICE) ? "yes" : "no",
             realtime_has_capability(CAP_IPC_LOCK) ? "yes" : "no", rtprio, memlock, program);
}
