/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixoutbox.h"

struct _GstFairmixOutbox
{
  GMutex lock;
  GQueue messages;
  gboolean posting;             /* a thread has taken on what is there */
  gint any;                     /* atomic: messages were added since */
};

GstFairmixOutbox *
gst_fairmix_outbox_new (void)
{
  GstFairmixOutbox *outbox = g_new0 (GstFairmixOutbox, 1);

  g_mutex_init (&outbox->lock);
  g_queue_init (&outbox->messages);
  return outbox;
}

void
gst_fairmix_outbox_free (GstFairmixOutbox * outbox)
{
  gst_fairmix_outbox_clear (outbox);
  g_mutex_clear (&outbox->lock);
  g_free (outbox);
}

void
gst_fairmix_outbox_add (GstFairmixOutbox * outbox, GstMessage * message)
{
  g_mutex_lock (&outbox->lock);
  g_queue_push_tail (&outbox->messages, message);
  g_atomic_int_set (&outbox->any, TRUE);
  g_mutex_unlock (&outbox->lock);
}

void
gst_fairmix_outbox_post (GstFairmixOutbox * outbox, GstElement * element)
{
  GstMessage *message;

  /* asked with each packet, and nearly always in vain */
  if (!g_atomic_int_get (&outbox->any))
    return;
  g_mutex_lock (&outbox->lock);
  if (!outbox->posting) {
    outbox->posting = TRUE;
    g_atomic_int_set (&outbox->any, FALSE);
    while ((message = g_queue_pop_head (&outbox->messages)) != NULL) {
      g_mutex_unlock (&outbox->lock);
      gst_element_post_message (element, message);
      g_mutex_lock (&outbox->lock);
    }
    outbox->posting = FALSE;
  }
  g_mutex_unlock (&outbox->lock);
}

void
gst_fairmix_outbox_clear (GstFairmixOutbox * outbox)
{
  g_mutex_lock (&outbox->lock);
  g_queue_clear_full (&outbox->messages, (GDestroyNotify) gst_message_unref);
  g_mutex_unlock (&outbox->lock);
}
