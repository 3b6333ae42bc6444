#!/bin/sh
# Runs the conformance program over every driver that needs no hardware.
# shellcheck disable=SC2086 # a case is a list of words
BUILD=${BUILD:-build}
run() {
    name=$1; shift
    if "$BUILD/device-conformance" "$@" > "$BUILD/tests/logs/conformance.out" 2>&1
    then echo "ok $name conforms ($(grep -c '^ok ' "$BUILD/tests/logs/conformance.out") checks)"
    else echo "not ok $name conforms"; cat "$BUILD/tests/logs/conformance.out"
    fi
}
refuse() {
    name=$1; shift
    if "$BUILD/device-conformance" "$@" > /dev/null 2>&1
    then echo "not ok $name is found out"
    else echo "ok $name is found out"
    fi
}
mkdir -p "$BUILD/tests/logs"
run sim sim:0
run "sim with homing and packet loss" --set homing_s=0.5 --set drop_probability=0.1 --set late_probability=0.05 sim:left
for trace in tests/data/traces/*.csv; do
    run "replay of $(basename "$trace")" "replay:$trace"
done
run "replay, imposed" --set mode=imposed replay:tests/data/traces/hand-mocap-100hz.csv
run "plug-in example" "$BUILD/plugins/example.so:1"
refuse "a simulated device that goes lost" --set "faults=unplug at 2" sim:0
refuse "a simulated device that is not finite" --set "faults=nan at 2 for 1" sim:0
refuse "a plug-in without the symbol" "$BUILD/plugins/not-a-plugin.so"
refuse "a driver that nobody knows" nobody
