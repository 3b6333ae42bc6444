/* The two halves of `haptic ccd`: feature queries from a file, whole bodies from models. */
#ifndef SERVER_CMD_CCD_H
#define SERVER_CMD_CCD_H

#include "collide/feature_ccd.h"

/* Runs every query of the file; returns the exit code. */
int cmd_ccd_features(const char *path, feature_kind kind, double tolerance, bool wants_json);

#endif
