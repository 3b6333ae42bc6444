#!/bin/bash
# A little of the campaign: every scene, one random hand, judged (tests/campaign/play.c says by what).
# Coarse where the campaign is fine: a proxy may be half a millimetre in a body, not on its other side.
BUILD=${BUILD:-build} seconds=3
[ "${TEST_EFFORT:-1}" = 1 ] || seconds=1
"$BUILD/haptic" scenes --json | jq -r '.[].name' |
    xargs -P "$(nproc)" -I {} "$BUILD/tests/campaign/play" {} "${PLAY_SEED:-5}" $seconds --depth 0.5
exit 0
