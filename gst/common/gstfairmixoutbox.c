/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixlock.h"
#include "gstfairmixoutbox.h"

/* Posted in one go, of which each may take the application as long as it likes */
#define MOST_AT_ONCE 1000
/* May wait: what one removal of very many streams says, and some megabytes */
#define MOST_WAITING 10000

struct _GstFairmixOutbox
{
  GstFairmixLock lock;
  GQueue messages;
  gboolean posting;             /* a thread has taken on what is there */
  gint n;                       /* atomic: of messages */
  guint64 n_dropped;
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

/* with the lock; returns: (transfer full): the oldest that can be spared.  Warnings are
 * few, and said once. */
static GstMessage *
gst_fairmix_outbox_take_oldest (GstFairmixOutbox * outbox)
{
  GList *link = outbox->messages.head;
  GstMessage *message;

  while (link->next != NULL && GST_MESSAGE_TYPE (link->data)
      != GST_MESSAGE_ELEMENT)
    link = link->next;
  message = link->data;
  g_queue_delete_link (&outbox->messages, link);
  return message;
}

void
gst_fairmix_outbox_add (GstFairmixOutbox * outbox, GstMessage * message)
{
  GstMessage *dropped = NULL;

  gst_fairmix_lock_acquire (&outbox->lock);
  if (outbox->messages.length >= MOST_WAITING) {
    dropped = gst_fairmix_outbox_take_oldest (outbox);
    outbox->n_dropped++;
  } else {
    g_atomic_int_inc (&outbox->n);
  }
  g_queue_push_tail (&outbox->messages, message);
  gst_fairmix_lock_release (&outbox->lock);
  g_clear_pointer (&dropped, gst_message_unref);
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

guint64
gst_fairmix_outbox_get_n_dropped (GstFairmixOutbox * outbox)
{
  guint64 n_dropped;

  gst_fairmix_lock_acquire (&outbox->lock);
  n_dropped = outbox->n_dropped;
  gst_fairmix_lock_release (&outbox->lock);
  return n_dropped;
}

void
gst_fairmix_outbox_clear (GstFairmixOutbox * outbox)
{
  gst_fairmix_lock_acquire (&outbox->lock);
  g_queue_clear_full (&outbox->messages, (GDestroyNotify) gst_message_unref);
  g_atomic_int_set (&outbox->n, 0);
  gst_fairmix_lock_release (&outbox->lock);
}
