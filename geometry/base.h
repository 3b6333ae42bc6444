/* The ground every room stands on: status codes and the marks of real-time code. */
#ifndef GEOMETRY_BASE_H
#define GEOMETRY_BASE_H

/* Callable from the servo thread: bounded time, no allocation, no locks, no system calls beyond
 * those named in tests/rt-allow.txt. Puts the function in its own section for `make check-rt`. */
#define HR_RT       __attribute__((section("rt_text")))
#define HR_MUST_USE __attribute__((warn_unused_result))

/* printf-like: format is argument f, the values start at argument v. */
#define HR_PRINTF(f, v) __attribute__((format(printf, f, v)))

#define HR_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* 0 is good, negative is bad. `status_text` says each in words. */
typedef enum hr_status {
    HR_OK = 0,
    HR_ERR_ARGUMENT = -1,    /* a value that the contract forbids */
    HR_ERR_MEMORY = -2,      /* allocation failed; only ever before the loop */
    HR_ERR_CAPACITY = -3,    /* more than the stated limits hold */
    HR_ERR_NOT_FOUND = -4,   /* no such file, device, key or link */
    HR_ERR_BUSY = -5,        /* somebody else owns it */
    HR_ERR_IO = -6,          /* the operating system or the device refused */
    HR_ERR_PROTOCOL = -7,    /* bytes that are not what they should be */
    HR_ERR_FORMAT = -8,      /* a file that breaks its format; the message names the place */
    HR_ERR_NOT_FINITE = -9,  /* NaN or infinity where a number was expected */
    HR_ERR_MAX_ITER = -10,   /* stopped by the iteration limit; the header says what is valid */
    HR_ERR_DEADLINE = -11,   /* stopped by the time limit; the header says what is valid */
    HR_ERR_INFEASIBLE = -12, /* no point satisfies all constraints */
    HR_ERR_SINGULAR = -13,   /* the matrix has no inverse */
    HR_ERR_DISABLED = -14,   /* refused because forces are off or not armed */
    HR_ERR_LOST = -15        /* the device went away */
} hr_status;

/* A short English sentence for a status; never NULL. */
const char *status_text(hr_status status);

#endif
