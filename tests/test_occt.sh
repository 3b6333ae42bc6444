#!/bin/sh
# Against OpenCASCADE: `haptic closest` is never farther than its global projection, and `haptic import`
# of parts that it made gives the distances of the formulas.
build=${BUILD:-build}; tool=$build/tests/occt/occt_tool; haptic=$build/haptic
if [ ! -x "$tool" ] || [ ! -x "$build/haptic-import" ]; then
    echo "SKIPPED: OpenCASCADE is not installed (libocct-data-exchange-dev, libocct-modeling-algorithms-dev)"
    echo "ok occt_skipped"; exit 0
fi
# OpenCASCADE keeps tables until the end of the process, which a leak checker would count.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
seed=${TEST_SEED:-31}; echo "seed $seed"
count=$(awk -v e="${TEST_EFFORT:-1}" 'BEGIN { n = int(1000 * e); print (n > 1 ? n : 1) }')
points() { # LOW HIGH COUNT: in a cube
    awk -v a="$1" -v b="$2" -v n="$3" -v s="$seed" 'BEGIN { srand(s); for (i = 0; i < n; i++)
        printf "%.17g,%.17g,%.17g\n", a + (b - a) * rand(), a + (b - a) * rand(), a + (b - a) * rand() }'
}
# BODY SIZE LOW HIGH SHARE: a file, its size, the cube of the points, and the share of them to ask (the
# projection takes 0.1 ms to 30 ms; OCCT_ALL asks all, as make campaign does)
while read -r body size low high share; do
    name=$(basename "$body" .json)
    points "$low" "$high" "$(awk -v n="$count" -v s="${OCCT_ALL:-$share}" 'BEGIN { print int(n * s + 0.999) }')" > "$work/in"
    "$haptic" closest "$body" < "$work/in" | cut -d, -f6 > "$work/ours"
    "$tool" project "$body" < "$work/in" > "$work/theirs"
    if paste "$work/ours" "$work/theirs" | awk -v size="$size" -v n="$(wc -l < "$work/in")" '
        { d = $1 < 0 ? -$1 : $1; over = (d - $2) / size; if (NR == 1 || over > worst) worst = over
          if (d - $2 < least) least = d - $2 }
        END { printf "'"$name"': %d points, farther by at most %.1e of the size, nearer by up to %.1e\n", NR, worst, -least / size
              exit !(NR == n && worst <= 1e-9) }'
    then echo "ok closest_$name"; else echo "not ok closest_$name"; fi
done <<LIST
config/bodies/egg.json 53 -30 30 0.1
config/bodies/quarter-sphere.json 24 -15 15 0.3
config/bodies/cylinder.json 36 -15 30 0.3
config/bodies/roof.json 60 -30 60 0.3
config/bodies/sphere-six.json 4.4 -2 2 0.2
config/bodies/teapot.json 8.2 -4 4 0.03
config/bodies/saddle.json 1.4 -0.5 1.5 0.3
config/bodies/tube.json 3 -2 2 0.3
config/bodies/waves.json 71 -40 40 0.3
config/bodies/hills.json 72 -40 40 0.3
tests/data/bodies/lemon_a.json 5.1 -2.5 2.5 0.3
tests/data/bodies/va_patch.json 3.2 -2 2 0.3
LIST

import() { # KIND ENDING EXPRESSION: the distance from x, y, z in awk; all 1000 points within 1e-9 of the size
    "$tool" make "$1" "$work/part.$2" > /dev/null && "$haptic" import "$work/part.$2" -o "$work/part.json" > /dev/null &&
    points -60 60 "$count" > "$work/in" && "$haptic" closest "$work/part.json" < "$work/in" | cut -d, -f6 > "$work/out" &&
    paste -d, "$work/in" "$work/out" | awk -F, -v n="$count" '
        function hypot(a, b) { return sqrt(a * a + b * b) }
        function abs(a) { return a < 0 ? -a : a }
        function max(a, b) { return a > b ? a : b }
        { x = $1; y = $2; z = $3; want = '"$3"'; e = abs($4 - want); if (e > worst) worst = e }
        END { printf "'"$1 $2"': %d points, off by at most %.1e\n", NR, worst; exit !(NR == n && worst <= 1e-9 * 100) }'
    if [ $? -eq 0 ]; then echo "ok import_$1_$2"; else echo "not ok import_$1_$2"; fi
}
for ending in step iges brep; do
    import sphere $ending 'sqrt((x-1)^2 + (y-2)^2 + (z-3)^2) - 25'
    import torus $ending 'hypot(hypot(x, y) - 40, z) - 12'
    import box $ending '(abs(x)<10 && abs(y)<20 && abs(z)<30) ? max(abs(x)-10, max(abs(y)-20, abs(z)-30)) : hypot(hypot(max(abs(x)-10,0), max(abs(y)-20,0)), max(abs(z)-30,0))'
    for can in can spline-can; do
        import $can $ending '(hypot(x,y)<10 && z>0 && z<40) ? max(hypot(x,y)-10, max(-z, z-40)) : hypot(max(hypot(x,y)-10,0), max(max(-z, z-40),0))'
    done
done

refused() { # KIND WORDS: exit 2, the face named, no file left
    "$tool" make "$1" "$work/bad.step" > /dev/null; rm -f "$work/bad.json"
    "$haptic" import "$work/bad.step" -o "$work/bad.json" > /dev/null 2> "$work/err"; code=$?
    if [ $code -eq 2 ] && grep -qF -- "$2" "$work/err" && [ ! -e "$work/bad.json" ] && [ ! -e "$work/bad.json.part" ]
    then echo "ok refused_$1"; else echo "not ok refused_$1"; echo "code $code"; cat "$work/err"; fi
}
refused bitten "bad.step: face 0 (sphere): expected a face that is a rectangle of its parameters"
refused drilled "(plane): expected a planar face without holes"
echo "not a part" > "$work/junk.step"
"$haptic" import "$work/junk.step" -o "$work/x.json" > /dev/null 2> "$work/err"
[ $? -eq 2 ] && grep -q 'junk.step: expected' "$work/err" && echo "ok junk_is_refused" || { echo "not ok junk_is_refused"; cat "$work/err"; }
