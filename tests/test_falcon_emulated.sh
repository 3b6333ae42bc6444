#!/bin/sh
# The Falcon's driver on all levels of the emulated device: in-process, under the real libusb by the
# usbfs shim, and as a device process of umockdev. Counts and states only; no timing is asserted.
BUILD=${BUILD:-build}
logs=$BUILD/tests/logs; mkdir -p "$logs"
check() {
    name=$1; shift
    if "$@" > "$logs/emulated.out" 2>&1; then echo "ok $name"
    else echo "not ok $name"; tail -n 40 "$logs/emulated.out"
    fi
}
HAPTICD_FALCON_FIRMWARE=$BUILD/emulated/falcon.bin; export HAPTICD_FALCON_FIRMWARE
check "falcon conforms on the in-process device" "$BUILD/device-conformance" --seconds 1 falcon-emulated
# preloading a library before the sanitizer's own does not work
if nm "$BUILD/device-conformance" 2>/dev/null | grep -q '__[at]san_init'; then exit 0; fi
with() { level=$1; shift; tests/emulated/with-falcon.sh "$level" "$@"; }
check "falcon conforms under libusb and the shim" with shim "$BUILD/device-conformance" --seconds 1 falcon
check "falcon conforms on the device process" with process "$BUILD/device-conformance" --slow --seconds 2 falcon:serial:EMUL0000
EMULATED_UNITS=2; export EMULATED_UNITS
check "the second of two falcons is found by serial number" with shim "$BUILD/device-conformance" --seconds 1 falcon:serial:EMUL0001
check "and by port" with shim "$BUILD/device-conformance" --seconds 1 falcon:port:1-4
check "a falcon that is not there is refused by name" sh -c \
    "! tests/emulated/with-falcon.sh shim $BUILD/device-conformance --set attempts=1 falcon:serial:NOBODY"
tests/emulated/unplug.sh 1
