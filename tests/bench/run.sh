#!/bin/sh
# usage: BUILD=... run.sh PROGRAM...
# Runs benchmark programs one after the other and merges what they report into $BUILD/bench.json.
lines=$(mktemp); trap 'rm -f "$lines"' EXIT
export BENCH_OUT=$lines
failed=0; i=0
for program in "$@"; do
    i=$((i + 1))
    echo "[$i/$#] $(basename "$program")"
    "$program" || { echo "$(basename "$program") failed"; failed=1; }
done
[ -f "$BUILD/bench.json" ] || echo '{}' > "$BUILD/bench.json"
# later lines win, members of one key are joined
jq -s 'reduce .[] as $o ({}; . * $o)' "$BUILD/bench.json" "$lines" > "$BUILD/bench.json.new" &&
    mv "$BUILD/bench.json.new" "$BUILD/bench.json"
"$(dirname "$0")/feel_table.sh" "$(dirname "$0")/feel_rows.tsv" "$BUILD/bench.json" "$BUILD/feel.md" &&
    echo "wrote $BUILD/feel.md"
echo "wrote $BUILD/bench.json: $(jq length "$BUILD/bench.json") keys"
exit $failed
