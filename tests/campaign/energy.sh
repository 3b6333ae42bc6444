#!/bin/bash
# Energy: two hands push, drop and grab articulated bodies for a minute each time. ENERGY_SECONDS and
# CAMPAIGN_SEED change that.
BUILD=${BUILD:-build}; first=${CAMPAIGN_SEED:-$(date +%Y%m%d)} seconds=${ENERGY_SECONDS:-60}
for scene in wooden-man hand pendulum two-men falling-man; do
    [ -e "config/scenes/$scene.scene" ] || continue
    for seed in $first $((first + 1)) $((first + 2)); do "$BUILD/tests/campaign/energy" "$scene" "$seed" "$seconds"; done
done
exit 0
