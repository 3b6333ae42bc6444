#include "tests/support/random_hand.h"

#include <string.h>

#include "server/actor.h"

typedef struct writer {
    test_random *random;
    const world *world;
    vec3 centre;
    double reach;
    char *text;
    size_t size, used;
    vec3 at;     /* m, base frame: where the last statement ends */
    double time; /* s, so far */
} writer;

static void say(writer *w, const char *format, ...) HR_PRINTF(2, 3);
static void say(writer *w, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(w->text + w->used, w->size - w->used, format, values);
    va_end(values);
    if (n > 0 && (size_t)n < w->size - w->used)
        w->used += (size_t)n;
    w->text[w->used] = '\0';
}

static double unit(test_random *r)
{
    return test_random_between(r, 0, 1);
}

static vec3 random_direction(test_random *r)
{
    for (;;) {
        vec3 v = {test_random_between(r, -1, 1), test_random_between(r, -1, 1),
                  test_random_between(r, -1, 1)};
        if (vec3_length(v) > 0.1 && vec3_length(v) < 1)
            return vec3_scale(1 / vec3_length(v), v);
    }
}

/* In or near a body, most of the time; else anywhere. */
static vec3 random_place(writer *w)
{
    test_random *r = w->random;
    vec3 place = vec3_scale(w->reach * unit(r), random_direction(r));
    if (unit(r) < 0.8) {
        actor_body b;
        world_body(w->world, (int)(unit(r) * world_body_count(w->world)), &b);
        double radius = isfinite(b.radius) ? b.radius : 0.4 * w->reach;
        vec3 body = vec3_sub(b.world_from_body.origin, w->centre);
        vec3 inside = vec3_scale(1.1 * radius * unit(r), random_direction(r));
        place = vec3_add(body, inside);
        if (!isfinite(b.radius)) /* a plane: somewhere over it, a little below it */
            place.z = body.z - 0.01 * unit(r);
    }
    double length = vec3_length(place);
    return length > w->reach ? vec3_scale(w->reach / length, place) : place;
}

/* Slow exploring to fast reaching, m/s. */
static double random_speed(test_random *r)
{
    return 0.02 * pow(40, unit(r));
}

static void go(writer *w, const char *how)
{
    vec3 to = random_place(w);
    double time = fmax(0.05, vec3_distance(to, w->at) / random_speed(w->random));
    say(w, "%s %.5f %.5f %.5f over %.3f\n", how, to.x, to.y, to.z, time);
    w->at = to;
    w->time += time;
}

static void act(writer *w)
{
    test_random *r = w->random;
    double time = test_random_between(r, 0.1, 1.2), choice = unit(r);
    vec3 d = random_direction(r);
    if (choice < 0.30) {
        go(w, "move");
        return;
    }
    if (choice < 0.55) {
        go(w, "slide");
        return;
    }
    if (choice < 0.65) {
        vec3 c = vec3_add_scaled(w->at, 0.006, random_direction(r));
        say(w, "circle %.5f %.5f %.5f about %.3f %.3f %.3f turns %d over %.3f\n", c.x, c.y, c.z,
            d.x, d.y, d.z, 1 + (int)(2 * unit(r)), 0.4 + time);
        time += 0.4;
    } else if (choice < 0.78) {
        d = vec3_scale(test_random_between(r, 0.005, 0.02), d);
        say(w, "tap %.5f %.5f %.5f times %d over %.3f\n", d.x, d.y, d.z, 1 + (int)(4 * unit(r)),
            0.3 + time);
        time += 0.3;
    } else if (choice < 0.90) {
        d = vec3_scale(test_random_between(r, 0.5, 6), d);
        say(w, "press %.3f %.3f %.3f for %.3f\n", d.x, d.y, d.z, time);
    } else if (choice < 0.95) {
        say(w, "let go %.3f\n", 0.3 * time);
        time *= 0.3;
    } else {
        say(w, "hold %.3f\n", time);
    }
    w->time += time;
}

void random_hand_script(test_random *r, const world *around, vec3 centre, double reach,
                        double seconds, bool with_buttons, char *out, size_t size)
{
    writer w = {
        .random = r, .world = around, .centre = centre, .reach = reach, .text = out, .size = size};
    bool is_pressed = false;
    out[0] = '\0';
    say(&w, "hold 0.4\n"); /* the start-up gate opens */
    /* the script holds 256 statements */
    for (int i = 0; i < 110 && w.time < seconds; i++) {
        if (with_buttons && unit(r) < 0.4) {
            is_pressed = !is_pressed;
            say(&w, "button 0 %s\n", is_pressed ? "press" : "release");
        }
        act(&w);
    }
    say(&w, "%srepeat\n", is_pressed ? "button 0 release\n" : "");
}
