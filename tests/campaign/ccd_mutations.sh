#!/bin/bash
# Breaks collision detection in the ways that would hurt most and expects a test to turn red each
# time. Works on a copy of the tree.
set -u
here=$(pwd); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
tests="test_taylor test_feature_ccd test_moving_boxes test_ccd_body test_ccd_step"

mkdir "$work/tree"
(cd "$here" && tar cf - --exclude=tests/data Makefile geometry collide solver devices config server tests) |
    tar xf - -C "$work/tree"
ln -s "$here/tests/data" "$work/tree/tests/data"
cp -r "$work/tree" "$work/whole" # what is broken is mended from here

mutate() { # name, file, sed expression
    sed -i -E "$3" "$work/tree/$2"
    if cmp -s "$work/whole/$2" "$work/tree/$2"; then echo "not ok $1: nothing was changed"; return; fi
    cd "$work/tree" || exit 1
    red=
    # shellcheck disable=SC2046,SC2086,SC2059 # one word per test
    if make -s -j2 BUILD="$work/build" WARNINGS=-w $(printf "$work/build/tests/%s " $tests) > "$work/log" 2>&1
    then for t in $tests; do timeout 120 "$work/build/tests/$t" > /dev/null 2>&1 || red="$red $t"; done
    else echo "not ok $1: does not build"; tail -5 "$work/log"; fi
    cd "$here" || exit 1
    cat "$work/whole/$2" > "$work/tree/$2" # with a new time, so that it is built again
    if [ -n "$red" ]; then echo "ok $1:$red"; else echo "not ok $1: every test stayed green"; fi
}

mutate "the remainder of a screw is dropped" geometry/taylor.c \
    's/turn \* turn \* turn \/ 6 : 1/0 : 1/'
mutate "the radius of a product is dropped" geometry/taylor.c \
    's/round_up\(times\(size.m\[i\], &spread, half\) \+ times\(a->r.m\[i\], &reach, half\)/round_up(0 * times(size.m[i], \&spread, half) + 0 * times(a->r.m[i], \&reach, half)/'
mutate "the error is dropped in the feature test" collide/feature_ccd.c \
    's/\(limits->separation \+ error\) \* longer/limits->separation * longer/'
mutate "the joint is inverted" collide/ccd_body.c \
    's/joint_path_taylor\(path, middle, half, &joint.varying\);/{ taylor forth; joint_path_taylor(path, middle, half, \&forth); taylor_inverse(\&forth, \&joint.varying); }/'
mutate "the end of the interval is reported" collide/feature_ccd.c \
    's/out->time = start.at;/out->time = end.at;/'
mutate "a turning direction is not held against the motion" collide/feature_ccd.c \
    's/vec3_dot\(d0, x1\) \+ vec3_dot\(d1, x0\)/vec3_dot(d0, x1)/'
mutate "the cubic part of a turning direction is dropped" collide/feature_ccd.c \
    's/gap.low - cubic > s->threshold/gap.low > s->threshold/'
mutate "edges are not tested" collide/triangle_ccd.c \
    's/if \(owns_edge\(p->a, i\) && owns_edge\(p->b, j\)\)/if (0)/'
mutate "vertices of the resting triangle are not tested" collide/triangle_ccd.c \
    's/is_decided\(v\) && owns_vertex\(p->a, i\)/0/'
mutate "the part behind an expected contact is not searched" collide/ccd_step.c \
    's/postpone\(s->scene, \(ccd_stretch\)\{end, now->end, now->first, now->count, false\}\);/{}/'
mutate "the later part of time is not searched" collide/ccd_step.c \
    's/postpone\(s->scene, \(ccd_stretch\)\{cut, end, first, open, true\}\);/{}/'
mutate "the turn of a box is dropped" collide/moving_boxes.c \
    's/h \* \(f->spin \+ h \* f->spin_rate\) \* e \+ doubt/doubt/'
mutate "the radius of a box is dropped" collide/moving_boxes.c \
    's/double doubt = .*/double doubt = 0;/'
