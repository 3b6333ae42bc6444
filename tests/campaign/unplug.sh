#!/bin/sh
exec tests/emulated/unplug.sh 10
