#!/bin/sh
# `haptic ccd --model`: whole bodies from files, closed forms and bad input.
haptic=${BUILD:-build}/haptic
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

check() { # name, expected exit code, pattern, command...
    name=$1; code=$2; pattern=$3; shift 3
    "$@" > "$work/out" 2>&1; got=$?
    if [ "$got" -eq "$code" ] && grep -q -- "$pattern" "$work/out"; then echo "ok $name"
    else echo "not ok $name (exit $got)"; cat "$work/out"; fi
}

# A pusher of 0.2 m width on a slide, a wall of 0.2 m width, centres 1.2 m apart: 1 m free.
cat > "$work/pusher.urdf" <<'U'
<robot name="pusher">
  <link name="rail"/>
  <link name="head"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="head"/><axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
</robot>
U
cat > "$work/wall.urdf" <<'U'
<robot name="wall"><link name="wall"><collision><geometry><box size="0.2 2 2"/></geometry></collision></link></robot>
U
cat > "$work/ball.urdf" <<'U'
<robot name="ball"><link name="world"/><link name="ball"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="float" type="floating"><parent link="world"/><child link="ball"/></joint></robot>
U
echo '<robot name="bare"><link name="bare"/></robot>' > "$work/bare.urdf"
echo '<robot name="m"><link name="m"><collision><geometry><mesh filename="nowhere.stl"/></geometry></collision></link></robot>' > "$work/miss.urdf"
printf '0 # one\nfast\n' > "$work/words.csv"
p=$work/pusher.urdf w=$work/wall.urdf

check "a pusher meets a wall after half of 2 m" 0 '^contact,0.49999' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 2
check "with a separation of 0.1 m it stops earlier" 0 '^contact,0.449999' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 2 --separation 0.1
check "a short push is free" 0 '^free,1$' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 0.99
check "a turned wall is met by its edge" 0 '^contact,0.' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0,0,0,0.7853981633974483 --from 0 --to 2
check "contact at the start is initial" 0 '^initial,0$' \
    "$haptic" ccd --model "$p" --model "$w" --base 0.15,0,0 --from 0 --to 2
check "JSON names status, links and distance" 0 '"status": "contact"' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 2 --json
echo "0 # at the start" > "$work/from.csv"
check "a state may be a file" 0 '^contact' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from "$work/from.csv" --to 2
check "too few numbers are refused" 2 'expected 1 numbers .* found 0' \
    "$haptic" ccd --model "$p" --from "" --to 2
check "too many numbers are refused" 2 'expected 1 numbers, found more' \
    "$haptic" ccd --model "$p" --from 1,2 --to 2
check "a file that is not there is named" 2 'from: expected a finite number or a file, found "fast.csv"' \
    "$haptic" ccd --model "$p" --from fast.csv --to 2
check "a word in a file is refused with its line" 2 'words.csv:2: expected a finite number, found "fast"' \
    "$haptic" ccd --model "$p" --from "$work/words.csv" --to 2
check "a directory is no state" 2 "$work" "$haptic" ccd --model "$p" --from "$work" --to 2
check "a number too many is refused" 2 '2x' "$haptic" ccd --model "$p" --from 0 --to 2x
check "coordinates that rounding cannot resolve are refused" 0 '^refused,0$' \
    "$haptic" ccd --model "$p" --base 1e9,0,0 --model "$w" --base 1000000001.2,0,0 --from 0 --to 2
check "so is a tolerance below rounding" 0 '^refused,0$' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 2 --tolerance 1e-300
check "a motion beyond all numbers is refused" 0 '^refused,0$' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 1e300
check "a denormal motion is free" 0 '^free,1$' \
    "$haptic" ccd --model "$p" --model "$w" --base 1.2,0,0 --from 0 --to 4e-320
check "a zero quaternion is refused" 2 'expected a quaternion w,x,y,z of length 1 for joint "float"' \
    "$haptic" ccd --model "$work/ball.urdf" --from 0,0,0,1,0,0,0 --to 2,0,0,0,0,0,0
check "a missing mesh is named" 2 'nowhere.stl' "$haptic" ccd --model "$work/miss.urdf" --from "" --to ""
check "a model without shapes is said to touch nothing" 0 'no link has a shape' \
    "$haptic" ccd --model "$work/bare.urdf" --from "" --to ""
check "not a number is refused" 2 'expected a finite number' \
    "$haptic" ccd --model "$p" --from nan --to 2
check "a missing model is named" 2 'nowhere.urdf' \
    "$haptic" ccd --model "$work/nowhere.urdf" --from 0 --to 1
check "a state is asked for" 2 'expected --from STATE and --to STATE' "$haptic" ccd --model "$p"
check "a bad base is refused" 2 'expected X,Y,Z' "$haptic" ccd --model "$p" --base 1,2 --from 0 --to 1
check "both kinds at once are refused" 2 'found both' "$haptic" ccd --kind vf --model "$p" --from 0 --to 1
