#!/bin/sh
# Two hands take hold of one bar in lockstep, one hand turns its tool: the recordings replay bit for
# bit. The button of the emergency stop cannot be the one that grabs.
set -u
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # check NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        echo "ok $name"
        passed=$((passed + 1))
    else
        echo "not ok $name"
        cat "$work/out"
        failed=$((failed + 1))
    fi
}

cat >"$work/two.conf" <<'END'
scene = "grab"
device "left" { driver = "sim" address = "left" }
device "right" { driver = "sim" address = "right" scene_offset_m = {0, 0.024, 0} }
END
cat >"$work/clash.conf" <<'END'
hand { grab_button = 1 }
safety { estop_button = 1 }
END

says_where() {
    "$build/hapticd" --check -c "$work/clash.conf" 2>"$work/message"
    [ $? -eq 2 ] && grep -q 'clash.conf:1: hand.grab_button: expected another button' "$work/message"
}

check "two hands play for 6 s" "$build/hapticd" --lockstep --for 6 -c "$work/two.conf" \
    --record "$work/two.mcap"
check "the recording replays bit for bit" "$build/haptic" replay "$work/two.mcap" --verify
check "a tool that turns plays for 5 s" "$build/hapticd" --lockstep --for 5 --scene turning-tool \
    --record "$work/turn.mcap"
check "its recording replays bit for bit" "$build/haptic" replay "$work/turn.mcap" --verify
check "the stop button does not grab" says_where

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
