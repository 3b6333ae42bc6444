#!/bin/sh
# usage: unplug.sh TIMES
# The whole server on an emulated Falcon (libusb and the shim) that is pulled out every four seconds, in
# contact as often as not; arms again each time it has come back. Prints "ok" lines as tests do.
BUILD=${BUILD:-build}; times=$1
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat > "$folder/falcon.conf" <<END
scene = "sphere"
device "right" { driver = "falcon" }
servo { allow_degraded = true }
control { socket = "$folder/socket" }
END
: > "$folder/log"
EMULATED_FALCON="unplug_every=4 unplug_for=0.4 loses_firmware=1" tests/emulated/with-falcon.sh shim \
    "$BUILD/hapticd" -c "$folder/falcon.conf" --for $((times * 4 + 6)) --record "$folder/run.mcap" > "$folder/out" 2> "$folder/log" &
server=$!
armed=0; seconds=0
while kill -0 "$server" 2> /dev/null && [ "$seconds" -lt $((times * 40 + 100)) ]; do
    back=$(grep -c 'came back' "$folder/log")
    if [ "$back" -gt "$armed" ]; then
        "$BUILD/haptic" arm --socket "$folder/socket" > /dev/null 2>&1 && armed=$((armed + 1))
    fi
    sleep 0.1; seconds=$((seconds + 1))
done
wait "$server"
gone=$(grep -c 'went away; its force is zero' "$folder/log"); back=$(grep -c 'came back' "$folder/log")
if [ "$gone" -ge "$times" ] && [ "$back" -ge "$times" ] && [ "$armed" -ge "$times" ]
then echo "ok pulled out $gone times, came back $back times, armed again $armed times"
else echo "not ok pulled out $gone times, came back $back times, armed again $armed times"; tail -n 30 "$folder/log"
fi
# with the device away no force may be in the recording: read_status is HR_ERR_LOST
if "$BUILD/haptic" check "$folder/run.mcap" > "$folder/check" 2>&1; then echo "ok the recording of it is whole"
else echo "not ok the recording of it is whole"; cat "$folder/check"
fi
