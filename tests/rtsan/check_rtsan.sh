#!/bin/sh
# usage: RTSAN_SERVO=program check_rtsan.sh
# The servo runs clean under the real-time sanitizer; what must not be there is caught.
program=$RTSAN_SERVO
out=$(mktemp); trap 'rm -f "$out" /tmp/hapticd-clean-*.mcap' EXIT
if "$program" clean > "$out" 2>&1 && grep -q '^700 ticks' "$out"; then echo "ok servo_is_clean"; else echo "not ok servo_is_clean"; head -n 20 "$out"; fi
for offence in allocate lock map; do
    "$program" $offence > "$out" 2>&1; code=$?
    if [ $code -ne 0 ] && grep -q 'Real-time violation' "$out"; then echo "ok control_$offence: $(grep -m1 -o 'function `[a-z_]*`' "$out")"
    else echo "not ok control_$offence: not caught (code $code)"; head -n 5 "$out"; fi
done
exit 0
