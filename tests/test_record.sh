#!/bin/bash
# Recordings of the running server: live and in lockstep, replayed, killed, rescued, exported.
build=${BUILD:-build}
haptic=$build/haptic hapticd=$build/hapticd
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# Two hands that touch the swinging ball, the turning box and the breathing floor. A machine that
# runs tests stalls now and then: that is no fault here.
cat > "$work/two.conf" <<'C'
scene = "moving"
control { enabled = false }
servo { overrun_fault_s = 0.1 }
device "right" {
    driver = "sim"
    settings { script = "move 0 0.015 0.02 over 0.5; move 0 0.015 0.002 over 0.3; slide 0 0.005 0.001 over 0.4; move 0 -0.02 0.005 over 0.3; move 0 -0.02 -0.003 over 0.2; slide 0.004 -0.02 -0.003 over 0.4; repeat" }
}
device "left" {
    driver = "sim"
    settings { script = "move 0.02 0 0 over 0.5; move 0.02 0 -0.027 over 0.3; circle 0.015 0 -0.027 about 0 0 1 turns 2 over 1; move 0 0.015 0.015 over 0.3; repeat" }
}
C

check() { # name, expected exit code, pattern, command...
    local name=$1 code=$2 pattern=$3 got; shift 3
    "$@" > "$work/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && { [ -z "$pattern" ] || grep -q -- "$pattern" "$work/out"; }; then echo "ok $name"
    else echo "not ok $name (exit $got)"; tail -n 20 "$work/out"; fi
}

check "a lockstep run of two hands is recorded" 0 '' \
    "$hapticd" -c "$work/two.conf" --lockstep --for 2 --record "$work/lockstep.mcap"
check "it replays identical" 0 'ticks, .*: identical' "$haptic" replay "$work/lockstep.mcap" --verify
check "it is good" 0 'good$' "$haptic" check "$work/lockstep.mcap"
"$haptic" info "$work/lockstep.mcap" --json > "$work/info.json"
check "both hands touched something" 0 true \
    jq -e '[.hands[] | .contact_ticks > 100 and .max_force_n > 0.1] == [true, true]' "$work/info.json"
check "a live run of two threads is recorded" 0 '' \
    "$hapticd" -c "$work/two.conf" --for 2 --record "$work/live.mcap"
check "it replays identical too" 0 'ticks, .*: identical' "$haptic" replay "$work/live.mcap" --verify
check "it is good too" 0 'good$' "$haptic" check "$work/live.mcap"

"$haptic" info "$work/live.mcap" --json > "$work/info.json"
check "info names ticks, duration, device and completeness" 0 true \
    jq -e '.ticks > 1000 and .duration_s > 1.5 and (.device | length) > 3 and .complete' "$work/info.json"
check "the recorded hand meets another scene" 0 'longest force' \
    "$haptic" replay "$work/live.mcap" --scene plane -o "$work/plane.mcap"
check "and that run verifies by itself" 0 identical "$haptic" replay "$work/plane.mcap" --verify
check "a recording plays as a device" 0 '' \
    "$hapticd" --device "replay:$work/lockstep.mcap" --lockstep --for 1 --record "$work/again.mcap"
check "which replays identical" 0 identical "$haptic" replay "$work/again.mcap" --verify
"$haptic" export "$work/again.mcap" --to csv -o "$work/again.csv"
check "its CSV has a line per tick" 0 "^$(($("$haptic" info "$work/again.mcap" --json | jq .ticks) + 1)) " \
    wc -l "$work/again.csv"
check "its CSV plays as a device" 0 '' \
    "$hapticd" --device "replay:$work/again.csv" --lockstep --for 0.5
check "it is exported as HDF5" 0 '' "$haptic" export "$work/again.mcap" --to hdf5 -o "$work/again.h5"
check "a picture is drawn" 0 '' "$haptic" plot "$work/live.mcap" -o "$work/live.svg"

# Killed at a moment that nobody chose: what is on disk is the beginning of the run, without a hole.
effort=${TEST_EFFORT:-1}
kills=3; [ "$effort" = 1 ] || kills=1
for i in $(seq $kills); do
    rm -f "$work/killed.mcap"
    "$hapticd" -c "$work/two.conf" --record "$work/killed.mcap" > "$work/log" 2>&1 & server=$!
    for _ in $(seq 100); do # until the first chunk is there
        [ "$(stat -c %s "$work/killed.mcap" 2> /dev/null || echo 0)" -gt 100000 ] && break
        sleep 0.05
    done
    sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
    kill -9 $server; wait $server 2> /dev/null
    check "a killed recording ($i) is not complete" 1 'footer\|are left\|no record\|within the head' \
        "$haptic" check "$work/killed.mcap"
    check "it is rescued ($i)" 0 'tick records' "$haptic" recover "$work/killed.mcap" -o "$work/saved.mcap"
    check "without a hole ($i)" 0 'good$' "$haptic" check "$work/saved.mcap"
    check "and replays identical as far as it goes ($i)" 0 identical "$haptic" replay "$work/saved.mcap" --verify
done

# One byte in the middle.
cp "$work/live.mcap" "$work/hurt.mcap"
size=$(stat -c %s "$work/hurt.mcap")
printf '\xa5\x5a\xa5' | dd of="$work/hurt.mcap" bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
check "a hurt recording is found out" 1 'DAMAGED' "$haptic" check "$work/hurt.mcap"
check "and does not verify" 1 'missing' "$haptic" replay "$work/hurt.mcap" --verify

echo "not a recording" > "$work/text.mcap"
for command in replay check info "plot -o $work/x.svg" "export --to csv" "recover -o $work/y.mcap"; do
    # shellcheck disable=SC2086 # words are meant
    check "haptic ${command%% *} refuses what is no recording" 2 'text.mcap: expected' \
        "$haptic" $command "$work/text.mcap"
    # shellcheck disable=SC2086
    check "haptic ${command%% *} has help" 0 'usage: haptic' "$haptic" ${command%% *} --help
done
check "recover does not overwrite its own input" 2 'another file' \
    "$haptic" recover "$work/live.mcap" -o "$work/live.mcap"
check "verify and scene exclude each other" 2 'Try' "$haptic" replay "$work/live.mcap" --verify --scene plane
check "an unknown format is refused" 2 'expected --to' "$haptic" export "$work/live.mcap" --to xls
check "a recording that cannot be written starts no server" 2 'expected a file in a folder that can be written' \
    "$hapticd" --lockstep --for 1 --record /nowhere/x.mcap
