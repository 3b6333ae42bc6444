#!/bin/sh
# usage: run.sh LOG-FOLDER PROGRAM...
# Runs test programs (cmocka programs, or scripts that print "ok NAME" and "not ok NAME"), shows the
# output of those that fail, and ends with "N passed, M failed" over all of them.
logs=$1; shift
mkdir -p "$logs"
passed=0; failed=0
for program in "$@"; do
    name=$(basename "$program"); log=$logs/$name.log
    "$program" > "$log" 2>&1; code=$?
    good=$(grep -acE '^(\[       OK \]|ok )' "$log"); bad=$(grep -acE '^(\[  FAILED  \] [a-zA-Z_]|not ok )' "$log")
    # cmocka names a failed test twice: where it fails and in its summary
    grep -qa '^\[==========\]' "$log" && bad=$(grep -aE '^\[  FAILED  \] [a-zA-Z_]' "$log" | sort -u | wc -l)
    [ "$code" -ne 0 ] && [ "$bad" -eq 0 ] && { bad=1; echo "$name: ended with code $code" >> "$log"; }
    [ "$code" -eq 0 ] && [ "$good" -eq 0 ] && { bad=1; echo "$name: ran no test" >> "$log"; }
    passed=$((passed + good)); failed=$((failed + bad))
    printf '%-34s %4d passed, %d failed\n' "$name:" "$good" "$bad"
    [ "$bad" -eq 0 ] || tail -n 60 "$log"
    grep -a '^| ' "$log" # a table that people should see
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
