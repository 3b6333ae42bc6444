#!/bin/sh
# `haptic dynamics` and `haptic make-model` as a user runs them.
haptic=${BUILD:-build}/haptic
robots=tests/data/urdf
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
check() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: expected '$2', found '$3'"; bad=1; fi; }

# the golden file's joints, in its own order, against the order of the file
golden() { # robot urdf
    awk -F, -v OFS=, 'FNR == NR { if (FNR > 1) { q[$1] = $3; d[$1] = $4; a[$1] = $5 }; next }
        match($0, /<joint name="[^"]*" type/) { name = substr($0, RSTART + 13, RLENGTH - 19)
            if (name in q) { order[++n] = name } }
        END { for (i = 1; i <= n; i++) printf "%s,", q[order[i]]
              for (i = 1; i <= n; i++) printf "%s,", d[order[i]]
              for (i = 1; i <= n; i++) printf "0%s", i < n ? "," : "\n"
              for (i = 1; i <= n; i++) printf "%s%s", a[order[i]], i < n ? "," : "\n" > "/dev/stderr" }' \
        "$robots/golden/$1.csv" "$robots/$2" > "$work/in" 2> "$work/expected"
}
same() { # file file tolerance
    awk -F, -v tolerance="$3" 'FNR == NR { for (i = 1; i <= NF; i++) x[i] = $i; n = NF; next }
        { for (i = 1; i <= NF; i++) { e = $i - x[i]; if (e < 0) e = -e; s = x[i] < 0 ? -x[i] : x[i]
              if (e > worst) worst = e; if (s > size) size = s } }
        END { if (n && worst <= tolerance * size) print "same"; else print "different by " worst }' "$1" "$2"
}
for robot in "kuka_iiwa kuka_iiwa/model.urdf" "pr2 pr2_description/urdf/pr2.urdf" \
             "allegro_right allegro_hand_description/urdf/allegro_right_hand.urdf"; do
    set -- $robot
    golden "$1" "$2"
    "$haptic" dynamics "$robots/$2" < "$work/in" > "$work/out" 2>/dev/null
    check "golden_$1" same "$(same "$work/expected" "$work/out" 1e-10)"
    "$haptic" dynamics "$robots/$2" --active 1000 < "$work/in" > "$work/out" 2>/dev/null
    check "golden_$1_adaptive" same "$(same "$work/expected" "$work/out" 1e-10)"
    "$haptic" dynamics "$robots/$2" --active 3 < "$work/in" > "$work/out" 2>/dev/null
    check "three_active_$1" 3 "$(tr ',' '\n' < "$work/out" | grep -vcx 0)"
done

"$haptic" make-model pendulum --balls 2 -o "$work/two"
check "two_balls_by_hand" "-88.3589 85.3917" \
    "$(echo "1.2,0,0,0,0,0" | "$haptic" dynamics "$work/two/pendulum.urdf" | awk -F, '{ printf "%.4f %.4f", $1, $2 }')"
check "two_balls_without_gravity" "0,0" \
    "$(echo "1.2,0,0,0,0,0" | "$haptic" dynamics "$work/two/pendulum.urdf" --gravity 0 0 -0 | tr -d -)"
printf '0,0,0,0,0,0\n1,2,3\n' | "$haptic" dynamics "$work/two/pendulum.urdf" > /dev/null 2> "$work/err"
check "short_line_exits_2" 2 $?
check "short_line_is_located" 1 "$(grep -c '^stdin:2: expected 6 numbers' "$work/err")"
echo "0,0,0,x,0,0" | "$haptic" dynamics "$work/two/pendulum.urdf" > /dev/null 2> "$work/err"
check "bad_number_exits_2" 2 $?
check "bad_number_is_located" 1 "$(grep -c '^stdin:1:7: expected a finite number, found "x"' "$work/err")"
"$haptic" dynamics "$work/none.urdf" < /dev/null 2> /dev/null; check "missing_model_exits_2" 2 $?
"$haptic" dynamics < /dev/null 2> /dev/null; check "no_model_exits_2" 2 $?
printf '\357\273\2771.2,0,0,0,0,0\r\n' | "$haptic" dynamics "$work/two/pendulum.urdf" --json --active=2 > "$work/out"
check "json_of_a_spreadsheet" "-88.3589 85.3917 2" \
    "$(jq -r '"\(.qdd[0] * 1e4 | round / 1e4) \(.qdd[1] * 1e4 | round / 1e4) \(.active | length)"' "$work/out")"
"$haptic" dynamics "$work" < /dev/null 2> "$work/err"; check "folder_exits_2" 2 $?
check "folder_is_named" 1 "$(grep -c 'expected a URDF file, found a folder' "$work/err")"
check "folder_says_no_more" 1 "$(wc -l < "$work/err")"

# a base without inertia and with eight limbs is a hub; a ball joint wants a rotation
inertial='<inertial><origin xyz="0 0 -.1"/><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".02"/></inertial>'
{ echo '<robot name="hub"><link name="base"/>'
  for i in 1 2 3 4 5 6 7 8; do
      echo "<link name='a$i'>$inertial</link><joint name='j$i' type='revolute'><origin xyz='0 .$i 0'/><parent link='base'/><child link='a$i'/></joint>"
      echo "<link name='b$i'>$inertial</link><joint name='k$i' type='ball'><origin xyz='0 0 -.2'/><parent link='a$i'/><child link='b$i'/></joint>"
  done; echo '</robot>'; } > "$work/hub.urdf"
awk 'BEGIN { for (i = 1; i <= 40; i++) { printf "%s%s", i % 5 == 2 ? 1 : 0.1 * sin(i), "," }
             for (i = 1; i <= 64; i++) printf "%s%s", cos(i), i < 64 ? "," : "\n" }' > "$work/in"
"$haptic" dynamics "$work/hub.urdf" < "$work/in" > "$work/expected"
"$haptic" dynamics "$work/hub.urdf" --active 16 < "$work/in" > "$work/out"
check "hub_of_eight_limbs" same "$(same "$work/expected" "$work/out" 1e-10)"
"$haptic" dynamics "$work/hub.urdf" --active 5 < "$work/in" > "$work/out"
check "hub_with_five_active" 0 $?
awk -F, -v OFS=, '{ $7 = $8 = $9 = $10 = 0; print }' "$work/in" | "$haptic" dynamics "$work/hub.urdf" 2> "$work/err" > /dev/null
check "no_rotation_exits_2" 2 $?
check "no_rotation_is_located" 1 "$(grep -c '^stdin:1: joint "k2": expected a quaternion w x y z, found 0 0 0 0' "$work/err")"

"$haptic" make-model wooden-man -o "$work/man"
check "info_counts_the_man" "29 28 54 16008" \
    "$("$haptic" info "$work/man/wooden-man.urdf" --json | jq -r '"\(.links) \(.movable_joints) \(.degrees_of_freedom) \(.triangles)"')"
check "info_names_the_height" 1 "$("$haptic" info "$robots/pr2_description/urdf/pr2.urdf" 2>/dev/null | grep -c 'tree height 8, at most 2 handles')"
check "info_warns_of_missing_meshes" 1 "$("$haptic" info "$robots/kuka_iiwa/model.urdf" 2>&1 | grep -c 'model.urdf:80: link "lbr_iiwa_link_0": expected mesh file')"
"$haptic" dynamics --help > /dev/null; check "help_exits_0" 0 $?
exit ${bad:-0}
