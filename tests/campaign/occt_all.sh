#!/bin/sh
# Every shipped body, 1000 points each, against OpenCASCADE's global projection.
OCCT_ALL=1 exec tests/test_occt.sh
