/* What a picture of a recording in space needs: the ways of the hands, thinned out, and snapshots
 * of all bodies at the chosen times. */
#ifndef SERVER_TRACE_SCENE_DATA_H
#define SERVER_TRACE_SCENE_DATA_H

#include "server/scene_picture.h"
#include "server/trace_scene.h"
#include "server/trace_summary.h"

enum { SCENE_WAY_MAX = 6000 }; /* points of a hand's way */

typedef struct way_point {
    double time; /* s since the first tick */
    vec3 tool, proxy;
    vec3 force;  /* N, on the hand */
    vec3 normal; /* of the contact; zero without */
    bool is_touching;
} way_point;

typedef struct hand_way {
    int count;
    way_point points[SCENE_WAY_MAX];
} hand_way;

typedef struct snapshot {
    double time;
    bool is_taken;
    pose *poses;      /* of all bodies */
    uint32_t touched; /* key of the body that the hand with the strongest force touches; 0: none */
    char name[SCENE_NAME_MAX]; /* of that body */
    bool has_hand[HANDS_MAX];
    way_point hands[HANDS_MAX];
} snapshot;

typedef struct scene_data {
    double from, until; /* s since the first tick */
    int hand_count;
    hand_way *ways; /* by hand */
    int body_count;
    double tool_radius; /* m */
    scene_skins *skins;
    int snapshot_count;
    snapshot snapshots[TRACE_SCENE_TIMES_MAX];
    double off; /* m, see replay_follow.h */
} scene_data;

/* NULL and a message on failure. Release with scene_data_free. */
scene_data *scene_data_gather(const char *path, const trace_summary *s,
                              const trace_scene_options *o, hr_error *error);
void scene_data_free(scene_data *d); /* accepts NULL */

#endif
