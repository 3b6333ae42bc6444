#include "solver/qp_rigid.h"

#include <string.h>

static mat3 world_inertia(const qp_rigid *body)
{
    mat3 r = quat_to_mat3(body->world_from_body.rotation);
    return mat3_multiply(mat3_multiply(r, body->inertia), mat3_transpose(r));
}

static void store(double *to, vec3 a, vec3 b)
{
    memcpy(to, &a, sizeof a);
    memcpy(to + 3, &b, sizeof b);
}

qp_block qp_rigid_block(qp_rigid *body, double dt)
{
    mat3 inertia = world_inertia(body);
    vec3 w = body->velocity.angular;
    memset(body->k, 0, sizeof body->k);
    for (int i = 0; i < 3; i++) {
        body->k[7L * i] = body->mass;
        for (int j = 0; j < 3; j++)
            body->k[6 * (i + 3) + j + 3] = inertia.m[i][j];
    }
    vec3 gyroscopic = vec3_cross(w, mat3_apply(inertia, w));
    store(body->b, vec3_scale(dt, body->force), vec3_scale(dt, vec3_sub(body->torque, gyroscopic)));
    store(body->v, body->velocity.linear, w);
    return (qp_block){6, body->k, body->b, body->v, body->dv};
}

void qp_rigid_advance(qp_rigid *body, double dt)
{
    body->velocity.linear =
        vec3_add(body->velocity.linear, (vec3){body->dv[0], body->dv[1], body->dv[2]});
    body->velocity.angular =
        vec3_add(body->velocity.angular, (vec3){body->dv[3], body->dv[4], body->dv[5]});
    body->world_from_body.origin =
        vec3_add_scaled(body->world_from_body.origin, dt, body->velocity.linear);
    quat turn = quat_from_rotation_vector(vec3_scale(dt, body->velocity.angular));
    body->world_from_body.rotation =
        quat_normalize(quat_multiply(turn, body->world_from_body.rotation));
}

row_point qp_rigid_point(const qp_rigid *body, vec3 world)
{
    return (row_point){.owner = ROW_RIGID,
                       .velocity = twist_at(body->velocity, body->world_from_body, world),
                       .arm = vec3_sub(world, body->world_from_body.origin)};
}

double qp_rigid_kinetic_energy(const qp_rigid *body)
{
    vec3 w = body->velocity.angular;
    return 0.5 * body->mass * vec3_length_squared(body->velocity.linear) +
           0.5 * vec3_dot(w, mat3_apply(world_inertia(body), w));
}
