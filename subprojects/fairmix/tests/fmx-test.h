/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_H
#define FMX_TEST_H

/* cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_ELEMENTS(array) (sizeof (array) / sizeof ((array)[0]))

#endif /* FMX_TEST_H */
