#!/bin/bash
# `haptic scenes`: every shipped scene is listed, described, drawn, and can be started.
build=${BUILD:-build}
haptic=$build/haptic hapticd=$build/hapticd
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
check() { # name, expected exit code, pattern, command...
    local name=$1 code=$2 pattern=$3 got; shift 3
    "$@" > "$work/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && { [ -z "$pattern" ] || grep -q -- "$pattern" "$work/out"; }; then echo "ok $name"
    else echo "not ok $name (exit $got)"; tail -n 20 "$work/out"; fi
}
files=$(find config/scenes -maxdepth 1 -name '*.scene' | wc -l)

"$haptic" scenes --json > "$work/list.json"
check "every shipped scene is listed" 0 "^$files\$" jq length "$work/list.json"
check "every scene has a sentence of a person's length" 0 true \
    jq -e 'all(.[]; (.sentence | length) > 30 and (.sentence | endswith(".")))' "$work/list.json"
check "every scene has a hand script" 0 true jq -e 'all(.[]; .has_hand_script)' "$work/list.json"
# 28 joints, 54 degrees of freedom and 16 008 triangles: geometry/model_make.h
check "the wooden man is counted" 0 true jq -e '.[] | select(.name == "wooden-man") |
    .bodies == {"articulated": 1} and .joints == 28 and .degrees_of_freedom == 54 and .triangles == 16008' "$work/list.json"
check "the blob has its 200 000 triangles" 0 true jq -e '.[] | select(.name == "blob") |
    .bodies == {"mesh": 1} and .triangles == 200000' "$work/list.json"
check "solids are counted by kind" 0 true jq -e '.[] | select(.name == "solids") |
    .bodies == {"plane": 1, "ellipsoid": 1, "capsule": 1, "box": 1} and .tool.kind == "point"' "$work/list.json"
check "a tool that is a body is named" 0 true jq -e '.[] | select(.name == "two-bodies") | .tool.kind == "body"' "$work/list.json"
check "one scene is shown by its name" 0 '^teapot  *The teapot' "$haptic" scenes teapot
check "one scene is shown by its path" 0 '^sphere ' "$haptic" scenes config/scenes/sphere.scene

check "thumbnails are drawn" 0 '' "$haptic" scenes --thumbnails "$work/a"
check "one for each" 0 "^$files\$" sh -c "ls '$work'/a/*.svg | wc -l"
check "and a page that shows them" 0 "^$files\$" grep -c '<img src="' "$work/a/index.html"
check "drawn again" 0 '' "$haptic" scenes -o "$work/b"
check "they are the same bytes" 0 '' diff -r "$work/a" "$work/b"
thin=$(for f in "$work"/a/*.svg; do [ "$(grep -o 'M[0-9.-]* ' "$f" | wc -l)" -gt 100 ] || echo "$f"; done)
check "every picture shows something" 0 '^$' echo "$thin"

# A folder with good and bad scenes: the bad ones are listed with the place of the mistake.
mkdir "$work/mine"
printf 'sentence = "A ball."\nbody "b" { shape = sphere  radius_m = 0.01 }\n' > "$work/mine/good.scene"
printf 'sentence = "Bad."\nbody "b" {\n    shape = sphere\n}\n' > "$work/mine/no-radius.scene"
printf 'body "b" { shape = body  file = "missing.json" }\n' > "$work/mine/no-file.scene"
printf 'body "b" { shape = mesh  file = "blob-0" }\n' > "$work/mine/no-mesh.scene"
check "bad scenes of a folder end with 2" 2 '^good  *A ball' "$haptic" scenes "$work/mine"
check "and are listed with file and line" 2 'no-radius.scene:2: body "b": expected radius_m' "$haptic" scenes "$work/mine"
check "and with a mesh that nobody makes" 2 'no-mesh.scene:1: .*N from 1 to 200, found "blob-0"' "$haptic" scenes "$work/mine"
check "and with a file that is missing" 2 'missing.json' "$haptic" scenes "$work/mine"
"$haptic" scenes "$work/mine" --json > "$work/mine.json"
check "json says so too" 0 '^4 3$' jq -r '"\(length) \([.[] | select(.error)] | length)"' "$work/mine.json"
check "good ones are drawn all the same" 2 '' "$haptic" scenes "$work/mine" -o "$work/c"
check "as a picture" 0 '' test -s "$work/c/good.svg"
check "a folder of one's own comes first" 0 'A ball' env HAPTICD_SCENES="$work/mine" "$haptic" scenes good

check "an unknown scene is refused" 2 'expected the name of a shipped scene' "$haptic" scenes nothing
check "an unknown option is refused" 2 "Try 'haptic scenes --help'" "$haptic" scenes --colour
check "two arguments are refused" 2 'at most one' "$haptic" scenes sphere plane
check "a folder that cannot be written is a failed run" 1 'expected a folder' "$haptic" scenes -o /proc/nowhere
check "it has help" 0 'usage: haptic scenes' "$haptic" scenes --help

# Started by one command, and the scene's own script really touches something.
for scene in $(jq -r '.[].name' "$work/list.json"); do
    check "$scene starts by its name" 0 '' "$hapticd" --scene "$scene" --lockstep --for 5 --record "$work/run.mcap"
    "$haptic" info "$work/run.mcap" --json > "$work/info.json"
    check "the hand of $scene touches something" 0 true \
        jq -e '.hands[0] | .contact_ticks > 100 and .max_force_n > 0.05' "$work/info.json"
done
exit 0
