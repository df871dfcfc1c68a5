/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A push may take as long as whoever is behind the pad pleases, and which one will
 * is not known before.  So it is not made by the thread that brought the packet.
 * What is to be pushed is put into one list; one thread, the leader, takes that
 * list as a whole and goes through it.  When he does not come out of a pad for
 * longer than the patience lasts, he stays with that pad, which has him for itself
 * from then on, and another one takes the rest of his list, and leads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixcouriers.h"

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
  GstPartialMixBatch *head, *tail;
  guint n;                      /* deliveries */
} Batches;

typedef struct
{
  GstPartialMixCouriers *couriers;
  GThread *thread;
  GCond wake;
  GstPartialMixDoor *door;      /* that he alone serves; its owner is held */
  gboolean leads;
  Batches work;                 /* the leader's */
  gint next;                    /* atomic: in there, the first not begun */
} Courier;

struct _GstPartialMixCouriers
{
  GstFairmixLock lock;
  GstPartialMixPushFunc push;
  GstPartialMixSlowFunc slow;
  gpointer user_data;
  gint64 patience_us;
  gboolean running;
  gint needed;                  /* atomic: they run, and have a patience */
  gint n_busy;                  /* atomic: batches and deliveries under way */
  GPtrArray *all;               /* of Courier */
  GPtrArray *idle;
  Batches incoming;             /* for the leader */
  Courier *leader;
  gboolean leader_rests;
  GCond wake_leader;
  GCond moved;                  /* there is room in incoming */
  GThread *watch;
  GCond wake_watch;
  gboolean watch_sleeps;
  guint64 n_taken;              /* times that leaders took what there was ... */
  guint64 n_seen;               /* ... when it was looked at last ... */
  gint next_seen;               /* ... and where in it the leader was ... */
  gint64 seen_us;               /* ... and had come lately */
};

/* -------------------------------------------------------------- batches -- */

static void
append (Batches * batches, Batches * more)
{
  if (more->head == NULL)
    return;
  if (batches->head != NULL)
    batches->tail->next = more->head;
  else
    batches->head = more->head;
  batches->tail = more->tail;
  batches->n += more->n;
}

/* without the lock: who drops the last reference of a pad must not have it */
static void
free_batches (GstPartialMixCouriers * couriers, GstPartialMixBatch * batch,
    const GstPartialMixBatch * last)
{
  GstPartialMixBatch *next;

  for (; batch != NULL; batch = next) {
    next = batch != last ? batch->next : NULL;
    gst_partial_mix_batch_free (batch);
    g_atomic_int_add (&couriers->n_busy, -1);
  }
}

/* The one in which delivery @k of @batches is; @k becomes its place there. */
static GstPartialMixBatch *
find_batch (Batches * batches, guint * k)
{
  GstPartialMixBatch *batch = batches->head;

  for (; *k >= batch->n; batch = batch->next)
    *k -= batch->n;
  return batch;
}

/* with the lock: what is left of @courier's list, from the @from-th on.  What he
 * may still look at, up to where he is, stays as it is. */
static Batches
take_rest (Courier * courier, guint from)
{
  Batches rest = {.n = courier->work.n - from };
  guint k = from - 1;
  GstPartialMixBatch *here = find_batch (&courier->work, &k);
  GstPartialMixBatch *part = gst_partial_mix_batch_take_rest (here, k + 1);
  GstPartialMixBatch *after = here != courier->work.tail ? here->next : NULL;

  rest.head = part != NULL ? part : after;
  rest.tail = after != NULL ? courier->work.tail : part;
  if (part != NULL) {
    part->next = after;
    g_atomic_int_inc (&courier->couriers->n_busy);
  }
  return rest;
}

/* ---------------------------------------------------------------- doors -- */

void
gst_partial_mix_door_init (GstPartialMixDoor * door, GstObject * owner)
{
  const GstPartialMixDoor fresh = {.owner = owner };

  *door = fresh;
  g_queue_init (&door->waiting);
}

static void
delivery_free (GstPartialMixCouriers * couriers,
    GstPartialMixDelivery * delivery)
{
  gst_partial_mix_delivery_clear (delivery);
  g_free (delivery);
  g_atomic_int_add (&couriers->n_busy, -1);
}

/* The oldest gives way; what ends a stream does not. */
static void
drop_oldest (GstPartialMixCouriers * couriers, GstPartialMixDoor * door)
{
  GList *l = door->waiting.head;

  while (l->next != NULL && GST_IS_EVENT (((GstPartialMixDelivery *)
              l->data)->data))
    l = l->next;
  delivery_free (couriers, l->data);
  g_queue_delete_link (&door->waiting, l);
  door->n_dropped++;
}

static void
set_holder (GstPartialMixDoor * door, Courier * holder)
{
  door->holder = holder;
  g_atomic_int_set (&door->detour, door->slow || holder != NULL);
}

static void
set_slow (GstPartialMixCouriers * couriers, GstPartialMixDoor * door,
    gboolean slow)
{
  door->n_quick = 0;
  if (door->slow == slow)
    return;
  door->slow = slow;
  g_atomic_int_set (&door->detour, slow || door->holder != NULL);
  couriers->slow (couriers->user_data, door, slow, door->n_dropped);
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
  gboolean wake = couriers->leader_rests;

  if (couriers->incoming.n == 0)
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
  return wake;
}

/* with the lock, which is given up for as long as it takes */
static void
push_one (Courier * courier, GstPartialMixDelivery * delivery)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixDoor *door = courier->door;
  gint64 since_us = g_get_monotonic_time ();

  gst_fairmix_lock_release (&couriers->lock);
  couriers->push (door, delivery->caps, g_steal_pointer (&delivery->data));
  delivery_free (couriers, delivery);
  gst_fairmix_lock_acquire (&couriers->lock);
  if (g_get_monotonic_time () - since_us >= couriers->patience_us)
    door->n_quick = 0;
  else if (door->slow && ++door->n_quick >= QUICK_PUSHES)
    set_slow (couriers, door, FALSE);
}

static void
serve_door (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixDoor *door = courier->door;
  GstPartialMixDelivery *delivery;

  while ((delivery = g_queue_pop_head (&door->waiting)) != NULL)
    push_one (courier, delivery);
  set_holder (door, NULL);
  courier->door = NULL;
  gst_fairmix_lock_release (&couriers->lock);
  gst_object_unref (door->owner);
  gst_fairmix_lock_acquire (&couriers->lock);
}

/* Queues what is for a door that somebody else than @carrier is at, or has to be: he
 * may have been left behind on his way to it, and what he carries comes first.
 * Returns: FALSE if there is no such, or not any more */
static gboolean
put_down (Courier * carrier, GstPartialMixDelivery * delivery)
{
  GstPartialMixCouriers *couriers = carrier->couriers;
  GstPartialMixDoor *door = delivery->door;
  gboolean detour;

  gst_fairmix_lock_acquire (&couriers->lock);
  detour = door->holder != NULL ? door->holder != carrier : door->slow;
  if (detour) {
    g_queue_push_tail (&door->waiting, g_memdup2 (delivery, sizeof *delivery));
    delivery->caps = NULL;
    delivery->data = NULL;
    g_atomic_int_inc (&couriers->n_busy);
    if (door->waiting.length > GST_PARTIAL_MIX_MAX_WAITING)
      drop_oldest (couriers, door);
  }
  if (detour && door->holder == NULL) {
    Courier *courier = call_courier (couriers);

    gst_object_ref (door->owner);
    courier->door = door;
    set_holder (door, courier);
  }
  gst_fairmix_lock_release (&couriers->lock);
  return detour;
}

static void
push_or_put_down (Courier * carrier, GstPartialMixDelivery * delivery)
{
  if (!g_atomic_int_get (&delivery->door->detour)
      || !put_down (carrier, delivery))
    carrier->couriers->push (delivery->door, delivery->caps,
        g_steal_pointer (&delivery->data));
}

/* Goes through @courier's list, whose every delivery he has to claim before he
 * looks at it, or at where it is.
 * Returns: how far he came in the last batch, which @last becomes; 0 if he was
 * not left behind */
static guint
go_through (Courier * courier, GstPartialMixBatch ** last)
{
  const gint n = (gint) courier->work.n;
  GstPartialMixBatch *batch = courier->work.head;
  guint i = 0, n_here = batch->n;
  gint k;

  for (k = 0; k < n; k++, i++) {
    if (!g_atomic_int_compare_and_exchange (&courier->next, k, k + 1))
      break;
    if (i == n_here) {
      batch = batch->next;
      n_here = batch->n;
      i = 0;
    }
    push_or_put_down (courier, gst_partial_mix_batch_at (batch, i));
  }
  *last = batch;
  return k == n && g_atomic_int_compare_and_exchange (&courier->next, n,
      NOT_HIS) ? 0 : i;
}

/* with the lock, which is given up for as long as it takes */
static void
push_incoming (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;
  GstPartialMixBatch *last;
  guint n_done;

  courier->work = couriers->incoming;
  couriers->incoming = (Batches) {
  .n = 0};
  couriers->n_taken++;
  if (courier->work.n >= MAX_BACKLOG)
    g_cond_broadcast (&couriers->moved);
  g_atomic_int_set (&courier->next, 0);
  gst_fairmix_lock_release (&couriers->lock);

  n_done = go_through (courier, &last);
  if (n_done > 0) {
    /* he was left, and the rest of the list is being taken */
    gst_fairmix_lock_acquire (&couriers->lock);
    last->n = n_done;
    gst_fairmix_lock_release (&couriers->lock);
  }
  free_batches (couriers, courier->work.head, last);
  gst_fairmix_lock_acquire (&couriers->lock);
}

/* with the lock: leads until he is left behind, or all stop */
static void
lead (Courier * courier)
{
  GstPartialMixCouriers *couriers = courier->couriers;

  while (courier->leads) {
    if (couriers->incoming.n > 0) {
      push_incoming (courier);
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
    if (courier->door != NULL)
      serve_door (courier);
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

/* ---------------------------------------------------------------- watch -- */

/* The leader does not come out of where he is: another one leads. */
static void
leave_leader (GstPartialMixCouriers * couriers)
{
  Courier *stuck = couriers->leader;
  GstPartialMixBatch *batch;
  GstPartialMixDoor *door;
  Batches left;
  gint next;
  guint k;

  do {
    next = g_atomic_int_get (&stuck->next);
    if (next == NOT_HIS || next == 0)
      return;
  } while (!g_atomic_int_compare_and_exchange (&stuck->next, next, NOT_HIS));
  left = take_rest (stuck, (guint) next);
  k = (guint) next - 1;
  batch = find_batch (&stuck->work, &k);
  stuck->leads = FALSE;
  door = gst_partial_mix_batch_at (batch, k)->door;
  if (door->holder == NULL) {   /* else he is about to put it down there */
    stuck->door = door;
    gst_object_ref (door->owner);
    set_holder (door, stuck);
    set_slow (couriers, door, TRUE);
  }

  couriers->leader = NULL;
  append (&left, &couriers->incoming);
  couriers->incoming = left;
  call_leader (couriers);
}

static void
look_after_leader (GstPartialMixCouriers * couriers)
{
  gint64 now_us = g_get_monotonic_time ();
  gint next = couriers->leader != NULL
      ? g_atomic_int_get (&couriers->leader->next) : NOT_HIS;

  if (next == NOT_HIS || next != couriers->next_seen
      || couriers->n_taken != couriers->n_seen) {
    couriers->next_seen = next;
    couriers->n_seen = couriers->n_taken;
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
        && couriers->n_taken == couriers->n_seen) ? n_idle + 1 : 0;
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

/* ------------------------------------------------------------- delivering -- */

/* What is to be delivered when nobody has to be protected, or they are gone */
static void
push_batch (GstPartialMixCouriers * couriers, GstPartialMixBatch * batch)
{
  guint i;

  for (i = 0; i < batch->n; i++) {
    GstPartialMixDelivery *delivery = gst_partial_mix_batch_at (batch, i);

    couriers->push (delivery->door, delivery->caps,
        g_steal_pointer (&delivery->data));
  }
  gst_partial_mix_batch_free (batch);
}

void
gst_partial_mix_couriers_deliver (GstPartialMixCouriers * couriers,
    GstPartialMixBatch * batch, gboolean alone)
{
  Batches one = { batch, batch, batch->n };
  gboolean running, wake = FALSE;

  /* at once, where it comes after nothing that is under way */
  if (batch->n == 0 || !g_atomic_int_get (&couriers->needed)
      || (alone && g_atomic_int_get (&couriers->n_busy) == 0)) {
    push_batch (couriers, batch);
    return;
  }
  gst_fairmix_lock_acquire (&couriers->lock);
  /* who brings packets faster than they can be pushed waits */
  while (couriers->running && couriers->incoming.n >= MAX_BACKLOG)
    gst_fairmix_lock_wait (&couriers->lock, &couriers->moved);
  running = couriers->running;
  if (running) {
    g_atomic_int_inc (&couriers->n_busy);
    append (&couriers->incoming, &one);
    wake = call_leader (couriers);
  }
  gst_fairmix_lock_release (&couriers->lock);
  if (wake)
    g_cond_signal (&couriers->wake_leader);
  if (!running)
    push_batch (couriers, batch);
}

/* ------------------------------------------------------- start and stop -- */

GstPartialMixCouriers *
gst_partial_mix_couriers_new (GstPartialMixPushFunc push,
    GstPartialMixSlowFunc slow, gpointer user_data)
{
  GstPartialMixCouriers *couriers = g_new0 (GstPartialMixCouriers, 1);

  gst_fairmix_lock_init (&couriers->lock, GST_FAIRMIX_RANK_COURIERS);
  couriers->push = push;
  couriers->slow = slow;
  couriers->user_data = user_data;
  couriers->all = g_ptr_array_new ();
  couriers->idle = g_ptr_array_new ();
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

static void
join_couriers (GPtrArray * gone)
{
  guint i;

  for (i = 0; i < gone->len; i++) {
    Courier *courier = g_ptr_array_index (gone, i);

    g_thread_join (courier->thread);
    g_cond_clear (&courier->wake);
    g_free (courier);
  }
  g_ptr_array_unref (gone);
}

/* with the lock: those that there are; who is at work may call more */
static GPtrArray *
dismiss_couriers (GstPartialMixCouriers * couriers)
{
  GPtrArray *gone = g_steal_pointer (&couriers->all);
  guint i;

  couriers->all = g_ptr_array_new ();
  for (i = 0; i < gone->len; i++)
    g_cond_signal (&((Courier *) g_ptr_array_index (gone, i))->wake);
  return gone;
}

void
gst_partial_mix_couriers_stop (GstPartialMixCouriers * couriers)
{
  GThread *watch;

  gst_fairmix_lock_acquire (&couriers->lock);
  couriers->running = FALSE;
  g_atomic_int_set (&couriers->needed, FALSE);
  g_cond_signal (&couriers->wake_leader);
  g_cond_broadcast (&couriers->moved);
  g_cond_signal (&couriers->wake_watch);
  watch = g_steal_pointer (&couriers->watch);
  gst_fairmix_lock_release (&couriers->lock);

  if (watch != NULL)
    g_thread_join (watch);
  gst_fairmix_lock_acquire (&couriers->lock);
  while (couriers->all->len > 0) {
    GPtrArray *gone = dismiss_couriers (couriers);

    gst_fairmix_lock_release (&couriers->lock);
    join_couriers (gone);
    gst_fairmix_lock_acquire (&couriers->lock);
  }
  gst_fairmix_lock_release (&couriers->lock);
}

void
gst_partial_mix_couriers_free (GstPartialMixCouriers * couriers)
{
  gst_partial_mix_couriers_stop (couriers);
  g_ptr_array_unref (couriers->all);
  g_ptr_array_unref (couriers->idle);
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
