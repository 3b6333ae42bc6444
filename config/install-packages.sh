#!/bin/sh
# usage: install-packages.sh PACKAGE...
# Installs those Debian packages that are missing, says which, and asks nothing.
missing=
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "installing:$missing"
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
if ! command -v apt-get >/dev/null; then
    echo "not a Debian system: please install these packages yourself:$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q >/dev/null
# shellcheck disable=SC2086 # one word per package
$as_root apt-get install -y -q --no-install-recommends $missing >/dev/null || {
    echo "could not install:$missing" >&2
    exit 1
}
