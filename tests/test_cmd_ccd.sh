#!/bin/sh
# `haptic ccd --kind`: the published queries, a closed form, odd files and bad input.
haptic=${BUILD:-build}/haptic
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

check() { # name, expected exit code, pattern, command...
    name=$1; code=$2; pattern=$3; shift 3
    "$@" > "$work/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && grep -q -- "$pattern" "$work/out"; then echo "ok $name"
    else echo "not ok $name (exit $got)"; cat "$work/out"; fi
}

# No published contact is missed, and what is reported is within the tolerance.
queries=0 wrong=0
for file in tests/data/ccd-queries/sample-queries/*/*.csv tests/data/ccd-queries/scalable/*/*[ef].csv; do
    case $file in *vf*) kind=vf ;; *) kind=ee ;; esac
    "$haptic" ccd --kind $kind --json "$file" > "$work/summary" || wrong=$((wrong + 1))
    queries=$((queries + $(jq .queries "$work/summary")))
    jq -e '.false_negatives == 0 and .beyond_tolerance == 0 and .ns_per_query > 0 and .hits <= .queries' \
        "$work/summary" > /dev/null || { wrong=$((wrong + 1)); echo "# $file: $(cat "$work/summary")"; }
done
[ "$wrong" -eq 0 ] && [ "$queries" -eq 3559 ] && echo "ok $queries published queries" ||
    echo "not ok published queries: $queries read, $wrong files wrong"

# A vertex falls from z = 1 to z = -3 through a resting face: contact at t = 1/4.
face="-1,1,-1,1,0,1
2,1,-1,1,0,1
-1,1,2,1,0,1"
printf '0,1,0,1,1,1\n%s\n0,1,0,1,-3,1\n%s\n' "$face" "$face" > "$work/fall.csv"
printf '0,1,0,1,1,1\n%s\n0,1,0,1,1,2\n%s\n' "$face" "$face" > "$work/stay.csv"
cat "$work/fall.csv" "$work/stay.csv" | sed 's/$/\r/' > "$work/both.csv"
sed 's/^0,1/1e-7 , 1.0/' "$work/fall.csv" > "$work/decimal.csv"
check "a falling vertex lands at a quarter" 0 '^1,0.24999' "$haptic" ccd --kind vf "$work/fall.csv"
check "one that stops above is free" 0 '^0,$' "$haptic" ccd --kind vf "$work/stay.csv"
check "line ends of either kind" 0 '^0,$' "$haptic" ccd --kind vf "$work/both.csv"
check "decimals and blanks" 0 '^1,0.24999' "$haptic" ccd --kind vf "$work/decimal.csv"
check "verdicts that nobody knows are null" 0 '"false_negatives": null' \
    "$haptic" ccd --kind vf --json "$work/fall.csv"
check "a coarse tolerance reports earlier" 0 '^1,0.1' \
    "$haptic" ccd --kind vf --tolerance 0.5 "$work/fall.csv"

head -7 "$work/fall.csv" > "$work/seven.csv"
{ echo "x,1,y,1,z,1"; cat "$work/fall.csv"; } > "$work/header.csv"
sed '2s/,1$/,1,1/' "$work/fall.csv" > "$work/wide.csv"
sed '1s/^0/1e300/' "$work/fall.csv" > "$work/huge.csv"
check "a missing row is named" 2 'seven.csv:8: expected row 8' "$haptic" ccd --kind vf "$work/seven.csv"
check "a heading is named" 2 'header.csv:1:1: expected a number' "$haptic" ccd --kind vf "$work/header.csv"
check "a column too many is named" 2 'wide.csv:2:14: expected the end of a row of 6' \
    "$haptic" ccd --kind vf "$work/wide.csv"
check "coordinates that are too large" 2 'huge.csv:1: expected coordinates below' \
    "$haptic" ccd --kind vf "$work/huge.csv"
check "a tolerance below rounding" 2 'fall.csv:1: expected a tolerance above' \
    "$haptic" ccd --kind vf --tolerance 1e-300 "$work/fall.csv"
for bad in 0 -1 nan inf 1e-6x ""; do
    check "tolerance \"$bad\"" 2 'tolerance: expected a positive number' \
        "$haptic" ccd --kind vf --tolerance "$bad" "$work/fall.csv"
done
check "no such file" 2 'nowhere.csv: No such file' "$haptic" ccd --kind vf nowhere.csv
check "no such kind" 2 'expected vf or ee' "$haptic" ccd --kind fv "$work/fall.csv"
check "help" 0 'usage: haptic ccd' "$haptic" ccd --help
