#!/bin/sh
# Every manual page compiles; every completion completes.
BUILD=${BUILD:-build}
root=$(cd "$(dirname "$0")/.." && pwd)
for page in "$root"/server/man/*.scd; do
    if scdoc < "$page" > /dev/null 2> "$BUILD/scdoc.err"; then echo "ok $(basename "$page")"
    else echo "not ok $(basename "$page"): $(cat "$BUILD/scdoc.err")"; fi
done
# shellcheck disable=SC2016 # expanded by the inner shell
complete() { PATH=$BUILD:$PATH bash -c '. "$0"; f=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $f; echo "${COMPREPLY[*]}"' "$root/config/hapticd.bash-completion" "$@"; }
is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: got '$2', expected '$3'"; fi; }
is commands_are_completed "$(complete _haptic haptic stat)" status
is options_are_completed "$(complete _haptic haptic watch --ra)" --rate
is parameters_are_completed "$(complete _haptic haptic set safety.max_f)" safety.max_force_n
is server_options_are_completed "$(complete _hapticd hapticd --rec)" --record
is scenes_are_completed "$(complete _hapticd hapticd --scene sph)" sphere
is every_scene_is_completed "$(complete _hapticd hapticd --scene wooden)" wooden-man
is scenes_are_completed_for_the_list "$(complete _haptic haptic scenes teap)" teapot
is scenes_are_completed_for_a_replay "$(complete _haptic haptic replay x.mcap --scene teap)" teapot
is options_of_scenes_are_completed "$(complete _haptic haptic scenes --thu)" --thumbnails
exit 0
