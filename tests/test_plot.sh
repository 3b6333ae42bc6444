#!/bin/bash
# `haptic plot --scene`: bodies, ways, normals and forces of a recording, at chosen times.
build=${BUILD:-build}
haptic=$build/haptic hapticd=$build/hapticd
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
check() { # name, expected exit code, pattern, command...
    local name=$1 code=$2 pattern=$3 got; shift 3
    "$@" > "$work/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && { [ -z "$pattern" ] || grep -q -- "$pattern" "$work/out"; }; then echo "ok $name"
    else echo "not ok $name (exit $got)"; tail -n 20 "$work/out"; fi
}
check "a wooden man is pushed" 0 '' "$hapticd" --lockstep --for 4 --scene wooden-man --record "$work/man.mcap"
check "he is drawn" 0 '' "$haptic" plot "$work/man.mcap" --scene -o "$work/man.svg"
cp "$work/out" "$work/warnings"
check "and every body is where it was" 0 '^0$' sh -c "wc -c < '$work/warnings'" # nothing to warn of
check "touched" 0 'touching man' grep touching "$work/man.svg"
check "at chosen times, from a chosen side" 0 '' "$haptic" plot "$work/man.mcap" --scene --at 1,2.5 --view iso -o "$work/two.svg"
check "one panel for each" 0 '^2$' grep -c '<clipPath' "$work/two.svg"
check "from --from to --until" 0 '' "$haptic" plot "$work/man.mcap" --scene --from 1 --until 3 -o "$work/part.svg"
check "times must rise" 2 'rising times' "$haptic" plot "$work/man.mcap" --scene --at 2,1 -o "$work/x.svg"
check "times must be numbers" 2 'rising times' "$haptic" plot "$work/man.mcap" --scene --at 1,soon -o "$work/x.svg"
check "times must be in the recording" 2 'expected times before 4.001 s, found 9' "$haptic" plot "$work/man.mcap" --scene --at 9 -o "$work/x.svg"
check "a view must be one" 2 'AZIMUTH,ELEVATION' "$haptic" plot "$work/man.mcap" --scene --view below -o "$work/x.svg"
check "times need --scene" 2 'together with --scene' "$haptic" plot "$work/man.mcap" --at 1 -o "$work/x.svg"
check "an output is needed" 2 'expected -o' "$haptic" plot "$work/man.mcap" --scene
check "an output must be writable" 1 'can be written' "$haptic" plot "$work/man.mcap" --scene -o /nowhere/x.svg
check "a bad input is refused" 2 'expected' "$haptic" plot "$0" --scene -o "$work/x.svg"
[ ! -e "$work/x.svg" ] && echo "ok nothing was written in vain" || echo "not ok nothing was written in vain"
exit 0
