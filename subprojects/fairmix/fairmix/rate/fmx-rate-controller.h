/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_CONTROLLER_H
#define FMX_RATE_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _FmxRateController FmxRateController;
typedef struct _FmxRateClass FmxRateClass;

struct _FmxRateClass
{
  const char *name;
};

/* The algorithms, one .c file each, and the NULL-terminated table of all. */
extern const FmxRateClass fmx_rate_dpm, fmx_rate_tfrc;
extern const FmxRateClass *const fmx_rate_classes[];

/** fmx_rate_class_find: Returns: the class of that name, or NULL */
const FmxRateClass *fmx_rate_class_find (const char *name);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_CONTROLLER_H */
