/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_GATE_H__
#define __GST_FAIRMIX_GATE_H__

/* A place where threads are held until the test lets them go on, so that one
 * can act while another is in the middle of something. */

#include <gst/check/gstcheck.h>

/* Nothing that is tested takes so long: the test has failed then. */
#define GATE_PATIENCE_US (30 * G_USEC_PER_SEC)

typedef struct
{
  GMutex lock;
  GCond cond;
  gboolean open;
  guint n_inside;               /* threads that are held */
  guint n_passed;               /* that ever came */
} Gate;

static inline void
gate_init (Gate * gate)
{
  *gate = (Gate) {.open = FALSE };
  g_mutex_init (&gate->lock);
  g_cond_init (&gate->cond);
}

static inline void
gate_clear (Gate * gate)
{
  g_mutex_clear (&gate->lock);
  g_cond_clear (&gate->cond);
}

static inline void
gate_pass (Gate * gate)
{
  g_mutex_lock (&gate->lock);
  gate->n_inside++;
  gate->n_passed++;
  g_cond_broadcast (&gate->cond);
  while (!gate->open)
    g_cond_wait (&gate->cond, &gate->lock);
  gate->n_inside--;
  g_mutex_unlock (&gate->lock);
}

static inline void
gate_open (Gate * gate)
{
  g_mutex_lock (&gate->lock);
  gate->open = TRUE;
  g_cond_broadcast (&gate->cond);
  g_mutex_unlock (&gate->lock);
}

/* Waits until a thread is held. */
static inline void
gate_wait (Gate * gate)
{
  gint64 end = g_get_monotonic_time () + GATE_PATIENCE_US;

  g_mutex_lock (&gate->lock);
  while (gate->n_inside == 0)
    fail_unless (g_cond_wait_until (&gate->cond, &gate->lock, end),
        "nobody came to the gate");
  g_mutex_unlock (&gate->lock);
}

static inline GstPadProbeReturn
gate_probe (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer gate)
{
  gate_pass (gate);
  return GST_PAD_PROBE_OK;
}

/* Holds whoever brings data to, or takes it from, @pad. */
static inline gulong
gate_on_pad (Gate * gate, GstPad * pad)
{
  return gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER |
      GST_PAD_PROBE_TYPE_BUFFER_LIST, gate_probe, gate, NULL);
}

/* A thread that is joined in bounded time, or the test fails. */
typedef struct
{
  GThread *thread;
  GThreadFunc func;
  gpointer data;
  Gate done;
} Runner;

static inline gpointer
runner_main (gpointer data)
{
  Runner *runner = data;

  runner->func (runner->data);
  gate_pass (&runner->done);
  return NULL;
}

static inline void
runner_start (Runner * runner, const gchar * name, GThreadFunc func,
    gpointer data)
{
  runner->func = func;
  runner->data = data;
  gate_init (&runner->done);
  runner->thread = g_thread_new (name, runner_main, runner);
}

static inline gboolean
runner_is_done (Runner * runner)
{
  gboolean done;

  g_mutex_lock (&runner->done.lock);
  done = runner->done.n_inside > 0;
  g_mutex_unlock (&runner->done.lock);
  return done;
}

static inline void
runner_join (Runner * runner)
{
  gate_wait (&runner->done);
  gate_open (&runner->done);
  g_thread_join (runner->thread);
  gate_clear (&runner->done);
}

#endif /* __GST_FAIRMIX_GATE_H__ */
