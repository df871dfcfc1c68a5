/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixlock.h"
#include "gstfairmixoutbox.h"

/* Posted in one go, of which each may take the application as long as it likes */
#define MOST_AT_ONCE 1000

struct _GstFairmixOutbox
{
  GstFairmixLock lock;
  GQueue messages;
  gboolean posting;             /* a thread has taken on what is there */
  gint n;                       /* atomic: of messages */
};

GstFairmixOutbox *
gst_fairmix_outbox_new (void)
{
  GstFairmixOutbox *outbox = g_new0 (GstFairmixOutbox, 1);

  gst_fairmix_lock_init (&outbox->lock, GST_FAIRMIX_RANK_OUTBOX);
  g_queue_init (&outbox->messages);
  return outbox;
}

void
gst_fairmix_outbox_free (GstFairmixOutbox * outbox)
{
  gst_fairmix_outbox_clear (outbox);
  gst_fairmix_lock_clear (&outbox->lock);
  g_free (outbox);
}

void
gst_fairmix_outbox_add (GstFairmixOutbox * outbox, GstMessage * message)
{
  gst_fairmix_lock_acquire (&outbox->lock);
  g_queue_push_tail (&outbox->messages, message);
  g_atomic_int_inc (&outbox->n);
  gst_fairmix_lock_release (&outbox->lock);
}

void
gst_fairmix_outbox_post (GstFairmixOutbox * outbox, GstElement * element)
{
  GstMessage *message;
  guint left;

  /* asked with each packet, and nearly always in vain */
  if (g_atomic_int_get (&outbox->n) == 0)
    return;
  gst_fairmix_lock_assert_none ();
  gst_fairmix_lock_acquire (&outbox->lock);
  if (!outbox->posting) {
    outbox->posting = TRUE;
    for (left = MOST_AT_ONCE; left > 0
        && (message = g_queue_pop_head (&outbox->messages)) != NULL; left--) {
      g_atomic_int_add (&outbox->n, -1);
      gst_fairmix_lock_release (&outbox->lock);
      gst_element_post_message (element, message);
      gst_fairmix_lock_acquire (&outbox->lock);
    }
    outbox->posting = FALSE;
  }
  gst_fairmix_lock_release (&outbox->lock);
}

guint
gst_fairmix_outbox_get_n (GstFairmixOutbox * outbox)
{
  return (guint) g_atomic_int_get (&outbox->n);
}

void
gst_fairmix_outbox_clear (GstFairmixOutbox * outbox)
{
  gst_fairmix_lock_acquire (&outbox->lock);
  g_queue_clear_full (&outbox->messages, (GDestroyNotify) gst_message_unref);
  g_atomic_int_set (&outbox->n, 0);
  gst_fairmix_lock_release (&outbox->lock);
}
