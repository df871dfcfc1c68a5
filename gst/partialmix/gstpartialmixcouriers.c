/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A push may take as long as whoever is behind the pad pleases.  So it is not
 * made by the thread that brought the packet.  What is to be pushed waits in front
 * of its pad; one thread, the leader, goes from pad to pad.  When he does not come
 * out of one for longer than the patience lasts, he stays with that pad, which has
 * him for itself from then on, and another one leads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* pushes in a row that held nobody up, until a pad is trusted again */
#define QUICK_PUSHES 250
/* without a leader, until the watch goes to sleep */
#define IDLE_LOOKS 100

typedef struct
{
  GstPartialMixCouriers *couriers;
  GThread *thread;
  GCond wake;
  gboolean leads;
  GstPartialMixSrcPad *pad;     /* that he is at; held */
} Courier;

struct _GstPartialMixCouriers
{
  GstFairmixLock lock;
  void (*slow) (gpointer user_data, GstPartialMixSrcPad * pad, gboolean slow,
      guint64 n_dropped);
  gpointer user_data;
  gint64 patience_us;
  gboolean running;
  gint needed;                  /* atomic: they run, and have a patience */
  GPtrArray *all;               /* of Courier */
  GPtrArray *idle;
  GQueue ready;                 /* src pads where something waits; held */
  Courier *leader;
  guint64 n_pushed;             /* by leaders ... */
  guint64 n_seen;               /* ... when it was looked at last ... */
  gint64 seen_us;               /* ... and had changed */
  GCond moved;
  GThread *watch;
  GCond wake_watch;
  gboolean watch_sleeps;
};

/* ---------------------------------------------------------- deliveries -- */

static void
delivery_clear (gpointer data)
{
  GstPartialMixDelivery *delivery = data;

  if (delivery->data != NULL)
    gst_mini_object_unref (delivery->data);
  gst_clear_caps (&delivery->caps);
  gst_object_unref (delivery->pad);
}

static void
delivery_free (gpointer data)
{
  delivery_clear (data);
  g_free (data);
}

GArray *
gst_partial_mix_deliveries_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (GstPartialMixDelivery));
}

void
gst_partial_mix_deliveries_add (GArray * deliveries, GstPartialMixSrcPad * pad,
    GstCaps * caps, GstMiniObject * data)
{
  GstPartialMixDelivery delivery = { gst_object_ref (pad),
    caps != NULL ? gst_caps_ref (caps) : NULL, data
  };

  g_array_append_val (deliveries, delivery);
}

/* without the lock; takes what @delivery holds */
static void
push (GstPartialMixDelivery * delivery)
{
  gst_partial_mix_src_pad_push (delivery->pad, delivery->caps,
      g_steal_pointer (&delivery->data));
  delivery_clear (delivery);
}

/* ---------------------------------------------------------------- doors -- */

/* The oldest gives way; what ends a stream does not. */
static void
drop_oldest (GstPartialMixDoor * door)
{
  GList *l = door->waiting.head;

  while (l->next != NULL && GST_IS_EVENT (((GstPartialMixDelivery *)
              l->data)->data))
    l = l->next;
  delivery_free (l->data);
  g_queue_delete_link (&door->waiting, l);
  door->n_dropped++;
}

void
gst_partial_mix_door_clear (GstPartialMixDoor * door)
{
  g_queue_clear_full (&door->waiting, delivery_free);
}

static void
set_slow (GstPartialMixCouriers * couriers, GstPartialMixSrcPad * pad,
    gboolean slow)
{
  GstPartialMixDoor *door = &pad->door;

  door->n_quick = 0;
  if (door->slow == slow)
    return;
  door->slow = slow;
  couriers->slow (couriers->user_data, pad, slow, door->n_dropped);
}

/* --------------------------------------------------------------- couriers -- */

static gpointer courier_main (gpointer data);

static Courier *
call_courier (GstPartialMixCouriers * couriers)
{
  Courier *courier;

  if (couriers->idle->len > 0) {
    courier = g_ptr_array_steal_index_fast (couriers->idle,
        couriers->idle->len - 1);
    g_cond_signal (&courier->wake);
    return courier;
  }
  courier = g_new0 (Courier, 1);
  courier->couriers = couriers;
  g_cond_init (&courier->wake);
  g_ptr_array_add (couriers->all, courier);
  courier->thread = g_thread_new ("partialmix-push", courier_main, courier);
  return courier;
}

static void
call_leader (GstPartialMixCouriers * couriers)
{
  if (couriers->leader != NULL || couriers->ready.length == 0)
    return;
  couriers->leader = call_courier (couriers);
  if (couriers->watch_sleeps)
    g_cond_signal (&couriers->wake_watch);
  couriers->leader->leads = TRUE;
}

/* with the lock, which is given up for as long as it takes */
static void
push_one (Courier * courier, GstPartialMixDelivery * delivery)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixDoor *door = &courier->pad->door;
  gboolean slow = door->slow;
  gint64 since_us = slow ? g_get_monotonic_time () : 0;

  gst_fairmix_lock_release (&couriers->lock);
  push (delivery);
  g_free (delivery);
  gst_fairmix_lock_acquire (&couriers->lock);
  if (courier->leads)
    couriers->n_pushed++;
  if (!slow)
    return;
  if (g_get_monotonic_time () - since_us >= couriers->patience_us)
    door->n_quick = 0;
  else if (++door->n_quick >= QUICK_PUSHES)
    set_slow (couriers, courier->pad, FALSE);
}

static void
serve_pad (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixSrcPad *pad = courier->pad;
  GstPartialMixDelivery *delivery;

  while ((delivery = g_queue_pop_head (&pad->door.waiting)) != NULL) {
    /* who is full may hold somebody up */
    if (pad->door.waiting.length == GST_PARTIAL_MIX_MAX_WAITING - 1)
      g_cond_broadcast (&couriers->moved);
    push_one (courier, delivery);
  }
  pad->door.holder = NULL;
  courier->pad = NULL;
  gst_fairmix_lock_release (&couriers->lock);
  gst_object_unref (pad);
  gst_fairmix_lock_acquire (&couriers->lock);
}

static gpointer
courier_main (gpointer data)
{
  Courier *courier = data;
  GstPartialMixCouriers *couriers = courier->couriers;

  gst_fairmix_lock_acquire (&couriers->lock);
  for (;;) {
    if (courier->leads && courier->pad == NULL)
      courier->pad = g_queue_pop_head (&couriers->ready);
    if (courier->pad != NULL) {
      courier->pad->door.holder = courier;
      serve_pad (courier);
      continue;
    }
    if (courier->leads)
      couriers->leader = NULL;
    courier->leads = FALSE;
    if (!couriers->running)
      break;
    g_ptr_array_add (couriers->idle, courier);
    gst_fairmix_lock_wait (&couriers->lock, &courier->wake);
    g_ptr_array_remove_fast (couriers->idle, courier);
  }
  gst_fairmix_lock_release (&couriers->lock);
  return NULL;
}

/* ------------------------------------------------------------- delivering -- */

/* The leader does not come out of where he is: another one leads. */
static void
leave_leader (GstPartialMixCouriers * couriers)
{
  Courier *stuck = couriers->leader;

  if (stuck == NULL || stuck->pad == NULL)
    return;
  set_slow (couriers, stuck->pad, TRUE);
  stuck->leads = FALSE;
  couriers->leader = NULL;
  call_leader (couriers);
}

static void
look_after_leader (GstPartialMixCouriers * couriers)
{
  gint64 now_us = g_get_monotonic_time ();

  if (couriers->n_pushed != couriers->n_seen || couriers->leader == NULL) {
    couriers->n_seen = couriers->n_pushed;
    couriers->seen_us = now_us;
  } else if (now_us - couriers->seen_us >= couriers->patience_us) {
    leave_leader (couriers);
    couriers->seen_us = now_us;
  }
}

/* Looks after the leader, as long as there has been one lately. */
static gpointer
watch_main (gpointer data)
{
  GstPartialMixCouriers *couriers = data;
  guint n_idle = 0;

  gst_fairmix_lock_acquire (&couriers->lock);
  while (couriers->running) {
    n_idle = couriers->leader == NULL ? n_idle + 1 : 0;
    couriers->watch_sleeps = n_idle > IDLE_LOOKS;
    if (couriers->watch_sleeps)
      gst_fairmix_lock_wait (&couriers->lock, &couriers->wake_watch);
    else
      gst_fairmix_lock_wait_until (&couriers->lock, &couriers->wake_watch,
          g_get_monotonic_time () + couriers->patience_us);
    look_after_leader (couriers);
  }
  gst_fairmix_lock_release (&couriers->lock);
  return NULL;
}

/* Where all are quick who brings packets faster than they can be pushed waits. */
static void
wait_for_room (GstPartialMixCouriers * couriers, GstPartialMixDoor * door)
{
  while (couriers->running && !door->slow
      && door->waiting.length >= GST_PARTIAL_MIX_MAX_WAITING) {
    guint64 n_pushed = couriers->n_pushed;

    if (!gst_fairmix_lock_wait_until (&couriers->lock, &couriers->moved,
            g_get_monotonic_time () + couriers->patience_us)
        && n_pushed == couriers->n_pushed)
      leave_leader (couriers);
  }
}

/* with the lock; takes what @delivery holds */
static void
put_down (GstPartialMixCouriers * couriers, GstPartialMixDelivery * delivery)
{
  GstPartialMixSrcPad *pad = delivery->pad;
  GstPartialMixDoor *door = &pad->door;

  wait_for_room (couriers, door);
  g_queue_push_tail (&door->waiting, g_memdup2 (delivery, sizeof *delivery));
  if (door->waiting.length > GST_PARTIAL_MIX_MAX_WAITING)
    drop_oldest (door);
  if (door->holder != NULL)
    return;
  if (door->slow) {
    Courier *courier = call_courier (couriers);

    courier->pad = gst_object_ref (pad);
    door->holder = courier;
  } else {
    g_queue_push_tail (&couriers->ready, gst_object_ref (pad));
    door->holder = couriers;    /* it is to be served */
  }
}

static void
push_all (GArray * deliveries)
{
  guint i;

  for (i = 0; i < deliveries->len; i++)
    push (&g_array_index (deliveries, GstPartialMixDelivery, i));
  g_array_set_size (deliveries, 0);
}

/* Whether nobody else is at the only pad, so that order is kept. */
static gboolean
is_free (GArray * deliveries)
{
  guint i;

  for (i = 0; i < deliveries->len; i++)
    if (g_array_index (deliveries, GstPartialMixDelivery, i).pad->door.holder
        != NULL)
      return FALSE;
  return TRUE;
}

void
gst_partial_mix_couriers_deliver (GstPartialMixCouriers * couriers,
    GArray * deliveries, gboolean alone)
{
  guint i;

  if (deliveries->len == 0)
    return;
  if (!g_atomic_int_get (&couriers->needed)) {
    push_all (deliveries);
    return;
  }
  gst_fairmix_lock_acquire (&couriers->lock);
  if (!couriers->running || (alone && is_free (deliveries))) {
    gst_fairmix_lock_release (&couriers->lock);
    push_all (deliveries);
    return;
  }
  for (i = 0; i < deliveries->len; i++)
    put_down (couriers, &g_array_index (deliveries, GstPartialMixDelivery, i));
  g_array_set_size (deliveries, 0);
  call_leader (couriers);
  gst_fairmix_lock_release (&couriers->lock);
}

/* ------------------------------------------------------- start and stop -- */

GstPartialMixCouriers *
gst_partial_mix_couriers_new (void (*slow) (gpointer user_data,
        GstPartialMixSrcPad * pad, gboolean slow, guint64 n_dropped),
    gpointer user_data)
{
  GstPartialMixCouriers *couriers = g_new0 (GstPartialMixCouriers, 1);

  gst_fairmix_lock_init (&couriers->lock, GST_PARTIAL_MIX_RANK_COURIERS);
  couriers->slow = slow;
  couriers->user_data = user_data;
  couriers->all = g_ptr_array_new ();
  couriers->idle = g_ptr_array_new ();
  g_queue_init (&couriers->ready);
  g_cond_init (&couriers->moved);
  g_cond_init (&couriers->wake_watch);
  return couriers;
}

void
gst_partial_mix_couriers_start (GstPartialMixCouriers * couriers,
    GstClockTime patience)
{
  gst_fairmix_lock_acquire (&couriers->lock);
  couriers->running = TRUE;
  couriers->patience_us = GST_CLOCK_TIME_IS_VALID (patience)
      ? (gint64) (patience / GST_USECOND) : G_MAXINT64;
  g_atomic_int_set (&couriers->needed, couriers->patience_us != G_MAXINT64);
  if (couriers->patience_us != G_MAXINT64 && couriers->watch == NULL)
    couriers->watch = g_thread_new ("partialmix-watch", watch_main, couriers);
  gst_fairmix_lock_release (&couriers->lock);
}

void
gst_partial_mix_couriers_stop (GstPartialMixCouriers * couriers)
{
  GPtrArray *gone;
  guint i;

  gst_fairmix_lock_acquire (&couriers->lock);
  couriers->running = FALSE;
  g_atomic_int_set (&couriers->needed, FALSE);
  gone = g_steal_pointer (&couriers->all);
  couriers->all = g_ptr_array_new ();
  for (i = 0; i < gone->len; i++)
    g_cond_signal (&((Courier *) g_ptr_array_index (gone, i))->wake);
  g_cond_broadcast (&couriers->moved);
  g_cond_signal (&couriers->wake_watch);
  gst_fairmix_lock_release (&couriers->lock);

  if (couriers->watch != NULL)
    g_thread_join (g_steal_pointer (&couriers->watch));
  for (i = 0; i < gone->len; i++) {
    Courier *courier = g_ptr_array_index (gone, i);

    g_thread_join (courier->thread);
    g_cond_clear (&courier->wake);
    g_free (courier);
  }
  g_ptr_array_unref (gone);
  g_ptr_array_set_size (couriers->idle, 0);
}

void
gst_partial_mix_couriers_free (GstPartialMixCouriers * couriers)
{
  gst_partial_mix_couriers_stop (couriers);
  g_ptr_array_unref (couriers->all);
  g_ptr_array_unref (couriers->idle);
  g_cond_clear (&couriers->moved);
  g_cond_clear (&couriers->wake_watch);
  gst_fairmix_lock_clear (&couriers->lock);
  g_free (couriers);
}

void
gst_partial_mix_couriers_get_stats (GstPartialMixCouriers * couriers,
    GstPartialMixDoor * door, gboolean * slow, guint64 * n_dropped)
{
  gst_fairmix_lock_acquire (&couriers->lock);
  *slow = door->slow;
  *n_dropped = door->n_dropped;
  gst_fairmix_lock_release (&couriers->lock);
}
