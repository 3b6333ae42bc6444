#!/bin/bash
# Random play: ten minutes of virtual time for every shipped scene, in pieces of 30 s with a random
# hand each (every fifth piece a recorded one), judged by second methods: no tunnel, nothing that is
# not a number, no force above the limit, fallbacks below 1 in 1000 ticks, replay and world identical.
#   CAMPAIGN_SECONDS  per scene (600)      CAMPAIGN_SEED  first seed (the date)
#   CAMPAIGN_JOBS     at once (all cores)  ONLY           one scene
# A piece is run again with build/tests/campaign/play SCENE SEED 30 [--hand FILE].
BUILD=${BUILD:-build}
seconds=${CAMPAIGN_SECONDS:-600} first=${CAMPAIGN_SEED:-$(date +%Y%m%d)} jobs=${CAMPAIGN_JOBS:-$(nproc)}
piece=$((seconds < 30 ? seconds : 30))
scenes=${ONLY:-$("$BUILD/haptic" scenes --json | jq -r '.[].name')}
hands=(tests/data/traces/*.csv)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
echo "seeds from $first, $seconds s for each scene, $jobs at once"

n=0
while [ $((n * piece)) -lt "$seconds" ]; do
    for scene in $scenes; do
        hand=
        [ $((n % 5)) -ne 4 ] || hand=" --hand ${hands[$(((n / 5) % ${#hands[@]}))]}"
        echo "$scene $((first + n)) $piece$hand" # no blank at the end: xargs would join lines
    done
    n=$((n + 1))
done > "$work/plan"
total=$(wc -l < "$work/plan")
# Progress goes to the terminal, results to the log.
# shellcheck disable=SC2016 # expanded by the inner shell
nl -ba "$work/plan" | xargs -P "$jobs" -L 1 sh -c \
    'work=$1; total=$2; play=$3; number=$4; shift 4
     timeout 1200 "$play" "$@" > "$work/$number.out" 2>&1 || [ -s "$work/$number.out" ] ||
        echo "not ok $1 seed $2: ended or hung without a word" > "$work/$number.out"
     [ ! -w /dev/tty ] || printf "\r%d of %d  " "$number" "$total" > /dev/tty' \
    sh "$work" "$total" "$BUILD/tests/campaign/play" 2> /dev/null
for i in $(seq "$total"); do cat "$work/$i.out"; done | tee "$work/all"
# Fallbacks of the hand and cut steps of the world are counted over all pieces of a scene, from
# "... SCENE seed N..., S s: ... fallbacks F, ... world cut C of W steps, ...".
sed -nE 's/^(not )?ok ([^ ]+) seed .*, ([0-9.]+) s: .* fallbacks ([0-9]+),.* world cut ([0-9]+) of ([0-9]+) .*/\2 \3 \4 \5 \6/p' "$work/all" |
    awk '{ ticks[$1] += 1000 * $2; count[$1] += $3; cut[$1] += $4; steps[$1] += $5 }
         END { for (s in ticks) {
                   printf "%s %s: %d of %d ticks took a fallback\n", (count[s] > ticks[s] / 1000 ? "not ok" : "ok"), s, count[s], ticks[s]
                   printf "%s %s: %d in %d steps of the world were cut short\n", (cut[s] > steps[s] / 1000 ? "not ok" : "ok"), s, cut[s], steps[s] } }' | sort
exit 0
