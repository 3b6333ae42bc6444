/* Articulated bodies as MuJoCo and Bullet simulate them, for comparison. */
#ifndef TESTS_BENCH_PEER_DYNAMICS_H
#define TESTS_BENCH_PEER_DYNAMICS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_bullet peer_bullet;
typedef struct peer_mujoco peer_mujoco;

/* The chain of balls of models_alternating, double precision. */
peer_bullet *peer_bullet_chain(int balls);
void peer_bullet_set(peer_bullet *p, const double *q, const double *qd);
void peer_bullet_step(peer_bullet *p,
                      double dt); /* gravity, accelerations, velocities, positions */
double peer_bullet_speed(const peer_bullet *p, int joint);
void peer_bullet_free(peer_bullet *p);

/* NULL and a message on stderr when MuJoCo refuses the file. */
peer_mujoco *peer_mujoco_load(const char *urdf, double dt);
int peer_mujoco_joints(const peer_mujoco *p);
void peer_mujoco_set(peer_mujoco *p, const double *q, const double *qd);
void peer_mujoco_accelerate(peer_mujoco *p, double *qdd);
void peer_mujoco_step(peer_mujoco *p);
void peer_mujoco_free(peer_mujoco *p);

#ifdef __cplusplus
}
#endif

#endif
