/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What benchmarks of real meetings begin with: the clock that stands still where the
 * machine does not keep up, clients and mixers of the tests, and no test that could fail.
 * WIDE_BPS, if defined before: the clients' rates, as in dpmcheck.h. */
#ifndef DPMBENCH_H
#define DPMBENCH_H

#define PATIENT_WAITS
#include "../check/elements/dpmclock.h" /* first */

#include <gst/check/check.h>

#undef fail_unless
#undef fail_if
#define fail_unless(expression, ...) g_assert (expression)
#define fail_if(expression, ...) g_assert (!(expression))

#include "../check/elements/dpmcheck.h"

#include "bench.h"

#endif /* DPMBENCH_H */
