#!/bin/sh
# Runs the model of the ring through Spin: the right version without an error, every planted mistake
# with one.
here=$(cd "$(dirname "$0")" && pwd); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
run() { # bug
    rm -f pan* ring.pml.trail
    spin -a -DBUG="$1" "$here/ring.pml" > spin.log 2>&1 || { cat spin.log; return 1; }
    cc -O2 -w -DMEMLIM=512 -o pan pan.c && ./pan -m100000 > pan.log 2>&1
    errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log); states=$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' pan.log)
    ! grep -q 'max search depth too small\|out of memory' pan.log
}
if run 0 && [ "$errors" = 0 ]; then echo "ok ring_model: $states states, no error"; else echo "not ok ring_model"; cat pan.log; fi
for bug in 1 2 3 4 5; do
    if run $bug && [ "${errors:-0}" -gt 0 ]; then echo "ok planted_mistake_$bug: found, $(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' pan.log)"
    else echo "not ok planted_mistake_$bug: not found"; fi
done
exit 0
