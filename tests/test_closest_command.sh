#!/bin/sh
# `haptic closest` as scripts use it: formats, places of errors, exit codes.
haptic=${BUILD:-build}/haptic
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
check() { # NAME CONDITION...
    name=$1; shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}
refused() { # NAME WORDS INPUT ARGUMENTS...: exit 2, nothing printed, WORDS on stderr
    name=$1; words=$2; input=$3; shift 3
    printf '%s' "$input" | "$haptic" closest "$@" > "$work/out" 2> "$work/err"; code=$?
    if [ $code -eq 2 ] && [ ! -s "$work/out" ] && grep -qF -- "$words" "$work/err"; then echo "ok $name"
    else echo "not ok $name"; echo "code $code"; cat "$work/out" "$work/err"; fi
}
near() { # VALUE EXPECTED
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d < 1e-12 && d > -1e-12) }'
}
sphere=config/bodies/sphere-six.json

line=$(echo 2,0,0 | "$haptic" closest $sphere)
check six_columns [ "$(echo "$line" | awk -F, '{print NF}')" -eq 6 ]
check outside_is_positive near "$(echo "$line" | cut -d, -f6)" 1
line=$(printf ' 0.25 , 0,0\r\n\n' | "$haptic" closest $sphere)
check inside_is_negative near "$(echo "$line" | cut -d, -f6)" -0.75
line=$(echo 2,0,0 | "$haptic" closest --patch $sphere)
check patch_is_a_seventh_column [ "$(echo "$line" | awk -F, '{print NF}')" -eq 7 ]
check json_is_json sh -c "echo 2,0,0 | '$haptic' closest --json $sphere | jq -e '.distance < 1.1 and .distance > 0.9' > /dev/null"
# The bowl of the roof seen from below: downhill from a corner stays a foot point, and is not nearer.
check tracking_starts_where_asked sh -c "echo 0,10,30 | '$haptic' closest config/bodies/roof.json --from 0.5 0.5 > /dev/null"

cat > "$work/box.obj" <<OBJ
v -1 -1 -1
v 1 -1 -1
v 1 1 -1
v -1 1 -1
v -1 -1 1
v 1 -1 1
v 1 1 1
v -1 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
OBJ
line=$(printf '3,0.25,0.25\n0.5,0,0\n2,2,2\n' | "$haptic" closest "$work/box.obj" | cut -d, -f6 | tr '\n' ' ')
check mesh_distances_are_signed [ "$line" = "2 -0.5 1.7320508075688772 " ]

# One bicubic B-spline patch, z = 0, over [-1,1]^2, as free-form OBJ: a plane whatever the parameters.
{
    for v in -1 -0.3 0.3 1; do for u in -1 -0.3 0.3 1; do echo "v $u $v 0 1"; done; done
    printf 'cstype rat bspline\ndeg 3 3\nsurf 0 1 0 1 1 2 3 4 5 6 7 8 \\\n 9 10 11 12 13 14 15 16\n'
    printf 'parm u 0 0 0 0 1 1 1 1\nparm v 0 0 0 0 1 1 1 1\nend\n'
} > "$work/plane.obj"
line=$(echo 0.2,0.1,0.5 | "$haptic" closest "$work/plane.obj")
check free_form_obj near "$(echo "$line" | cut -d, -f6)" 0.5
sed 's/^deg.*/deg 9 9/' "$work/plane.obj" > "$work/bad.obj"
refused obj_degree "bad.obj:18: expected degrees from 1 to 7" "" "$work/bad.obj"
sed 's/^parm u.*/parm u 0 0 0 1 1 1 1/' "$work/plane.obj" > "$work/bad.obj"
refused obj_knots "bad.obj:19: patch 0: expected 3 x 4 control points" "" "$work/bad.obj"
sed 's/^end/trim 0 1 1\nend/' "$work/plane.obj" > "$work/bad.obj"
refused obj_trim "bad.obj:23: expected untrimmed surfaces" "" "$work/bad.obj"
sed 's/^v -1 -1 0 1/v -1 nan 0 1/' "$work/plane.obj" > "$work/bad.obj"
refused obj_nan "bad.obj:1: expected a finite number" "" "$work/bad.obj"
sed 's/^v -1 -1 0 1/v -1 -1 0 0/' "$work/plane.obj" > "$work/bad.obj"
refused obj_weight "expected a positive weight for point [0][0]" "" "$work/bad.obj"
sed 's/ 16$/ 17/' "$work/plane.obj" > "$work/bad.obj"
refused obj_index "expected the number of a vertex above, found \"17\"" "" "$work/bad.obj"

refused bad_number "stdin:2:3: expected x,y,z" "1,2,3
1,x,3
" $sphere
refused missing_column "stdin:1:4: expected x,y,z" "1,2
" $sphere
refused not_finite "stdin:1:1: expected x,y,z" "nan,2,3
" $sphere
refused no_file "expected a mesh file" "1,2,3
" "$work/none.json"
refused no_body "expected one body file" ""
refused bad_from "--from: expected two numbers" "" $sphere --from 1 x
refused from_outside "expected parameters within patch 0" "1,2,3
" $sphere --from 7 7
refused broken_json "broken.json:2:0: expected JSON" "" "$(echo '{"kind": "body",' > "$work/broken.json"; echo "$work/broken.json")"
check info_counts_the_egg sh -c "'$haptic' info config/bodies/egg.json --json | jq -e '.patches == 1 and .poles == 2 and .periodic == 1 and .closed and .convex and .patch[0].convex == \"convex(-n)\"' > /dev/null"
check info_counts_the_teapot sh -c "'$haptic' info config/bodies/teapot.json --json | jq -e '.patches == 32 and (.convex | not) and ([.patch[] | select(.convex != \"no\")] | length) == 8 and ([.patch[] | select(.poles != \"\")] | length) == 8' > /dev/null"
check info_reads_as_text sh -c "'$haptic' info tests/data/bodies/lemon_a.json | grep -q 'seams       3 (3 creases), 0 open edges'"
check info_of_a_mesh sh -c "'$haptic' info '$work/box.obj' --json | jq -e '.triangles == 12 and .closed' > /dev/null"
check info_of_free_form_obj sh -c "'$haptic' info '$work/plane.obj' --json | jq -e '.patches == 1 and .patch[0].convex == \"flat\"' > /dev/null"
check help sh -c "'$haptic' closest --help | grep -q '^usage: haptic closest'"
