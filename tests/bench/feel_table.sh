#!/bin/sh
# usage: feel_table.sh ROWS.tsv BENCH.json TABLE.md
# Writes the table of how it feels: CHAI3D's figure, the bar and ours. A row whose key is the worst
# of several (feel_06=a,b) gets that key in BENCH.json. A negative bar means "at least". Rows that
# were never measured show a dash.
rows=$1; json=$2; table=$3
jq -n --rawfile rows "$rows" --slurpfile all "$json" '
  $all[0] as $b
  | [$rows | split("\n")[1:][] | select(length > 0) | split("\t")
     | {row: .[0], figure: .[1], key: (.[2] | split("=")[0]),
        parts: (.[2] | split("=") | last | split(",")), unit: .[3], bar: (.[4] | tonumber), peer: .[5]}
     | .values = [.parts[] | split(":") | $b[.[0]][.[1] // "value"] | select(. != null)]
     | .ours = (if (.values | length) < (.parts | length) then null else (.values | max) end)]
  | {worst: [.[] | select((.parts | length) > 1 and .ours != null)
             | {key, value: {value: .ours, unit}}] | from_entries,
     lines: [.[] | (.bar < 0) as $least
       | "| \(.row) | \(.figure) | \(.peer) | \(if $least then "at least \(-.bar)" else "\(.bar)" end) \(.unit)"
       + " | \(if .ours == null then "-" else "\(.ours * 1e6 | round / 1e6) \(.unit)" end)"
       + " | \(if .ours == null then "-" elif (if $least then .ours >= -.bar else .ours <= .bar end) then "yes" else "**no**" end) |"]}
' > "$table.tmp" || exit 1
{
    echo '# How it feels'
    echo
    echo "CHAI3D 3.3.0: default / dynamic mode. Paths are imposed, which exaggerates what a hand would feel."
    echo
    echo '| # | figure | CHAI3D | bar | ours | met |'
    echo '|---|---|---|---|---|---|'
    jq -r '.lines[]' "$table.tmp"
} > "$table"
jq -s '.[0] * .[1].worst' "$json" "$table.tmp" > "$json.new" && mv "$json.new" "$json"
rm -f "$table.tmp"
