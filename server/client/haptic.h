/* libhaptic: a program's way into a running hapticd. Position out, force in, at the servo's rate.
 *
 *     #include <haptic.h>
 *
 *     int main(void)
 *     {
 *         haptic_client *c = haptic_open(NULL, 0, NULL, 0);
 *         haptic_state s;
 *         while (c && haptic_wait(c, &s) == 0) {
 *             double f[3] = {-200 * s.position[0], -200 * s.position[1], -200 * s.position[2]};
 *             haptic_force(c, f, 0.005);
 *         }
 *         haptic_close(c);
 *     }
 *
 * Link with -lhaptic. SI units; axes of the device: x toward the operator, y right, z up. One
 * client at a time holds the force lease of a hand; the first haptic_force takes it and the
 * following ones renew it. A force lives until its deadline, then it fades; all limits of the
 * server apply. Forces of a client that ends, or is killed, fade at once. One thread per client. */
#ifndef HAPTIC_H
#define HAPTIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haptic_client haptic_client;

typedef struct haptic_state {
    uint64_t tick;
    int64_t time_ns;                         /* CLOCK_MONOTONIC */
    double position[3], velocity[3];         /* m, m/s */
    double rotation[4], angular_velocity[3]; /* handle in the device's frame as w x y z; rad/s */
    double gripper_angle, gripper_speed;     /* rad, rad/s */
    double proxy[3], tool[3];                /* m, in the scene */
    double force[3];                         /* N, sent to the device */
    uint32_t buttons;
    int has_position, has_rotation, has_gripper; /* fields are good; else they keep old values */
    int is_homed, is_enabled;
    uint32_t reasons, state; /* as in the server's records */
} haptic_state;

typedef struct haptic_description {
    char name[32], model[32], manufacturer[32], serial[32];
    double max_force;        /* N */
    double max_stiffness;    /* N/m */
    double max_damping;      /* N s/m */
    double workspace_radius; /* m */
    double period;           /* s, of the servo */
    int button_count;
    int senses_rotation, senses_gripper;
    int actuates_position, actuates_rotation, actuates_gripper;
} haptic_description;

/* Connects. socket: path of the control socket, NULL for the default place; hand: index of the
 * device. NULL on failure, with a text in message (where not NULL). */
haptic_client *haptic_open(const char *socket, int hand, char *message, size_t size);
void haptic_close(haptic_client *c); /* gives the lease back; accepts NULL */

void haptic_describe(const haptic_client *c, haptic_description *out);

/* The newest state, without waiting. 0, or -1 where the server has ended. */
int haptic_read(haptic_client *c, haptic_state *out);

/* Blocks until the next tick of the servo and gives its state: this paces a loop. 0, or -1 where
 * the server has ended or stood still for 200 ms. */
int haptic_wait(haptic_client *c, haptic_state *out);

/* Takes the force lease of this hand, or keeps it; haptic_read and haptic_wait keep it as well. 0;
 * -1 where another client holds it or the server is gone; haptic_error says which. */
int haptic_lease(haptic_client *c);

/* Asks for this force (N) for at most `seconds` (the server may hold it for less), and takes the
 * lease where need be. 0; -1 as for haptic_lease, and for a force or a time that is none: then
 * nothing is sent and the last force lives out its time. */
int haptic_force(haptic_client *c, const double force[3], double seconds);

/* Gives the lease back; the force fades. Returns when the server has taken it (2 s at most), so
 * that whoever asks next finds the hand free. */
void haptic_release(haptic_client *c);

/* Text for the last failure. */
const char *haptic_error(const haptic_client *c);

#ifdef __cplusplus
}
#endif

#endif
