#!/bin/sh
CALIBRATE=1 exec tests/test_doctor.sh
