#!/bin/sh
# The whole server in lockstep, with a simulated Falcon that breaks while the hand presses on the
# floor: what the recording says about force, reasons and replay. The same faults tick by tick, and
# those of the world, the clock and the operator, are in test_faults.
BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/floor.scene" << EOF
name = "floor"
sentence = "A smooth floor."
body "floor" { shape = plane  position_m = {0, 0, -0.005}  material { stiffness_n_per_m = 1500 } }
EOF

# name, reason that must be recorded, settings of the simulated device
fault() {
    name=$1; reason=$2; settings=$3
    cat > "$work/x.conf" << EOF
scene = "$work/floor.scene"
device "right" {
    driver = "sim"
    settings {
        script = "hold 0.5; move 0 0 -0.015 over 0.3; hold 0.5; slide 0.03 0 -0.015 over 0.4; hold 1; move 0 0 0.01 over 0.3; hold 1"
        $settings
    }
}
EOF
    if ! "$BUILD/hapticd" -c "$work/x.conf" --lockstep --for 4 --record "$work/x.mcap" > "$work/out" 2>&1; then
        # a device that stays lost may end the run, but never without a word
        [ -s "$work/out" ] || { echo "not ok $name"; return; }
    fi
    "$BUILD/haptic" info --json "$work/x.mcap" > "$work/info"
    force=$(jq '.hands[0].max_force_n' "$work/info")
    count=$(jq ".hands[0].reasons.\"$reason\" // 0" "$work/info")
    printf '%-28s %8.3f N   %s in %d ticks\n' "$name" "$force" "$reason" "$count"
    if jq -e '.hands[0].max_force_n <= 8 and .hands[0].max_force_n > 1.5' "$work/info" > /dev/null && [ "$count" -gt 0 ] &&
        "$BUILD/haptic" replay "$work/x.mcap" --verify > "$work/replay" 2>&1 && grep -q identical "$work/replay"
    then echo "ok $name"
    else echo "not ok $name"; cat "$work/out" "$work/replay"; fi
}

fault nothing_broken              startup      'seed = 3'
fault positions_not_finite        not_finite   'faults = "nan at 1.2 for 0.2"'
fault encoders_frozen             frozen       'faults = "frozen at 1.5 for 0.3"'
fault encoders_jump               jump         'faults = "jump at 1.2 for 0.2"'
fault device_unplugged            fault        'faults = "unplug at 1.2 for 0.2"'
fault device_silent               stale_device 'faults = "silent at 1.2 for 0.3"'
fault reports_late                stale_device 'faults = "late at 1.2 for 0.3"'
fault every_second_packet_lost    stale_device 'drop_probability = 0.5'
