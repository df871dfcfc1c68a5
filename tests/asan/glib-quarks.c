/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps LeakSanitizer from what GLib never frees by design, so that nobody needs
 * the names on the stack of each allocation, which take half of a test's time to
 * find where libraries have no frame pointers.
 *
 * That is what libraries allocate while they are loaded before main(), and the
 * table of quarks, which GLib leaves to whoever still reads it when it makes a
 * larger one.  Linked into the test programs of a -Db_sanitize=address build. */
#include <glib.h>
#include <stdio.h>

#define BLOCK 2048              /* the table grows by so many */

void __lsan_disable (void);
void __lsan_enable (void);

static void
before_libraries (void)
{
  __lsan_disable ();
}

/* The table grows here, and next when another BLOCK of quarks is there: a process
 * of ours makes some 2,060 in all. */
static __attribute__ ((constructor)) void
after_libraries (void)
{
  GQuark quark = 0;

  for (guint n = 0; quark % BLOCK != 1; n++) {
    char name[32];

    snprintf (name, sizeof name, "fairmix-test-quark-%u", n);
    quark = g_quark_from_string (name);
  }
  __lsan_enable ();
}

static __attribute__ ((section (".preinit_array"), used))
void (*const preinit) (void) = before_libraries;
