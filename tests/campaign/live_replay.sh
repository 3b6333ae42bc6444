#!/bin/bash
# Live recordings of two hands on moving bodies, with commands sent at random moments: every one must
# replay bit for bit. One of 60 s, ten of 6 s, ten that are killed and recovered. About three minutes;
# LIVE_SECONDS and LIVE_ROUNDS change that.
BUILD=${BUILD:-build}; seconds=${LIVE_SECONDS:-60}; rounds=${LIVE_ROUNDS:-10}
work=$(mktemp -d); server=
trap '[ -z "$server" ] || kill -KILL $server 2>/dev/null; rm -rf "$work"' EXIT
"$BUILD/hapticd" --scene moving --device sim:a --device sim:b --print-config |
    sed "s|socket = .*|socket = \"$work/s.sock\"|" > "$work/conf"
start() { "$BUILD/hapticd" -c "$work/conf" --record "$1" "${@:2}" > "$work/out" 2> "$work/err" & server=$!; }
ask() { name=$1; shift; "$BUILD/haptic" "$name" --socket "$work/s.sock" "$@" > /dev/null 2>&1; }
random() { awk -v seed="$(od -An -N4 -tu4 /dev/urandom)" -v low="$1" -v high="$2" 'BEGIN { srand(seed); print low + (high - low) * rand() }'; }
disturb() { # commands until the server ends
    while kill -0 $server 2>/dev/null; do
        case $(od -An -N1 -tu1 /dev/urandom | awk '{ print $1 % 6 }') in
        0) ask mark "at $(date +%s%N)" ;;
        1) ask set coupling.stiffness_n_per_m "$(random 200 3000)" ;;
        2) ask set coupling.friction_factor "$(random 0 2)" ;;
        3) ask estop --hand 1; ask arm ;;
        4) ask disarm; ask arm ;;
        5) ask arm ;;
        esac
        sleep "$(random 0.1 0.8)"
    done
}
verify() { # name, file
    if "$BUILD/haptic" replay "$2" --verify > "$work/verify" 2>&1 && grep -q identical "$work/verify"
    then echo "ok $1: $(cat "$work/verify")"; else echo "not ok $1: $(tail -n 3 "$work/verify")"; fi
}
one() { start "$work/$1.mcap" --for "$2"; disturb; wait $server; server=; verify "$1" "$work/$1.mcap"; }

one long "$seconds"
for i in $(seq "$rounds"); do one "short_$i" 6; done
for i in $(seq "$rounds"); do
    start "$work/cut.mcap"; sleep "$(random 0.5 4)"; kill -KILL $server; wait $server 2>/dev/null; server=
    if "$BUILD/haptic" recover "$work/cut.mcap" -o "$work/whole.mcap" > "$work/recover" 2>&1
    then verify "killed_$i" "$work/whole.mcap"; else echo "not ok killed_$i: $(cat "$work/recover")"; fi
done
exit 0
