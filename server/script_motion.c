#include "server/script_motion.h"

/* A turn by the rotation vector r = a(t) axis: with a fixed axis the angular velocity is r' and its
 * derivative r''. */
static motion_state oscillate(const scene_body *b, double time)
{
    const double omega = 2.0 * M_PI * b->frequency_hz;
    double s = sin(omega * time), c = cos(omega * time);
    motion_state m;
    pose home = b->world_from_body;
    m.world_from_body.origin = vec3_add_scaled(home.origin, s, b->amplitude_m);
    m.world_from_body.rotation =
        quat_multiply(quat_from_rotation_vector(vec3_scale(s, b->turn_rad)), home.rotation);
    m.velocity.linear = vec3_scale(omega * c, b->amplitude_m);
    m.velocity.angular = vec3_scale(omega * c, b->turn_rad);
    m.acceleration.linear = vec3_scale(-omega * omega * s, b->amplitude_m);
    m.acceleration.angular = vec3_scale(-omega * omega * s, b->turn_rad);
    return m;
}

static motion_state between(const scene_key *from, const scene_key *to, double time)
{
    double span = to->time_s - from->time_s;
    double s = span > 0 ? (time - from->time_s) / span : 1;
    double blend = s * s * s * (10 + s * (-15 + 6 * s));
    double rate = span > 0 ? 30 * s * s * (1 + s * (-2 + s)) / span : 0;
    double change = span > 0 ? 60 * s * (1 + s * (-3 + 2 * s)) / (span * span) : 0;
    pose a = from->world_from_body, b = to->world_from_body;
    vec3 way = vec3_sub(b.origin, a.origin);
    vec3 turn = quat_to_rotation_vector(quat_multiply(b.rotation, quat_conjugate(a.rotation)));
    motion_state m;
    m.world_from_body.origin = vec3_add_scaled(a.origin, blend, way);
    m.world_from_body.rotation =
        quat_multiply(quat_from_rotation_vector(vec3_scale(blend, turn)), a.rotation);
    m.velocity = (twist){vec3_scale(rate, way), vec3_scale(rate, turn)};
    m.acceleration = (twist){vec3_scale(change, way), vec3_scale(change, turn)};
    return m;
}

static motion_state keyframes(const scene_body *b, double time)
{
    const scene_key *keys = b->keys;
    double first = keys[0].time_s, last = keys[b->key_count - 1].time_s;
    if (!(last > first) || time <= first)
        return (motion_state){.world_from_body = keys[0].world_from_body};
    double t = first + fmod(time - first, last - first);
    int i = 0;
    while (i + 2 < b->key_count && t >= keys[i + 1].time_s)
        i++;
    return between(&keys[i], &keys[i + 1], t);
}

motion_state script_motion_at(const scene_body *body, double time)
{
    motion_state m = {.world_from_body = body->world_from_body};
    if (body->motion == SCENE_OSCILLATE)
        m = oscillate(body, time);
    else if (body->motion == SCENE_KEYFRAMES && body->key_count > 0)
        m = keyframes(body, time);
    m.world_from_body.rotation = quat_normalize(m.world_from_body.rotation);
    return m;
}
