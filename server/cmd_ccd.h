/* The two halves of `haptic ccd`: feature queries from a file, whole bodies from models. */
#ifndef SERVER_CMD_CCD_H
#define SERVER_CMD_CCD_H

#include "collide/feature_ccd.h"

enum { CCD_MODELS_MAX = 8 };

typedef struct ccd_models_job {
    int model_count;
    const char *models[CCD_MODELS_MAX]; /* URDF files */
    pose bases[CCD_MODELS_MAX];         /* world_from_base */
    const char *from, *to;              /* states: files or numbers */
    double tolerance, separation;       /* m */
    bool wants_json;
} ccd_models_job;

/* Runs every query of the file; returns the exit code. */
int cmd_ccd_features(const char *path, feature_kind kind, double tolerance, bool wants_json);

/* One step of whole bodies; returns the exit code. */
int cmd_ccd_models(const ccd_models_job *job);

#endif
