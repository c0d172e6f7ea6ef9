/* SPDX-License-Identifier: GPL-2.0-only */
/* A region's result as one line of JSON. */
#ifndef NUMASIM_REPORT_H
#define NUMASIM_REPORT_H

#include "region.h"

void report(const struct region *region, unsigned int id, FILE *to);

/* Population standard deviation over mean; 0 if all are 0. */
double relative_deviation(const double *value, unsigned int n);

#endif
