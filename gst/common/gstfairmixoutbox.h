/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_OUTBOX_H__
#define __GST_FAIRMIX_OUTBOX_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstFairmixOutbox:
 *
 * Messages that wait to be posted.  What an element decides under its lock
 * must be told without it, for whoever hears of it may call back, and in the
 * order in which it was decided.  So messages are put in here with whatever
 * locks held, and posted later with none; they leave in the order in which
 * they came, whichever threads post them.  Where whoever hears them takes longer
 * than they take to come, the oldest go: 10000 wait.  Warnings stay.
 *
 * All functions may be called from any thread.
 */
typedef struct _GstFairmixOutbox GstFairmixOutbox;

GstFairmixOutbox *gst_fairmix_outbox_new (void);

/* Nobody posts from it any more; what is in it is dropped. */
void gst_fairmix_outbox_free (GstFairmixOutbox * outbox);

/**
 * gst_fairmix_outbox_add:
 * @message: (transfer full): goes to the end of the queue
 */
void gst_fairmix_outbox_add (GstFairmixOutbox * outbox, GstMessage * message);

/**
 * gst_fairmix_outbox_post:
 * @element: posts them; no lock may be held that its bus could want
 *
 * Posts all that is in the queue, also what is added meanwhile.  While another
 * thread does that already, or this one further down its stack, the call
 * returns at once: that one posts the rest.  Of very many it leaves some to the
 * next call: in a flood of streams others add faster than they can be posted, and
 * its own stream must go on, and end when it is told to.
 */
void gst_fairmix_outbox_post (GstFairmixOutbox * outbox, GstElement * element);

/* Returns: how many messages nobody has begun to post */
guint gst_fairmix_outbox_get_n (GstFairmixOutbox * outbox);

/* Returns: how many were dropped because others came */
guint64 gst_fairmix_outbox_get_n_dropped (GstFairmixOutbox * outbox);

/* Drops what has not been posted; nobody counts that. */
void gst_fairmix_outbox_clear (GstFairmixOutbox * outbox);

G_END_DECLS

#endif /* __GST_FAIRMIX_OUTBOX_H__ */
