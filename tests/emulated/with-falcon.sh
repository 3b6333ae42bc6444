#!/bin/sh
# usage: with-falcon.sh shim|process [PROGRAM ARGUMENTS...]
# Runs a program on a machine that seems to have a Falcon (two with EMULATED_UNITS=2): level 2, the shim
# in the program's own process, or level 3, a device process with hot-plug. EMULATED_FALCON holds
# faults, EMULATED_FALCON_SCRIPT the hand's script.
BUILD=${BUILD:-build}; here=$(dirname "$0"); level=$1; shift
HAPTICD_FALCON_FIRMWARE=${HAPTICD_FALCON_FIRMWARE-$BUILD/emulated/falcon.bin}; export HAPTICD_FALCON_FIRMWARE
case $level in
shim)
    second=; [ "${EMULATED_UNITS:-1}" -gt 1 ] && second="--device $here/falcon1.umockdev"
    # shellcheck disable=SC2086 # one option and its value, or nothing
    exec umockdev-run --device "$here/falcon0.umockdev" $second -- \
        env LD_PRELOAD="$BUILD/emulated/usbfs_shim.so:libumockdev-preload.so.0" "$@" ;;
process)
    exec umockdev-wrapper "$BUILD/emulated/falcon-process" --units "${EMULATED_UNITS:-1}" -- "$@" ;;
*)  echo "usage: with-falcon.sh shim|process PROGRAM ARGUMENTS..." >&2; exit 2 ;;
esac
