/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A push may take as long as whoever is behind the pad pleases, and which one will
 * is not known before.  So it is not made by the thread that brought the packet.
 * What is to be pushed is written down in one list; one thread, the leader, takes
 * that list as a whole and goes through it.  When he does not come out of a pad for
 * longer than the patience lasts, he stays with that pad, which has him for itself
 * from then on, and another one takes the rest of his list, and leads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* pushes in a row that held nobody up, until a pad is trusted again */
#define QUICK_PUSHES 250
/* without a leader, until the watch goes to sleep */
#define IDLE_LOOKS 100
/* deliveries that wait for the leader, until those who bring more wait as well */
#define MAX_BACKLOG 4096
/* a courier's list is not his, or not any more */
#define NOT_HIS (-1)

typedef struct
{
  GstPartialMixCouriers *couriers;
  GThread *thread;
  GCond wake;
  GstPartialMixSrcPad *pad;     /* that he alone serves; held */
  gboolean leads;
  GArray *batch;                /* the leader's list, of GstPartialMixDelivery */
  gint next;                    /* atomic: in there, the first not begun */
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
  GArray *incoming;             /* of GstPartialMixDelivery, for the leader */
  Courier *leader;
  gboolean leader_rests;
  GCond wake_leader;
  GCond moved;                  /* there is room in incoming */
  GThread *watch;
  GCond wake_watch;
  gboolean watch_sleeps;
  guint64 n_batches;            /* that leaders took ... */
  guint64 n_seen;               /* ... when it was looked at last ... */
  gint next_seen;               /* ... and where in it the leader was ... */
  gint64 seen_us;               /* ... and had come lately */
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

/* without the lock; what @delivery holds besides is its owner's to drop */
static void
push (GstPartialMixDelivery * delivery)
{
  gst_partial_mix_src_pad_push (delivery->pad, delivery->caps,
      g_steal_pointer (&delivery->data));
}

/* without the lock: who drops the last reference of a pad must not have it */
static void
clear_deliveries (GArray * deliveries)
{
  guint i;

  for (i = 0; i < deliveries->len; i++)
    delivery_clear (&g_array_index (deliveries, GstPartialMixDelivery, i));
  g_array_set_size (deliveries, 0);
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
static gpointer watch_main (gpointer data);

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
  courier->next = NOT_HIS;
  courier->batch = gst_partial_mix_deliveries_new ();
  g_cond_init (&courier->wake);
  g_ptr_array_add (couriers->all, courier);
  courier->thread = g_thread_new ("partialmix-push", courier_main, courier);
  return courier;
}

/* Returns: whether to signal wake_leader, when the lock is gone: who is woken
 * under a lock waits for it at once */
static gboolean
call_leader (GstPartialMixCouriers * couriers)
{
  gboolean rested = couriers->leader_rests;

  if (couriers->incoming->len == 0)
    return FALSE;
  if (couriers->watch == NULL)
    couriers->watch = g_thread_new ("partialmix-watch", watch_main, couriers);
  else if (couriers->watch_sleeps)
    g_cond_signal (&couriers->wake_watch);
  couriers->leader_rests = FALSE;
  if (couriers->leader == NULL) {
    couriers->leader = call_courier (couriers);
    couriers->leader->leads = TRUE;
  }
  return rested;
}

/* with the lock, which is given up for as long as it takes */
static void
push_one (Courier * courier, GstPartialMixDelivery * delivery)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixDoor *door = &courier->pad->door;
  gint64 since_us = g_get_monotonic_time ();

  gst_fairmix_lock_release (&couriers->lock);
  push (delivery);
  delivery_free (delivery);
  gst_fairmix_lock_acquire (&couriers->lock);
  if (g_get_monotonic_time () - since_us >= couriers->patience_us)
    door->n_quick = 0;
  else if (door->slow && ++door->n_quick >= QUICK_PUSHES)
    set_slow (couriers, courier->pad, FALSE);
}

static void
serve_pad (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixSrcPad *pad = courier->pad;
  GstPartialMixDelivery *delivery;

  while ((delivery = g_queue_pop_head (&pad->door.waiting)) != NULL)
    push_one (courier, delivery);
  pad->door.holder = NULL;
  courier->pad = NULL;
  gst_fairmix_lock_release (&couriers->lock);
  gst_object_unref (pad);
  gst_fairmix_lock_acquire (&couriers->lock);
}

/* Whether the next one in the list is still this courier's to push. */
static gboolean
claim (Courier * courier, guint n)
{
  gint next = g_atomic_int_get (&courier->next);

  return next != NOT_HIS && (guint) next < n
      && g_atomic_int_compare_and_exchange (&courier->next, next, next + 1);
}

/* with the lock, which is given up for as long as it takes */
static void
push_batch (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GArray *batch = couriers->incoming;
  guint n = batch->len, i;

  couriers->incoming = courier->batch;
  courier->batch = batch;
  couriers->n_batches++;
  if (n >= MAX_BACKLOG)
    g_cond_broadcast (&couriers->moved);
  g_atomic_int_set (&courier->next, 0);
  gst_fairmix_lock_release (&couriers->lock);

  for (i = 0; claim (courier, n); i++)
    push (&g_array_index (batch, GstPartialMixDelivery, i));
  if (!g_atomic_int_compare_and_exchange (&courier->next, (gint) n, NOT_HIS)) {
    /* he was left, and the rest of the list was taken */
    gst_fairmix_lock_acquire (&couriers->lock);
    g_array_set_size (batch, i);
    gst_fairmix_lock_release (&couriers->lock);
  }
  clear_deliveries (batch);
  gst_fairmix_lock_acquire (&couriers->lock);
}

/* with the lock: leads until he is left behind, or all stop */
static void
lead (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;

  while (courier->leads) {
    if (couriers->incoming->len > 0) {
      push_batch (courier);
    } else if (couriers->running) {
      couriers->leader_rests = TRUE;
      gst_fairmix_lock_wait (&couriers->lock, &couriers->wake_leader);
      couriers->leader_rests = FALSE;
    } else {
      courier->leads = FALSE;
      couriers->leader = NULL;
    }
  }
}

static gpointer
courier_main (gpointer data)
{
  Courier *courier = data;
  GstPartialMixCouriers *couriers = courier->couriers;

  gst_fairmix_lock_acquire (&couriers->lock);
  for (;;) {
    if (courier->leads)
      lead (courier);
    if (courier->pad != NULL)
      serve_pad (courier);
    else if (!couriers->running)
      break;
    else {
      g_ptr_array_add (couriers->idle, courier);
      gst_fairmix_lock_wait (&couriers->lock, &courier->wake);
      g_ptr_array_remove_fast (couriers->idle, courier);
    }
  }
  gst_fairmix_lock_release (&couriers->lock);
  return NULL;
}

/* ------------------------------------------------------------- delivering -- */

/* with the lock; takes what @delivery holds */
static void
put_down (GstPartialMixCouriers * couriers, GstPartialMixDelivery * delivery)
{
  GstPartialMixDoor *door = &delivery->pad->door;

  if (!door->slow && door->holder == NULL) {
    g_array_append_val (couriers->incoming, *delivery);
    return;
  }
  g_queue_push_tail (&door->waiting, g_memdup2 (delivery, sizeof *delivery));
  if (door->waiting.length > GST_PARTIAL_MIX_MAX_WAITING)
    drop_oldest (door);
  if (door->holder == NULL) {
    Courier *courier = call_courier (couriers);

    courier->pad = gst_object_ref (delivery->pad);
    door->holder = courier;
  }
}

/* The leader does not come out of where he is: another one leads. */
static void
leave_leader (GstPartialMixCouriers * couriers)
{
  Courier *stuck = couriers->leader;
  GArray *incoming = couriers->incoming;
  GstPartialMixSrcPad *pad;
  gint next;
  guint i;

  do {
    next = g_atomic_int_get (&stuck->next);
    if (next == NOT_HIS || next == 0)
      return;
  } while (!g_atomic_int_compare_and_exchange (&stuck->next, next, NOT_HIS));
  pad = g_array_index (stuck->batch, GstPartialMixDelivery, next - 1).pad;
  stuck->leads = FALSE;
  stuck->pad = gst_object_ref (pad);
  pad->door.holder = stuck;
  set_slow (couriers, pad, TRUE);

  couriers->leader = NULL;
  couriers->incoming = gst_partial_mix_deliveries_new ();
  for (i = (guint) next; i < stuck->batch->len; i++)
    put_down (couriers, &g_array_index (stuck->batch, GstPartialMixDelivery,
            i));
  for (i = 0; i < incoming->len; i++)
    put_down (couriers, &g_array_index (incoming, GstPartialMixDelivery, i));
  g_array_unref (incoming);
  call_leader (couriers);
}

static void
look_after_leader (GstPartialMixCouriers * couriers)
{
  gint64 now_us = g_get_monotonic_time ();
  gint next = couriers->leader != NULL
      ? g_atomic_int_get (&couriers->leader->next) : NOT_HIS;

  if (next == NOT_HIS || next != couriers->next_seen
      || couriers->n_batches != couriers->n_seen) {
    couriers->next_seen = next;
    couriers->n_seen = couriers->n_batches;
    couriers->seen_us = now_us;
  } else if (now_us - couriers->seen_us >= couriers->patience_us) {
    leave_leader (couriers);
    couriers->seen_us = now_us;
  }
}

/* Looks after the leader, as long as he has had something to do lately. */
static gpointer
watch_main (gpointer data)
{
  GstPartialMixCouriers *couriers = data;
  guint n_idle = 0;

  gst_fairmix_lock_acquire (&couriers->lock);
  while (couriers->running) {
    n_idle = couriers->leader == NULL || (couriers->leader_rests
        && couriers->n_batches == couriers->n_seen) ? n_idle + 1 : 0;
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

static void
push_all (GArray * deliveries)
{
  guint i;

  for (i = 0; i < deliveries->len; i++)
    push (&g_array_index (deliveries, GstPartialMixDelivery, i));
  clear_deliveries (deliveries);
}

/* Whether nobody else is at the only pad, or comes to it, so that order is
 * kept. */
static gboolean
is_free (GstPartialMixCouriers * couriers, GArray * deliveries)
{
  guint i;

  if (couriers->incoming->len > 0 || (couriers->leader != NULL
          && g_atomic_int_get (&couriers->leader->next) != NOT_HIS))
    return FALSE;
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
  gboolean wake;
  guint i;

  if (deliveries->len == 0)
    return;
  if (!g_atomic_int_get (&couriers->needed)) {
    push_all (deliveries);
    return;
  }
  gst_fairmix_lock_acquire (&couriers->lock);
  /* who brings packets faster than they can be pushed waits */
  while (couriers->running && couriers->incoming->len >= MAX_BACKLOG)
    gst_fairmix_lock_wait (&couriers->lock, &couriers->moved);
  if (!couriers->running || (alone && is_free (couriers, deliveries))) {
    gst_fairmix_lock_release (&couriers->lock);
    push_all (deliveries);
    return;
  }
  for (i = 0; i < deliveries->len; i++)
    put_down (couriers, &g_array_index (deliveries, GstPartialMixDelivery, i));
  g_array_set_size (deliveries, 0);
  wake = call_leader (couriers);
  gst_fairmix_lock_release (&couriers->lock);
  if (wake)
    g_cond_signal (&couriers->wake_leader);
}

/* ------------------------------------------------------- start and stop -- */

GstPartialMixCouriers *
gst_partial_mix_couriers_new (void (*slow) (gpointer user_data,
        GstPartialMixSrcPad * pad, gboolean slow, guint64 n_dropped),
    gpointer user_data)
{
  GstPartialMixCouriers *couriers = g_new0 (GstPartialMixCouriers, 1);

  gst_fairmix_lock_init (&couriers->lock, GST_FAIRMIX_RANK_COURIERS);
  couriers->slow = slow;
  couriers->user_data = user_data;
  couriers->all = g_ptr_array_new ();
  couriers->idle = g_ptr_array_new ();
  couriers->incoming = gst_partial_mix_deliveries_new ();
  g_cond_init (&couriers->wake_leader);
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
  g_cond_signal (&couriers->wake_leader);
  g_cond_broadcast (&couriers->moved);
  g_cond_signal (&couriers->wake_watch);
  gst_fairmix_lock_release (&couriers->lock);

  if (couriers->watch != NULL)
    g_thread_join (g_steal_pointer (&couriers->watch));
  for (i = 0; i < gone->len; i++) {
    Courier *courier = g_ptr_array_index (gone, i);

    g_thread_join (courier->thread);
    g_cond_clear (&courier->wake);
    g_array_unref (courier->batch);
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
  clear_deliveries (couriers->incoming);
  g_array_unref (couriers->incoming);
  g_cond_clear (&couriers->wake_leader);
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
