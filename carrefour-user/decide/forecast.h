/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a guest would wait for its memory under each choice of `auto`, by what it does under first-touch. A model of two
 * terms: an access waits for the way, and for the others that its node serves. Nobody knows how intense a guest is, so it is one
 * that hardly does anything but wait; others gain less, and lose less.
 */
#ifndef FORECAST_H
#define FORECAST_H

#include <stdbool.h>

enum auto_class { CLASS_UNKNOWN, CLASS_LOW, CLASS_MODERATE, CLASS_HIGH, NR_CLASSES };

/* Of the samples under first-touch, in 1/1000: struct measure's. */
struct placed {
	double imbalance, detour, spread;
};

/* Of an access, where 1000 is one to near memory that is used evenly. */
double forecast(const struct placed *placed, enum auto_class class);

/* Whether it would wait no longer with all pages where they are used, and that imbalance, than interleaved. */
bool forecast_private_is_good(double own_imbalance, double spread);

#endif
