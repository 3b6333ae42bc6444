#!/bin/sh
# make install into an empty folder: everything is there, the installed programs run from it.
BUILD=${BUILD:-build}
nm "$BUILD/haptic" 2> /dev/null | grep -q '__[at]san_init' && { echo "ok left out under a sanitizer"; exit 0; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
if ${MAKE:-make} -s BUILD="$BUILD" install DESTDIR="$folder" > "$folder/log" 2>&1; then echo "ok make install works"
else echo "not ok make install works"; cat "$folder/log"; exit 1; fi
for file in bin/hapticd bin/haptic lib/libhaptic.so lib/libhaptic.a lib/hapticd/example.so include/haptic.h \
    include/chai3d-hapticd/cHapticdDevice.h share/hapticd/scenes/sphere.scene share/man/man8/hapticd.8 \
    share/man/man1/haptic-doctor.1 share/man/man3/libhaptic.3 include/chai3d-hapticd/CMyCustomDevice.h share/bash-completion/completions/haptic lib/udev/rules.d/70-hapticd.rules \
    lib/systemd/system/hapticd.service lib/sysusers.d/hapticd.conf; do
    [ -s "$folder/usr/local/$file" ] && echo "ok $file" || echo "not ok $file"
done
[ -s "$folder/etc/hapticd/hapticd.conf" ] && echo "ok hapticd.conf" || echo "not ok hapticd.conf"
installed=$folder/usr/local
(cd "$folder" && "$installed/bin/hapticd" --check -c etc/hapticd/hapticd.conf > check 2>&1) \
    && echo "ok the installed server accepts its settings and scene" \
    || { echo "not ok the installed server accepts its settings and scene"; cat "$folder/check"; }
cc -o "$folder/ten" tests/client/ten_lines.c -I"$installed/include" -L"$installed/lib" -lhaptic \
    && echo "ok a client builds with the installed header and library" || echo "not ok a client builds"
cc -fPIC -shared -I"$installed/include/hapticd" -o "$folder/plugin.so" devices/plugins/example.c \
    && echo "ok a plug-in builds with the installed headers" || echo "not ok a plug-in builds with the installed headers"
c++ -std=c++17 -fPIC -shared -I"$installed/include/hapticd" -Itests/stand_in -o "$folder/chai3d.so" \
    "$installed/include/chai3d-hapticd/chai3d.cpp" && echo "ok the CHAI3D plug-in builds where it is installed" \
    || echo "not ok the CHAI3D plug-in builds where it is installed"
grep -q '@' "$installed/lib/systemd/system/hapticd.service" && echo "not ok the unit has its paths" || echo "ok the unit has its paths"
if command -v systemd-analyze > /dev/null; then
    systemd-analyze verify --man=no "$installed/lib/systemd/system/hapticd.service" > "$folder/unit" 2>&1
    grep -v 'not executable' "$folder/unit" | grep -q 'hapticd.service' && { echo "not ok the unit is valid"; cat "$folder/unit"; } || echo "ok the unit is valid"
fi
