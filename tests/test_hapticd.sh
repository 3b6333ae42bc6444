#!/bin/sh
# The two programs as a person meets them: command line, run, control, signals.
BUILD=${BUILD:-build}
work=$(mktemp -d); server=
trap '[ -z "$server" ] || kill -KILL $server 2>/dev/null; rm -rf "$work"' EXIT
socket=$work/s.sock
hapticd() { "$BUILD/hapticd" "$@"; }
haptic() { name=$1; shift; "$BUILD/haptic" "$name" --socket "$socket" "$@"; }
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; [ -z "$2" ] || echo "  $2"; }
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got '$2', expected '$3'"; fi; }
# runs a command; its exit code and a piece of its output must be as said
expect() { # name code piece command...
    name=$1; code=$2; piece=$3; shift 3
    "$@" > "$work/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && grep -qF -- "$piece" "$work/out"; then ok "$name"
    else not_ok "$name" "code $got, expected $code and '$piece' in: $(head -c 400 "$work/out")"; fi
}

# --- the command line
expect help_explains_the_program 0 "usage: hapticd" hapticd --help
expect version_is_printed 0 "hapticd " hapticd --version
expect devices_are_listed 0 "sim" hapticd --list-devices
expect default_settings_are_valid 0 "valid" hapticd --check
expect unknown_option_is_refused 2 "--bogus" hapticd --bogus
expect plain_word_is_refused 2 "\"word\"" hapticd word
expect time_must_be_a_number 2 "--for" hapticd --for soon
expect time_must_be_positive 2 "--for" hapticd --for -1
expect time_must_be_finite 2 "--for" hapticd --for nan
expect missing_value_is_refused 2 "--for" hapticd --for
expect missing_settings_are_refused 2 "nothing.conf" hapticd -c "$work/nothing.conf"
expect missing_scene_is_refused 2 "nothing" hapticd --scene "$work/nothing.scene"
expect unknown_device_is_refused 2 "teapot" hapticd --device teapot
expect missing_recording_is_refused 2 "nothing.csv" hapticd --device "replay:$work/nothing.csv"
expect too_many_devices_are_refused 2 "at most" hapticd --device sim --device sim --device sim --device sim --device sim
echo 'servo { rate_hz = fast }' > "$work/bad.conf"
expect bad_settings_are_located 2 "bad.conf:1" hapticd -c "$work/bad.conf"
expect bad_settings_fail_the_check 2 "bad.conf:1" hapticd --check -c "$work/bad.conf"
hapticd --print-config > "$work/1.conf"; hapticd -c "$work/1.conf" --print-config > "$work/2.conf"
if cmp -s "$work/1.conf" "$work/2.conf"; then ok printed_settings_read_back_the_same; else not_ok printed_settings_read_back_the_same; fi
expect recording_into_a_missing_folder_is_refused 2 "--record: expected a file in a folder" hapticd --lockstep --for 1 --record "$work/no/such/x.mcap"
expect recording_onto_a_folder_is_refused 2 "--record: expected a file that can be written" hapticd --lockstep --for 1 --record "$work"
if grep -q 'Hz\|run:' "$work/out"; then not_ok refused_before_anything_starts; else ok refused_before_anything_starts; fi
expect no_server_is_exit_code_1 1 "expected a running hapticd" haptic status
expect bad_parameter_is_refused 2 "no.such" haptic set no.such 1
expect parameters_are_listed 0 "safety.max_force_n" haptic set --list
expect bad_value_is_refused 2 "expected a number" haptic set safety.max_force_n much

# --- lockstep: always the same
for i in 1 2; do
    mkdir "$work/$i"; program=$(realpath "$BUILD/hapticd")
    (cd "$work/$i" && "$program" --lockstep --for 3 --device sim:a --device sim:b --record x.mcap > out 2> err) || echo "run $i failed"
done
if [ -s "$work/1/x.mcap" ] && cmp -s "$work/1/x.mcap" "$work/2/x.mcap"
then ok two_lockstep_runs_give_the_same_bytes; else not_ok two_lockstep_runs_give_the_same_bytes; fi
if grep -q "3001 ticks" "$work/1/out"; then ok lockstep_runs_every_tick; else not_ok lockstep_runs_every_tick "$(cat "$work/1/out")"; fi

# --- live
sed "s|socket = .*|socket = \"$socket\"|" "$work/1.conf" > "$work/live.conf"
start() { "$BUILD/hapticd" -c "$work/live.conf" "$@" > "$work/run.out" 2> "$work/run.err" & server=$!; wait_for_status; }
wait_for_status() {
    for _ in $(seq 200); do
        haptic status --json > "$work/status" 2>/dev/null &&
            [ "$(jq '.state.tick // 0' "$work/status")" -gt 0 ] && return 0
        kill -0 $server 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}
state() { haptic status --json | jq -r '.state.hands[0].state'; }
wait_for_state() { for _ in $(seq 100); do [ "$(state)" = "$1" ] && return 0; sleep 0.05; done; return 1; }

if start --record "$work/live.mcap"; then ok a_live_server_answers; else not_ok a_live_server_answers "$(cat "$work/run.err")"; fi
is status_times_the_world "$(jq '.world | .compute.count > 0 and .frames.p50_ns > 0 and has("mechanics")' "$work/status")" true
is status_names_the_device "$(jq -r '.devices[0].driver' "$work/status")" sim
is the_socket_is_the_owners "$(stat -c %a "$socket")" 600
expect a_second_server_is_refused 1 "another hapticd" hapticd -c "$work/live.conf"
expect states_are_streamed 0 "mm" haptic watch --count 3 --rate 50
expect a_mark_is_applied_at_a_tick 0 "applied at tick" haptic mark hello
expect a_parameter_is_set 0 "applied at tick" haptic set coupling.stiffness_n_per_m 500
expect estop_is_applied 0 "applied at tick" haptic estop
if wait_for_state estop; then ok estop_latches; else not_ok estop_latches "$(state)"; fi
haptic arm > /dev/null
for _ in $(seq 100); do [ "$(state)" != estop ] && break; sleep 0.05; done
if [ "$(state)" != estop ]; then ok arming_ends_the_stop; else not_ok arming_ends_the_stop; fi
kill -USR1 $server
if wait_for_state estop; then ok a_signal_stops_forces; else not_ok a_signal_stops_forces "$(state)"; fi
before=$(haptic status --json | jq .servo.ticks)
kill -TSTP $server; sleep 0.2
after=$(haptic status --json | jq .servo.ticks)
if [ "${after:-0}" -gt "${before:-0}" ]; then ok terminal_stop_is_ignored; else not_ok terminal_stop_is_ignored "$before, $after"; fi
if grep -q "estop latched" "$work/run.err"; then ok a_latched_stop_is_said; else not_ok a_latched_stop_is_said; fi
kill -INT $server; wait $server; is interrupt_ends_with_code_0 $? 0; server=
if grep -q "^run: " "$work/run.out"; then ok the_run_ends_with_a_table; else not_ok the_run_ends_with_a_table "$(cat "$work/run.out")"; fi
if grep -q " Hz late p99 " "$work/run.err"; then ok log_lines_tell_the_progress; else not_ok log_lines_tell_the_progress; fi
if [ -e "$socket" ]; then not_ok the_socket_is_removed; else ok the_socket_is_removed; fi

# --- a fault in the process: it dies of it, after zero force; the next start finds its way
start; kill -SEGV $server; wait $server 2>/dev/null; code=$?; server=
if [ $code -gt 128 ] || [ $code -eq 1 ]; then ok a_fault_still_ends_the_process; else not_ok a_fault_still_ends_the_process "code $code"; fi
if start; then ok a_dead_socket_is_replaced; else not_ok a_dead_socket_is_replaced "$(cat "$work/run.err")"; fi
kill -TERM $server; wait $server; is termination_ends_with_code_0 $? 0; server=
exit 0
