#!/bin/sh
# Ten times in a row under libusb, and three times with the real hot-plug of a device process.
tests/emulated/unplug.sh 10
tests/emulated/unplug.sh 3 process
