#!/bin/sh
# The whole server on emulated Falcons, as an operator meets it: one as a device process of umockdev (what
# make emulated-falcon runs), then two at once under libusb and the shim. Counts and states only.
BUILD=${BUILD:-build}
nm "$BUILD/hapticd" 2> /dev/null | grep -q '__[at]san_init' && { echo "ok left out under a sanitizer"; exit 0; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: found '$2', expected '$3'"; tail -n 5 "$folder/log"; fi; }
# says NAME TEXT FILE
says() { if grep -q -- "$2" "$3"; then echo "ok $1"; else echo "not ok $1: expected '$2' in"; tail -n 20 "$3"; fi; }
# The server and, beside it on the same machine with a Falcon, what an operator would type: asks until
# every hand is homed and one touches the ball, however long that takes here, then ends the server.
cat > "$folder/operate" <<END
"$BUILD/hapticd" "\$@" --for 120 --record "$folder/run.mcap" > "$folder/out" 2> "$folder/log" & server=\$!
n=0; while kill -0 \$server 2> /dev/null && [ \$n -lt 1000 ]; do
    "$BUILD/haptic" status --json --socket "$folder/socket" > "$folder/now" 2> /dev/null && mv "$folder/now" "$folder/status"
    [ "\$(jq '[.state.hands[]? | select(.state == "homing")] == [] and any(.state.hands[]?; .contacts > 0)' "$folder/status")" = true ] && break
    sleep 0.1; n=\$((n + 1))
done
"$BUILD/haptic" status --socket "$folder/socket" > "$folder/status.text" 2>&1
"$BUILD/haptic" devices > "$folder/devices" 2>&1
kill -TERM \$server; wait \$server
END
run() { # level, units, arguments
    level=$1; EMULATED_UNITS=$2; export EMULATED_UNITS; shift 2; rm -f "$folder/status"; : > "$folder/status"
    sed "s|^servo {|control { socket = \"$folder/socket\" }\nservo {|" tests/emulated/falcon.conf > "$folder/falcon.conf"
    tests/emulated/with-falcon.sh "$level" sh "$folder/operate" -c "$folder/falcon.conf" "$@"
}
recording() { # name
    # a machine too busy to write every tick down must say so, and then there is nothing to compare
    if ! grep -q ' 0 records lost' "$folder/out"; then
        "$BUILD/haptic" check "$folder/run.mcap" > "$folder/check" 2>&1; is "$1: lost records are found by haptic check" $? 1
        return
    fi
    "$BUILD/haptic" check "$folder/run.mcap" > "$folder/check" 2>&1; is "$1: haptic check finds the recording whole" $? 0
    "$BUILD/haptic" replay "$folder/run.mcap" --verify > "$folder/verify" 2>&1; is "$1: it replays" $? 0
    says "$1: every tick identical" identical "$folder/verify"
    "$BUILD/haptic" info "$folder/run.mcap" --json > "$folder/info" 2>&1; is "$1: haptic info reads it" $? 0
    is "$1: it is complete" "$(jq -c '.complete' "$folder/info")" true
    is "$1: it names the device" "$(jq -r '.device | tostring' "$folder/info" | grep -c Falcon)" 1
}

run process 1; is "one Falcon: the server ends well" $? 0
is "status names a Falcon" "$(jq -r '.devices[0].model' "$folder/status")" Falcon
is "and its serial number" "$(jq -r '.devices[0].serial' "$folder/status")" EMUL0000
is "its motors are real" "$(jq -r '.devices[0].has_motors' "$folder/status")" true
is "it is homed" "$(jq -r '.state.hands[0].state != "homing"' "$folder/status")" true
says "status in words too" "right: Falcon EMUL0000, " "$folder/status.text"
says "devices lists it" "falcon:serial:EMUL0000" "$folder/devices"
says "the console names it at the start" 'Falcon "right"' "$folder/log"
# the hand may have homed it before the server had sent its firmware
if grep -q '| homing' "$folder/log"; then says "and tells how to home it" "pull the grip fully out" "$folder/log"; fi
says "the table at the end names its serial number" "Falcon EMUL0000" "$folder/out"
recording "one Falcon"
ticks=$(jq '.ticks' "$folder/info")
touched=$("$BUILD/haptic" export "$folder/run.mcap" --to csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["contact_count"] > 0 { n++ } END { print n + 0 }')
if [ "$touched" -gt 0 ]; then echo "ok its hand touches the ball in $touched of $ticks ticks"; else echo "not ok its hand touches the ball"; fi

run shim 2 --device falcon:serial:EMUL0001 --device falcon:port:1-3; is "two Falcons: the server ends well" $? 0
is "each hand has its own unit" "$(jq -c '[.devices[].serial]' "$folder/status")" '["EMUL0001","EMUL0000"]'
is "both are homed" "$(jq -c '[.state.hands[].state != "homing"]' "$folder/status")" '[true,true]'
recording "two Falcons"
exit 0
