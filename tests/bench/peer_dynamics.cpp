#include "tests/bench/peer_dynamics.h"

#include <cstdio>
#include <cstring>

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <mujoco/mujoco.h>

struct peer_bullet {
    btMultiBody *body;
    btAlignedObjectArray<btScalar> r;
    btAlignedObjectArray<btVector3> v;
    btAlignedObjectArray<btMatrix3x3> m;
};

peer_bullet *peer_bullet_chain(int balls)
{
    const double mass = 0.1, radius = 0.03;
    peer_bullet *p = new peer_bullet;
    p->body = new btMultiBody(balls, 0, btVector3(0, 0, 0), true, false);
    double i = 0.4 * mass * radius * radius;
    for (int k = 0; k < balls; k++) {
        btVector3 axis = (k + 1) % 2 ? btVector3(0, 1, 0) : btVector3(1, 0, 0);
        p->body->setupRevolute(k, mass, btVector3(i, i, i), k - 1, btQuaternion(0, 0, 0, 1), axis,
                               btVector3(0, 0, 0), btVector3(0, 0, -0.1), true);
    }
    p->body->finalizeMultiDof();
    p->body->setLinearDamping(0);
    p->body->setAngularDamping(0);
    p->body->setMaxCoordinateVelocity(1e10);
    return p;
}

void peer_bullet_set(peer_bullet *p, const double *q, const double *qd)
{
    for (int i = 0; i < p->body->getNumLinks(); i++) {
        p->body->setJointPos(i, q[i]);
        p->body->setJointVel(i, qd[i]);
    }
}

void peer_bullet_step(peer_bullet *p, double dt)
{
    p->body->clearForcesAndTorques();
    for (int i = 0; i < p->body->getNumLinks(); i++)
        p->body->addLinkForce(i, btVector3(0, 0, -9.81 * p->body->getLinkMass(i)));
    p->body->computeAccelerationsArticulatedBodyAlgorithmMultiDof(dt, p->r, p->v, p->m, false,
                                                                  false, false);
    p->body->stepPositionsMultiDof(dt);
}

double peer_bullet_speed(const peer_bullet *p, int joint)
{
    return p->body->getJointVel(joint);
}

void peer_bullet_free(peer_bullet *p)
{
    delete p->body;
    delete p;
}

struct peer_mujoco {
    mjModel *model;
    mjData *data;
};

peer_mujoco *peer_mujoco_load(const char *urdf, double dt)
{
    char error[512] = "";
    mjModel *m = mj_loadXML(urdf, nullptr, error, sizeof error);
    if (!m) {
        fprintf(stderr, "MuJoCo refuses %s: %s\n", urdf, error);
        return nullptr;
    }
    m->opt.timestep = dt;
    m->opt.gravity[0] = m->opt.gravity[1] = 0;
    m->opt.gravity[2] = -9.81;
    m->opt.disableflags = mjDSBL_CONSTRAINT | mjDSBL_LIMIT | mjDSBL_CONTACT | mjDSBL_FRICTIONLOSS |
                          mjDSBL_PASSIVE | mjDSBL_SENSOR | mjDSBL_EQUALITY;
    return new peer_mujoco{m, mj_makeData(m)};
}

int peer_mujoco_joints(const peer_mujoco *p)
{
    return p->model->nv;
}

void peer_mujoco_set(peer_mujoco *p, const double *q, const double *qd)
{
    memcpy(p->data->qpos, q, sizeof(double) * p->model->nq);
    memcpy(p->data->qvel, qd, sizeof(double) * p->model->nv);
}

void peer_mujoco_accelerate(peer_mujoco *p, double *qdd)
{
    mj_forward(p->model, p->data);
    memcpy(qdd, p->data->qacc, sizeof(double) * p->model->nv);
}

void peer_mujoco_step(peer_mujoco *p)
{
    mj_step(p->model, p->data);
}

void peer_mujoco_free(peer_mujoco *p)
{
    mj_deleteData(p->data);
    mj_deleteModel(p->model);
    delete p;
}
