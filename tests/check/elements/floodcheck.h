/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __FLOOD_CHECK_H__
#define __FLOOD_CHECK_H__

/* An element that has more to say than its application hears */

#include "../gstfairmixcheck.h"

#define N_FLOOD 10100u          /* more than may wait */
#define FLOOD_US (60 * G_USEC_PER_SEC)

typedef struct
{
  void (*say) (gpointer user_data, guint i);    /* makes it post a message, or more */
  gpointer user_data;
  gint n_heard, is_over;        /* atomic */
} Flood;

/* It takes so long for the first message that very many are due then. */
static inline GstBusSyncReply
hear_slowly (GstBus * bus G_GNUC_UNUSED, GstMessage * message,
    gpointer user_data)
{
  Flood *flood = user_data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT
      && g_atomic_int_add (&flood->n_heard, 1) == 0) {
    for (guint i = 1; i <= N_FLOOD; i++)
      flood->say (flood->user_data, i);
    g_atomic_int_set (&flood->is_over, TRUE);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static inline guint
n_messages_dropped (GstElement * element)
{
  return (guint) element_stat (element, "n-messages-dropped");
}

/* What was not heard was counted. */
static inline gboolean
is_all_known (GstElement * element, Flood * flood)
{
  return (guint) g_atomic_int_get (&flood->n_heard)
      + n_messages_dropped (element) > N_FLOOD;
}

/* Whichever of its threads posts the first message; each of those after the flood makes
 * it post some of those that wait. */
static inline void
assert_flood_is_bounded_and_counted (GstElement * element, GstBus * bus,
    Flood * flood)
{
  gint64 end_us = g_get_monotonic_time () + FLOOD_US;
  guint n = N_FLOOD;

  fail_unless_equals_int (n_messages_dropped (element), 0);
  gst_bus_set_sync_handler (bus, hear_slowly, flood, NULL);
  flood->say (flood->user_data, 0);
  while (!g_atomic_int_get (&flood->is_over)
      && g_get_monotonic_time () < end_us)
    g_thread_yield ();
  fail_unless (g_atomic_int_get (&flood->is_over));
  fail_unless (n_messages_dropped (element) > 0);
  while (!is_all_known (element, flood) && g_get_monotonic_time () < end_us)
    flood->say (flood->user_data, ++n);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  fail_unless (is_all_known (element, flood));
}

#endif /* __FLOOD_CHECK_H__ */
