#!/bin/sh
# `haptic qp`: formats, statuses and bad input through the command.
haptic=${BUILD:-build}/haptic
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

shows() { # exit code, what is wanted
    if [ "$1" -eq 0 ]; then jq -e "$2" "$work/out" > /dev/null; else grep -q -- "$2" "$work/err"; fi
}
check() { # name, expected exit code, jq filter that must be true (a pattern for errors), arguments
    name=$1; code=$2; wanted=$3; shift 3
    "$haptic" qp "$@" > "$work/out" 2> "$work/err"; got=$?
    if [ "$got" -eq "$code" ] && shows "$code" "$wanted"; then echo "ok $name"
    else echo "not ok $name (exit $got)"; cut -c 1-400 "$work/out" "$work/err"; fi
}
programme() { # P row, q, rows of A by their one column, l, u
    printf '{"format":"hrs-qp-1","n":2,"m":2,\n"P":{"rows":2,"cols":2,"i":[0,1],"j":[0,1],"v":[%s]},\n"q":[%s],"r":7,\n"A":{"rows":2,"cols":2,"i":[0,1],"j":[%s],"v":[1,1]},\n"l":[%s],"u":[%s]}\n' "$@"
}
data=tests/data/qp
check "HS21 with its constant" 0 '.status == "optimal" and (.objective + 99.96 | fabs) < 1e-9 and (.x | length) == 2' $data/qp/mm-HS21.json
check "every member is there" 0 'has("primal_residual") and has("dual_residual") and has("complementarity") and has("iterations") and has("ns")' $data/qp/mm-HS76.json
check "a local contact problem" 0 '.status == "optimal" and (.objective / 0.10804431961653885 - 1 | fabs) < 1e-7' $data/contact/Rover11035.json
check "a global contact problem" 0 '(.objective / -0.000765643656726002 - 1 | fabs) < 1e-7 and (.x | length) == 450' $data/contact/Box_Stacks-i0122-82-5.json
check "friction adds a residual" 0 '.status == "optimal" and .residual < 1e-6 and (.x | length) == 3' --friction $data/contact/Rover11035.json
programme 1,1 -1,-1 0,0 2,null null,1 > "$work/no.json"
check "a contradiction" 0 '.status == "infeasible" and (.certificate | length) == 2' "$work/no.json"
programme 1,1 -1,-1 0,1 2,0 1,9 > "$work/crossed.json"
check "bounds that cross" 0 '.status == "infeasible"' "$work/crossed.json"
programme 0,1 -1,0 0,1 0,0 null,null > "$work/ray.json"
check "an objective without end" 0 '.status == "infeasible" and (.reason | test("unbounded"))' "$work/ray.json"
check "a budget that is too small" 0 '.status == "max_iterations"' --iterations 3 $data/qp/mm-DUALC1.json
programme -1,1 0,0 0,1 0,0 null,null > "$work/saddle.json"
check "negative curvature" 2 'expected a positive semidefinite matrix' "$work/saddle.json"
programme NaN,1 0,0 0,1 0,0 null,null > "$work/nan.json"
check "NaN" 2 'nan.json:2:[0-9]*: expected' "$work/nan.json"
programme 1e999,1 0,0 0,1 0,0 null,null > "$work/inf.json"
check "a number too large" 2 'inf.json:2:[0-9]*: expected' "$work/inf.json"
programme 1,1 0 0,1 0,0 null,null > "$work/short.json"
check "an array that is too short" 2 'short.json:3: q: expected an array of 2 numbers, found an array of 1' "$work/short.json"
programme 1,1 0,0 0,2 0,0 null,null > "$work/place.json"
check "a column that is not there" 2 'place.json:[0-9]*: A: expected "j"\[1\] from 0 to 1, found 2' "$work/place.json"
sed 's/"n":2/"n":200000/' "$work/no.json" > "$work/big.json"
check "a problem that is too large" 2 'big.json:1: n: expected a whole number from 1 to 100000, found 200000' "$work/big.json"
programme 1,1 -1,-1 0,1 -1e20,0 1e20,9 > "$work/far.json"
check "1e20 is no bound" 0 '.status == "optimal" and (.objective - 6 | fabs) < 1e-9' "$work/far.json"
: > "$work/empty.json"
check "an empty file" 2 'empty.json:1:0: expected JSON' "$work/empty.json"
head -c 200 $data/qp/mm-HS76.json > "$work/cut.json"
check "a file that was cut off" 2 'cut.json:1:200: expected JSON' "$work/cut.json"
sed 's/"i":\[0,1\],"j":\[0,1\],"v":\[1,1\]/"i":[0,0],"j":[0,0],"v":[1,1]/' "$work/no.json" > "$work/twice.json"
check "an entry given twice" 2 'twice.json:[0-9]*: P: expected every entry once, found (0, 0) twice' "$work/twice.json"
jq -c '.W.v |= map(-.)' $data/contact/Rover11035.json > "$work/negative.json"
check "a W that is not semidefinite" 2 'negative.json:1: W: expected a positive semidefinite matrix' "$work/negative.json"
check "no file" 2 'expected a readable problem file' "$work/none.json"
check "no argument" 2 'expected one problem file' 
