#!/bin/sh
# usage: BUILD=... FUZZ_SECONDS=... MAKE=... run.sh tests/fuzz/fuzz_NAME.c...
# Builds each fuzzer with clang's libFuzzer, ASan and UBSan and runs it from its corpus
# (tests/fuzz/corpus/NAME, where there is one) for FUZZ_SECONDS.
folder=$BUILD/fuzz
for source in "$@"; do
    name=$(basename "$source" .c)
    $MAKE --no-print-directory -s BUILD="$folder" CC=clang SANITIZE=fuzzer-no-link,address,undefined \
        OPT="-O1 -g" "$folder/tests/fuzz/$name" || exit 1
done
passed=0; failed=0
for source in "$@"; do
    name=$(basename "$source" .c); seeds=tests/fuzz/corpus/${name#fuzz_}
    work=$folder/corpus/$name; mkdir -p "$work"
    [ -d "$seeds" ] || seeds=
    echo "$name: $FUZZ_SECONDS s"
    # shellcheck disable=SC2086 # seeds is one folder or nothing
    if "$folder/tests/fuzz/$name" -max_total_time="$FUZZ_SECONDS" -timeout=60 -rss_limit_mb=4096 \
        -artifact_prefix="$folder/$name-" -print_final_stats=1 "$work" $seeds > "$folder/$name.log" 2>&1
    then passed=$((passed + 1)); grep -a 'number_of_executed_units' "$folder/$name.log"
    else failed=$((failed + 1)); tail -n 30 "$folder/$name.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
