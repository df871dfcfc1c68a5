/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __LONG_RUN_H__
#define __LONG_RUN_H__

/* What programs share that run for as long as they are told to. */

#include <gst/gst.h>

#include <stdio.h>

#define MINUTE_US (60 * G_USEC_PER_SEC)

typedef struct
{
  gint seconds, seed;           /* as the command line says */
  gint64 patience_us;           /* so long it may stand still */
  gint progress;                /* atomic: steps done */
  gint stop;                    /* atomic */
} LongRun;

/* Reads --seconds and --seed.  Any warning is fatal from here on.  Returns: FALSE if
 * the command line is wrong */
static inline gboolean
long_run_init (LongRun * run, int *argc, char ***argv)
{
  GOptionEntry entries[] = {
    {"seconds", 0, 0, G_OPTION_ARG_INT, &run->seconds, "how long", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT, &run->seed, "of what is done", "N"},
    {NULL, 0, 0, 0, NULL, NULL, NULL}
  };
  GOptionContext *context = g_option_context_new (NULL);
  gboolean good;

  gst_registry_fork_set_enabled (FALSE);        /* a forked scanner knows no sanitizer */
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  good = g_option_context_parse (context, argc, argv, NULL)
      && run->seconds >= 1;
  g_option_context_free (context);
  setvbuf (stdout, NULL, _IOLBF, 0);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
  if (good)
    g_print ("seed %d, %d s\n", run->seed, run->seconds);
  return good;
}

static inline gpointer
long_run_watch_main (gpointer data)
{
  LongRun *run = data;
  gint64 since_us = g_get_monotonic_time ();
  gint seen = -1;

  while (!g_atomic_int_get (&run->stop)) {
    gint progress = g_atomic_int_get (&run->progress);

    if (progress != seen)
      since_us = g_get_monotonic_time ();
    else if (g_get_monotonic_time () - since_us > run->patience_us)
      g_error ("nothing has happened for %d s",
          (gint) (run->patience_us / G_USEC_PER_SEC));
    seen = progress;
    g_usleep (100000);
  }
  return NULL;
}

/* A thread that waits for ever is what this is to find.  @run stays for good. */
static inline void
long_run_watch (LongRun * run)
{
  g_thread_unref (g_thread_new ("watch", long_run_watch_main, run));
}

/* As applications do, or they pile up.  @may_fail: errors are part of it. */
static inline void
long_run_read_messages (GstElement * pipeline, gboolean may_fail)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  while ((message = gst_bus_pop (bus)) != NULL) {
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR && !may_fail)
      g_error ("%s", gst_structure_to_string (gst_message_get_structure
              (message)));
    gst_message_unref (message);
  }
  gst_object_unref (bus);
}

#endif /* __LONG_RUN_H__ */
