#!/bin/sh
# usage: unplug.sh TIMES [shim|process]
# The whole server on an emulated Falcon (libusb; the shim or a device process with hot-plug). Its hand homes it, waits clear of the ball,
# then presses on the ball, and every six seconds the cable is pulled out in that moment; 0.4 s later it is
# plugged in again, without its firmware. The operator arms each time. Prints "ok" lines as tests do.
BUILD=${BUILD:-build}; times=$1; level=${2:-shim}
folder=$(mktemp -d); server=; trap '[ -z "$server" ] || kill "$server" 2> /dev/null; rm -rf "$folder"' EXIT
cat > "$folder/script" <<END
hold 2.2; move 0.03 0 0.02 over 0.4; move -0.035 0 0.02 over 0.5; move 0 0 0.02 over 0.4
hold 1.1; move 0 0 0.001 over 0.3; hold 1.1; repeat
END
cat > "$folder/falcon.conf" <<END
scene = "sphere"
device "right" { driver = "falcon" }
servo { allow_degraded = true overrun_reduce_periods = 100 overrun_fault_s = 1.0 } # a busy machine is not what is tested
safety { device_stale_fade_s = 0.1 device_stale_zero_s = 0.25 }
control { socket = "$folder/socket" }
END
: > "$folder/log"
EMULATED_FALCON="unplug_every=6 unplug_for=0.4 loses_firmware=1" EMULATED_FALCON_SCRIPT="$folder/script" \
    tests/emulated/with-falcon.sh "$level" "$BUILD/hapticd" -c "$folder/falcon.conf" --for $((times * 6 + 6)) \
    --record "$folder/run.mcap" > "$folder/out" 2> "$folder/log" &
server=$!
armed=0; rounds=0
while kill -0 "$server" 2> /dev/null && [ "$rounds" -lt $((times * 60 + 200)) ]; do
    back=$(grep -c 'came back' "$folder/log")
    if [ "$back" -gt "$armed" ]; then
        "$BUILD/haptic" arm --socket "$folder/socket" > /dev/null 2>&1 && armed=$((armed + 1))
    fi
    sleep 0.1; rounds=$((rounds + 1))
done
wait "$server"; server=
gone=$(grep -c 'went away; its force is zero' "$folder/log"); back=$(grep -c 'came back' "$folder/log")
cause=$(grep -c 'unplugged or lost power' "$folder/log")
if [ "$gone" -ge "$times" ] && [ "$back" -ge "$times" ] && [ "$armed" -ge "$times" ] && [ "$cause" -ge "$times" ]
then echo "ok pulled out $gone times, came back $back times, armed again $armed times, the cause told $cause times"
else echo "not ok pulled out $gone times, came back $back times, armed again $armed times, the cause told $cause times"; tail -n 30 "$folder/log"
fi
if "$BUILD/haptic" check "$folder/run.mcap" > "$folder/check" 2>&1; then echo "ok the recording of it is whole"
else echo "not ok the recording of it is whole"; cat "$folder/check"
fi
# In the recording: each loss ends a force in its own tick, and none comes back before somebody arms.
# read_status 0 is good; state 4 running, 7 fault.
"$BUILD/haptic" export "$folder/run.mcap" --to csv > "$folder/run.csv"
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { force = $at["force_x_n"] != 0 || $at["force_y_n"] != 0 || $at["force_z_n"] != 0; lost = $at["read_status"] != 0 }
    lost && !was_lost { losses++; in_contact += was_force; waits = 1 }
    lost && force { pushing++ }
    waits && $at["state"] != 7 { waits = 0 } # armed
    waits && force { early++ }
    { was_lost = lost; was_force = force }
    END { print losses + 0, in_contact + 0, pushing + 0, early + 0 }' "$folder/run.csv" > "$folder/losses"
read -r losses contact pushing early < "$folder/losses"
if [ "$losses" -ge "$times" ] && [ "$contact" -ge 1 ] && [ "$pushing" -eq 0 ] && [ "$early" -eq 0 ]
then echo "ok $losses losses, $contact of them in contact: force zero in the same tick, and until somebody arms"
else echo "not ok $losses losses, $contact in contact, $pushing ticks with a force while lost, $early before arming"
fi
