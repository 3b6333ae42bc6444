#!/bin/sh
# Cold starts of the emulated Falcon with random faults. A thousand of the link on virtual time, then forty of
# the whole server under libusb and the shim: each ends ready or with a named cause, none hangs or crashes,
# and by the device's own log no motor moved before homing or stays on afterwards. COLD_SEED repeats a run.
BUILD=${BUILD:-build}; starts=${COLD_STARTS:-40}
seed=${COLD_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
echo "seed $seed"
if TEST_SEED=$seed "$BUILD/tests/test_falcon_link" > "$folder/link" 2>&1
then echo "ok a thousand starts of the link: $(grep -a 'force-ready' "$folder/link")"
else echo "not ok a thousand starts of the link"; tail -n 20 "$folder/link"; fi
cat > "$folder/conf" <<END
scene = "sphere"
device "right" { driver = "falcon" settings { attempts = "4" greetings = "5" open_timeout_s = "30" } }
servo { allow_degraded = true }
control { socket = "$folder/socket" }
END
ready=0; named=0; n=0
while [ "$n" -lt "$starts" ]; do
    n=$((n + 1))
    faults=$(awk -v seed="$((seed % 1000000 + n))" 'BEGIN { srand(seed)
        split("control_fails greeting_lost report_lost report_runt report_garbage report_late in_stalls", p, " ")
        for (i = 1; i <= 7; i++) if (rand() < 0.33) printf "%s=%.4f ", p[i], rand() * (i == 1 ? 0.02 : 0.3)
        if (rand() < 0.25) printf "echo_wrong=%.6f ", rand() * 2e-4
        if (rand() < 0.25) printf "echo_lost=%.6f ", rand() * 2e-4
        split("has_stale_bytes greets_once greets_with_zero loses_firmware", b, " ")
        for (i = 1; i <= 4; i++) if (rand() < 0.5) printf "%s=1 ", b[i]
        if (rand() < 0.07) printf "is_unpowered=1 "
        if (rand() < 0.25) printf "refused_opens=%d ", rand() * 6
        if (rand() < 0.25) printf "hang_at=%.2f hang_for=%.2f ", rand() * 3, rand() * 2
        if (rand() < 0.25) { at = rand() * 3; printf "unplug_at=%.2f replug_at=%.2f ", at, at + rand() } }')
    rm -f "$folder/motors"
    EMULATED_FALCON=$faults EMULATED_MOTORS=$folder/motors timeout -k 5 60 tests/emulated/with-falcon.sh shim \
        "$BUILD/hapticd" -c "$folder/conf" --for 3 > "$folder/out" 2> "$folder/log"
    code=$?
    motors=$(grep 'unit 0' "$folder/motors" 2> /dev/null)
    if [ $code -eq 0 ]; then ready=$((ready + 1))
    elif [ $code -eq 1 ] && grep -q 'falcon: attempt' "$folder/log"; then named=$((named + 1))
    else echo "not ok start $n of seed $seed ends with code $code: $faults"; tail -n 5 "$folder/log"; fi
    case $motors in
    *" before_homing 0 "*" last 0 0 0") ;;
    *) echo "not ok start $n of seed $seed, motors: $motors; faults: $faults" ;;
    esac
done
echo "ok $starts starts of the whole server: $ready ran, $named with a named cause"
