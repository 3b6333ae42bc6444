#!/bin/sh
# Programs of other people on a running server: libhaptic in C, the CHAI3D adapter (against a stand-in of
# CHAI3D), and the two C++ plug-ins (against stand-ins of their libraries).
BUILD=${BUILD:-build}; bin=$BUILD/client
folder=$(mktemp -d); server=; trap '[ -n "$server" ] && kill "$server" 2> /dev/null; rm -rf "$folder"' EXIT
cat > "$folder/sim.conf" <<END
scene = "plane"
device "right" {
    driver = "sim"
    settings { script = "button 0 press; button 2 press; move 0 0 0.02 over 0.2; hold 1000"
        tremor_m = "0" }
}
servo { overrun_reduce_periods = 100 overrun_fault_s = 1.0 } # a busy machine is not what is tested here
control { socket = "$folder/hapticd.sock" }
trace { record = "$folder/run.mcap" }
END
"$BUILD/hapticd" -c "$folder/sim.conf" --for 60 > "$folder/out" 2> "$folder/log" &
server=$!
n=0; while [ ! -S "$folder/hapticd.sock" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
sleep 1
field() { awk -v first="$1" '{ for (i = 1; i < NF; i++) if ($i == first) { print $(i + 1), $(i + 2), $(i + 3); exit } }' "$2"; }
# true NAME CONDITION(awk over three numbers a b c)
is() { if echo "$2" | awk "{ a = \$1; b = \$2; c = \$3; exit !($3) }"; then echo "ok $1"; else echo "not ok $1: $2"; tail -5 "$folder/log"; fi; }

if "$bin/ten-lines" "$folder/hapticd.sock"; then echo "ok a program of ten lines runs for a thousand ticks"
else echo "not ok a program of ten lines runs for a thousand ticks"; tail -5 "$folder/log"; fi
"$bin/probe" "$folder/hapticd.sock" push 0.5 1 0 -0.5 > "$folder/push" 2>&1
is "a client's force reaches the device" "$(field force "$folder/push")" "a > 0.95 && a < 1.05 && c < -0.45 && c > -0.55"
is "a client sees nearly every tick" "$(field ticks_per_wait "$folder/push")" "a >= 1 && a < 2"
"$bin/probe" "$folder/hapticd.sock" hold 2 0 0 > /dev/null 2>&1 &
client=$!
sleep 1
"$bin/probe" "$folder/hapticd.sock" push 0.2 1 0 0 > "$folder/second" 2>&1 && echo "not ok the lease is one client's" || echo "ok the lease is one client's"
"$bin/probe" "$folder/hapticd.sock" watch 0.1 > "$folder/held" 2>&1
is "others may watch while it pushes" "$(field force "$folder/held")" "a > 1.9"
kill -9 "$client"; wait "$client" 2> /dev/null
sleep 0.5
killed=$("$BUILD/haptic" mark --socket "$folder/hapticd.sock" killed | awk '{ print $NF }')
"$bin/probe" "$folder/hapticd.sock" watch 0.1 > "$folder/after" 2>&1
is "a killed client's force has faded" "$(field force "$folder/after")" "a == 0 && b == 0 && c == 0"
"$bin/probe" "$folder/hapticd.sock" push 0.3 0 0.8 0 > "$folder/next" 2>&1
is "the next client gets the lease" "$(field force "$folder/next")" "b > 0.75"
"$bin/chai3d-program" "$folder/hapticd.sock" > "$folder/chai" 2>&1; cat "$folder/chai"
"$bin/nasty" "$folder/hapticd.sock" > "$folder/nasty" 2>&1; cat "$folder/nasty"
"$bin/chai3d-program" "$folder/hapticd.sock" until-the-end > "$folder/end" 2>&1 & last=$!
n=0; until grep -q reading "$folder/end" || [ $n -ge 100 ]; do sleep 0.1; n=$((n + 1)); done
kill -TERM "$server"; wait "$server"; server=
wait $last; cat "$folder/end"
if "$bin/probe" "$folder/hapticd.sock" watch 0.1 2> "$folder/gone"; then echo "not ok a client is told that no server runs"; else echo "ok a client is told that no server runs"; fi
[ -e "$folder/hapticd.sock.board" ] && echo "not ok the shared memory is removed" || echo "ok the shared memory is removed"
"$BUILD/haptic" replay "$folder/run.mcap" --verify > "$folder/verify" 2>&1 && grep -q identical "$folder/verify" \
    && echo "ok the recording with client forces replays identical" \
    || { echo "not ok the recording with client forces replays identical"; cat "$folder/verify"; }
# the killed client's last ticks: 2 N, then at most 20 ms of fading with the reason, then nothing
"$BUILD/haptic" export "$folder/run.mcap" --to csv | awk -F, -v killed="$killed" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["tick"] > killed { exit }
    $at["force_x_n"] > 1.99 { full = $at["tick"]; stale = silent = 0; next }
    full && $at["force_x_n"] > 0 { stale++; silent += $NF !~ /stale_client/ }
    END { print stale + 0, silent + 0, full + 0 }' > "$folder/fading"
is "a killed client's force ends within its deadline and 20 ms, as stale_client in the recording" "$(cat "$folder/fading")" "c > 0 && a > 0 && a <= 21 && b == 0"
for plugin in chai3d nifalcon; do
    if "$BUILD/device-conformance" --slow --seconds 1 "$bin/$plugin.so:0" > "$folder/plugin" 2>&1; then echo "ok plug-in $plugin conforms"
    else echo "not ok plug-in $plugin conforms"; grep 'not ok' "$folder/plugin"; fi
done
