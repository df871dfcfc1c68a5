/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_ASMP_H
#define FMX_TEST_ASMP_H

#include <math.h>
#include <stdbool.h>

#include "fmx-test.h"

/* Whether @a is @b, give or take a part of it. */
static inline bool
is_near (double a, double b, double part)
{
  return fabs (a - b) <= part * fabs (b) + 1e-12;
}

#define assert_near(a, b, part) assert_true (is_near (a, b, part))

#endif /* FMX_TEST_ASMP_H */
