#!/bin/sh
# haptic doctor and haptic devices with nothing plugged in, without permission, with a wrong firmware
# file, with a kernel driver attached: each gets its cause and its remedy.
BUILD=${BUILD:-build}
nm "$BUILD/haptic" 2> /dev/null | grep -q '__[at]san_init' && { echo "ok left out under a sanitizer"; exit 0; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
with() { tests/emulated/with-falcon.sh shim "$@"; }
# says NAME CODE TEXT COMMAND...: the command ends with CODE and its output contains TEXT
says() {
    name=$1; code=$2; text=$3; shift 3
    "$@" > "$folder/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && grep -qF -- "$text" "$folder/out"; then echo "ok $name"
    else echo "not ok $name: exit code $got, expected $code and \"$text\""; cat "$folder/out"
    fi
}
export HAPTICD_FALCON_FIRMWARE="$BUILD/emulated/falcon.bin"
says "no device is told" 1 "no Falcon is plugged in" "$BUILD/haptic" doctor
says "no device gets a remedy" 1 "lsusb -d 0403:cb48" "$BUILD/haptic" doctor
EMULATED_DENIED=1; export EMULATED_DENIED
says "no permission is told" 1 "no permission on its device file" with "$BUILD/haptic" doctor
says "no permission gets a remedy" 1 "udevadm" with "$BUILD/haptic" doctor
unset EMULATED_DENIED
EMULATED_DRIVER=ftdi_sio; export EMULATED_DRIVER
says "a kernel driver is told" 1 "a kernel driver is attached to it: ftdi_sio" with "$BUILD/haptic" doctor
says "a kernel driver gets a remedy" 1 "unbind" with "$BUILD/haptic" doctor
unset EMULATED_DRIVER
head -c 1000 "$HAPTICD_FALCON_FIRMWARE" > "$folder/short.bin"
says "a cut firmware is told" 1 "short.bin: byte" with "$BUILD/haptic" doctor --firmware "$folder/short.bin"
says "a wrong firmware gets a remedy" 1 "nvent_firmware.bin, 8492 bytes" with "$BUILD/haptic" doctor --firmware /etc/passwd
says "a healthy Falcon is listed" 0 "\"serial:EMUL0000\"" with "$BUILD/haptic" devices --json
EMULATED_UNITS=2; export EMULATED_UNITS
says "two Falcons are listed" 0 "falcon:serial:EMUL0001" with "$BUILD/haptic" devices
unset EMULATED_UNITS
says "a plug-in is listed" 0 "a bead on springs" "$BUILD/haptic" devices --driver "$BUILD/plugins/example.so"
says "a missing plug-in is refused" 2 "./none.so" "$BUILD/haptic" devices --driver ./none.so
says "doctor speaks JSON" 1 '"checks"' "$BUILD/haptic" doctor --json
says "doctor refuses nonsense" 2 "--help" "$BUILD/haptic" doctor --nonsense
# the weight procedure: the emulated motors make 8000 units per N m, 200 g are hung on at 13 s
printf 'move 0.03 0 0 over 0.5\nmove -0.035 0 0 over 0.8\nmove 0 0 0 over 0.4\nlet go 1000\n' > "$folder/script"
calibrate() {
    (sleep 3; echo; sleep 8; echo; sleep 30) | EMULATED_FALCON="motor_gain=8000 payload_kg=0.2 payload_at=9" \
        EMULATED_FALCON_SCRIPT="$folder/script" with "$BUILD/haptic" calibrate --weight 0.2 -o "$folder/falcon.conf"
}
if [ -n "$CALIBRATE" ]; then
    calibrate > "$folder/out" 2>&1
    awk '/^motor_units/ { exit !($3 > 7920 && $3 < 8080) } END { if (NR == 0) exit 1 }' "$folder/falcon.conf" \
        && echo "ok the weight procedure finds the motor gain within 1 %" \
        || { echo "not ok the weight procedure finds the motor gain within 1 %"; cat "$folder/out"; }
fi
says "calibrate wants a weight" 2 "expected --weight" "$BUILD/haptic" calibrate
says "calibrate refuses a heavy weight" 2 "0.05 to 0.5 kg" "$BUILD/haptic" calibrate --weight 5
