/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Transport-wide feedback, as browsers send it: each packet is numbered, the
 * numbers come back, and the rate follows. */

#include "tfrcratecheck.h"

#include "fairmix/wire/fmx-twcc.h"

#define EXT_ID 3
#define LEVEL_ID 1
#define MAX_PACKETS 4096
#define MAX_STREAMS 3
#define FEEDBACK_INTERVAL (100 * GST_MSECOND)
#define WAY (25 * GST_MSECOND)
#define QUEUE (300 * GST_MSECOND)

/* A browser at the other end of a path, and what it will acknowledge */
typedef struct
{
  Fixture f;
  gint32 arrivals[MAX_PACKETS]; /* of the packets sent, in 250 us; -1 = lost */
  guint16 first;
  guint n_sent;
  guint n_told;
  guint n_probes;
  guint lose_each;              /* packet in so many; 0 = none */
  gboolean cut;                 /* nothing arrives */
  guint link_bps;               /* 0 = any rate */
  GstClockTime link_free;       /* has sent all by then */
  gboolean in_slots;            /* headers are longer than a probe's */
  guint16 next_seq[MAX_STREAMS];
} Browser;

static void
browser_setup (Browser * browser)
{
  memset (browser, 0, sizeof *browser);
  setup_element (&browser->f);
  g_object_set (browser->f.element, "twcc-ext-id", EXT_ID, NULL);
  setup_harness (&browser->f);
}

/* The transport-wide number of a packet, -1 = it has none */
static gint
twcc_number (GstBuffer * buffer, guint8 id)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gint number = -1;
  gpointer data;
  const guint8 *bytes;
  guint size;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  if (gst_rtp_buffer_get_extension_onebyte_header (&rtp, id, 0, &data, &size)) {
    fail_unless_equals_int (size, FMX_TWCC_EXTENSION_BYTES);
    bytes = data;
    number = bytes[0] << 8 | bytes[1];
  }
  gst_rtp_buffer_unmap (&rtp);
  return number;
}

/* Behind what waits there already.  Returns: FALSE: it is full */
static gboolean
pass_link (Browser * browser, gsize wire_bytes, GstClockTime * time)
{
  if (browser->link_bps == 0)
    return TRUE;
  *time = MAX (*time, browser->link_free);
  if (*time > now (&browser->f) + QUEUE)
    return FALSE;
  *time += gst_util_uint64_scale (8 * wire_bytes, GST_SECOND,
      browser->link_bps);
  browser->link_free = *time;
  return TRUE;
}

static void
browser_take (Browser * browser, GstBuffer * packet)
{
  GstClockTime time = now (&browser->f);
  gint number = twcc_number (packet, EXT_ID);
  gboolean lost = browser->cut || (browser->lose_each > 0
      && browser->n_sent % browser->lose_each == 0)
      || !pass_link (browser, gst_buffer_get_size (packet) + 28, &time);

  fail_unless (browser->n_sent < MAX_PACKETS);
  if (browser->n_sent == 0)
    browser->first = (guint16) number;
  fail_unless_equals_int (number, (guint16) (browser->first + browser->n_sent));
  browser->arrivals[browser->n_sent++] = lost ? -1
      : (gint32) ((time + WAY) / (250 * GST_USECOND));
  browser->n_probes += rtp_packet_payload_bytes (packet) == 0;
  gst_buffer_unref (packet);
}

/* Feedback about @n packets from number @base on; each with a chunk of its own */
static GstBuffer *
feedback_new (guint16 base, const gint32 * arrivals, guint n)
{
  guint size = 20 + 2 * n, i;
  guint8 *data = g_malloc0 (size + 2 * n + 3);
  gint32 before = 0;

  for (i = 0; i < n; i++) {
    GST_WRITE_UINT16_BE (data + 20 + 2 * i, arrivals[i] >= 0 ? 0x4001 : 1);
    if (arrivals[i] < 0)
      continue;
    if (before == 0) {
      before = arrivals[i] / 256 * 256;
      GST_WRITE_UINT24_BE (data + 16, (guint) before / 256);
    }
    GST_WRITE_UINT16_BE (data + size, (guint16) (arrivals[i] - before));
    before = arrivals[i];
    size += 2;
  }
  data[0] = size % 4 != 0 ? 0xaf : 0x8f;        /* filled up as browsers do */
  for (i = -size & 3; size % 4 != 0; data[size++] = (guint8) i);
  data[1] = 205;
  GST_WRITE_UINT16_BE (data + 2, size / 4 - 1);
  GST_WRITE_UINT32_BE (data + 4, g_random_int ());      /* any of its SSRCs */
  GST_WRITE_UINT32_BE (data + 8, SSRC);
  GST_WRITE_UINT16_BE (data + 12, base);
  GST_WRITE_UINT16_BE (data + 14, n);
  return gst_buffer_new_wrapped (data, size);
}

/* All that has arrived by now, and what was lost before it */
static void
browser_answer (Browser * browser)
{
  gint32 time = (gint32) (now (&browser->f) / (250 * GST_USECOND));
  guint n = 0, i;

  for (i = browser->n_told; i < browser->n_sent; i++)
    if (browser->arrivals[i] >= 0 && browser->arrivals[i] <= time)
      n = i + 1 - browser->n_told;
  if (n == 0)
    return;
  fail_unless_equals_int (gst_harness_push (browser->f.rtcp,
          feedback_new ((guint16) (browser->first + browser->n_told),
              browser->arrivals + browser->n_told, n)), GST_FLOW_OK);
  drain (browser->f.rtcp);
  browser->n_told += n;
}

static GstBuffer *
slot_packet (guint32 ssrc, guint16 seq, guint payload_bytes)
{
  GstBuffer *packet = gst_rtp_buffer_new_allocate (payload_bytes, 0, 1);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (packet, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_csrc (&rtp, 0, ~ssrc);
  gst_rtp_buffer_unmap (&rtp);
  return packet;
}

/* @n_streams: that send meanwhile */
static void
browser_run (Browser * browser, guint n_streams, GstClockTime duration)
{
  GstClockTime end = now (&browser->f) + duration;
  GstBuffer *packet;

  fail_unless (n_streams <= MAX_STREAMS);
  while (now (&browser->f) < end) {
    for (guint i = 0; i < n_streams; i++)
      gst_harness_push (browser->f.rtp, (browser->in_slots ? slot_packet
              : rtp_packet_new) (SSRC + i, browser->next_seq[i]++, PAYLOAD));
    advance (&browser->f, FRAME);
    while ((packet = gst_harness_try_pull (browser->f.rtp)) != NULL)
      browser_take (browser, packet);
    if (now (&browser->f) % FEEDBACK_INTERVAL == 0)
      browser_answer (browser);
  }
}

GST_START_TEST (test_transport_wide_feedback_tells_rtt_and_loss)
{
  Browser browser;
  gdouble lost;

  browser_setup (&browser);
  browser_run (&browser, 2, 2 * GST_SECOND);
  assert_stat_string (browser.f.element, "feedback", "per-packet");
  fail_unless_equals_int (element_stat (browser.f.element, "n-lost"), 0);
  /* there, and until the browser says so: that it does not tell */
  fail_unless (element_stat (browser.f.element, "rtt") >= WAY
      && element_stat (browser.f.element, "rtt") <= WAY + 2 * FRAME,
      "rtt %f ns", element_stat (browser.f.element, "rtt"));
  browser.lose_each = 20;
  browser_run (&browser, 2, 6 * GST_SECOND);
  browser.lose_each = 0;
  browser_run (&browser, 2, GST_SECOND);
  lost = element_stat (browser.f.element, "n-lost");
  fail_unless (lost >= 28 && lost <= 32, "%f lost", lost);
  fail_unless_equals_int (element_stat (browser.f.element,
          "n-malformed-rtcp"), 0);
  fail_unless_equals_int (pop_warnings (&browser.f, NULL), 0);
  teardown (&browser.f);
}

GST_END_TEST;

/* What a full queue loses is known when what stood there before has come through; that
 * little comes through, sooner. */
GST_START_TEST (test_a_path_that_becomes_narrow_is_known_before_its_losses)
{
  static const guint links_bps[] = { 60000, 40000, 30000 };
  GstClockTime narrow;
  Browser browser;

  browser_setup (&browser);
  browser_run (&browser, 3, 5 * GST_SECOND + __i__ % 5 * FRAME);
  fail_unless (target (&browser.f) > 3 * STREAM_BPS);
  browser.link_bps = links_bps[__i__ / 5];
  narrow = now (&browser.f);
  while (target (&browser.f) > browser.link_bps)
    browser_run (&browser, 3, FRAME);
  fail_unless (now (&browser.f) <= narrow + 360 * GST_MSECOND,
      "%d ms", (gint) ((now (&browser.f) - narrow) / GST_MSECOND));
  teardown (&browser.f);
}

GST_END_TEST;

GST_START_TEST (test_a_stream_that_falls_silent_has_lost_nothing)
{
  Browser browser;
  guint before;

  browser_setup (&browser);
  browser_run (&browser, 2, 3 * GST_SECOND);
  before = target (&browser.f);
  browser_run (&browser, 1, 6 * GST_SECOND);
  browser_run (&browser, 2, 3 * GST_SECOND);
  fail_unless_equals_int (element_stat (browser.f.element, "n-lost"), 0);
  assert_stat_string (browser.f.element, "state", "sending");
  fail_unless (target (&browser.f) >= before);
  teardown (&browser.f);
}

GST_END_TEST;

GST_START_TEST (test_probes_are_numbered_and_bring_media_back)
{
  Browser browser;
  guint n_probes;

  browser_setup (&browser);
  browser.in_slots = __i__;
  browser_run (&browser, 2, 3 * GST_SECOND);
  browser.cut = TRUE;
  browser_run (&browser, 2, 8 * GST_SECOND);
  assert_stat_string (browser.f.element, "state", "probing");
  n_probes = browser.n_probes;
  fail_unless (n_probes > 0);
  browser.cut = FALSE;
  browser_run (&browser, 2, 8 * GST_SECOND);
  fail_unless (browser.n_probes > n_probes);
  assert_stat_string (browser.f.element, "state", "sending");
  teardown (&browser.f);
}

GST_END_TEST;

static gint
push_and_get_number (Fixture * f, guint16 seq)
{
  GstBuffer *packet;
  gint number;

  push (f, SSRC, seq);
  packet = gst_harness_pull (f->rtp);
  number = twcc_number (packet, EXT_ID);
  gst_buffer_unref (packet);
  return number;
}

/* A number that is left out is left out of both numberings. */
GST_START_TEST (test_who_claims_a_number_that_was_left_out_is_void)
{
  const gint32 arrivals[] = { 4000, 4001 };
  guint16 base;
  Fixture f;

  setup_element (&f);
  g_object_set (f.element, "twcc-ext-id", EXT_ID, "skip-interval", 1, NULL);
  setup_harness (&f);
  base = (guint16) push_and_get_number (&f, 0);
  advance (&f, 50 * GST_MSECOND);
  gst_harness_push (f.rtcp, feedback_new (base, arrivals, 1));
  assert_stat_string (f.element, "feedback", "per-packet");
  for (guint16 i = 1; i < 4; i++) {
    gint number = push_and_get_number (&f, i);

    fail_unless_equals_int (number, (guint16) (base + 2 * i));
  }
  advance (&f, 50 * GST_MSECOND);
  gst_harness_push (f.rtcp, feedback_new (base + 1, arrivals, 2));
  fail_unless_equals_int (element_stat (f.element, "n-impossible"), 1);
  fail_unless_equals_int (element_stat (f.element, "n-void"), 0);
  gst_harness_push (f.rtcp, feedback_new (base + 3, arrivals, 2));
  fail_unless_equals_int (element_stat (f.element, "n-void"), 1);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_feedback_for_what_was_not_sent_yet_is_refused)
{
  const gint32 arrivals[] = { 4000, 4001 };
  Browser browser;

  browser_setup (&browser);
  browser_run (&browser, 1, FRAME);
  gst_harness_push (browser.f.rtcp, feedback_new (browser.first, arrivals, 2));
  fail_unless_equals_int (element_stat (browser.f.element, "n-impossible"), 1);
  fail_unless_equals_int (element_stat (browser.f.element,
          "n-malformed-rtcp"), 0);
  assert_stat_string (browser.f.element, "feedback", "none");
  teardown (&browser.f);
}

GST_END_TEST;

/* A packet that brings a level, and the number that it had on the path before */
static GstBuffer *
packet_with_extensions (guint16 seq, guint8 number_id)
{
  GstBuffer *buffer = rtp_packet_new (SSRC, seq, PAYLOAD);
  const guint8 level = 42, number[] = { 0xab, 0xcd };
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp));
  fail_unless (gst_rtp_buffer_add_extension_onebyte_header (&rtp, LEVEL_ID,
          &level, 1));
  fail_unless (gst_rtp_buffer_add_extension_onebyte_header (&rtp, number_id,
          number, 2));
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

GST_START_TEST (test_other_extensions_and_the_payload_stay)
{
  guint8 ids[] = { EXT_ID, EXT_ID + 1 };
  gint before = -1;
  Fixture f;

  setup_element (&f);
  g_object_set (f.element, "twcc-ext-id", EXT_ID, NULL);
  setup_harness (&f);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++) {
    GstBuffer *sent = packet_with_extensions ((guint16) i, ids[i]), *packet;
    gint number;

    gst_harness_push (f.rtp, gst_buffer_ref (sent));
    packet = gst_harness_pull (f.rtp);
    number = twcc_number (packet, EXT_ID);
    fail_unless (number >= 0);
    if (before >= 0)
      fail_unless_equals_int (number, (guint16) (before + 1));
    before = number;
    if (ids[i] != EXT_ID)
      fail_unless_equals_int (twcc_number (packet, ids[i]), 0xabcd);
    fail_unless_equals_int (rtp_packet_payload_bytes (packet), PAYLOAD);
    {
      GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
      gpointer data;
      guint size;

      fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
      fail_unless (gst_rtp_buffer_get_extension_onebyte_header (&rtp,
              LEVEL_ID, 0, &data, &size));
      fail_unless_equals_int (*(guint8 *) data, 42);
      gst_rtp_buffer_unmap (&rtp);
    }
    /* what somebody else holds was not written into */
    fail_unless_equals_int (twcc_number (sent, ids[i]), 0xabcd);
    gst_buffer_unref (packet);
    gst_buffer_unref (sent);
  }
  teardown (&f);
}

GST_END_TEST;

/* A header of short ids has no room for it. */
GST_START_TEST (test_no_long_id_is_written_beside_short_ones)
{
  GstBuffer *packet;
  Fixture f;

  setup_element (&f);
  g_object_set (f.element, "twcc-ext-id", 20, NULL);
  setup_harness (&f);
  gst_harness_push (f.rtp, packet_with_extensions (0, EXT_ID));
  packet = gst_harness_pull (f.rtp);
  fail_unless_equals_int (twcc_number (packet, EXT_ID), 0xabcd);
  fail_unless_equals_int (element_stat (f.element, "n-not-numbered"), 1);
  gst_buffer_unref (packet);
  teardown (&f);
}

GST_END_TEST;

/* As rtpslots and payloaders make them: header and payload are memories of their
 * own, which GStreamer's own function for it takes one for the other. */
GST_START_TEST (test_a_packet_of_two_memories_keeps_its_payload)
{
  Fixture f;

  setup_element (&f);
  g_object_set (f.element, "twcc-ext-id", EXT_ID, NULL);
  setup_harness (&f);
  for (guint16 i = 0; i < 2; i++) {
    GstBuffer *whole = i == 0 ? rtp_packet_new (SSRC, i, PAYLOAD)
        : packet_with_extensions (i, EXT_ID + 1), *split, *packet;
    gsize header = gst_buffer_get_size (whole) - PAYLOAD;
    guint8 before[PAYLOAD], after[PAYLOAD];

    for (guint k = 0; k < PAYLOAD; k++)
      before[k] = (guint8) (3 * k + i);
    gst_buffer_fill (whole, header, before, PAYLOAD);
    split = gst_buffer_copy_region (whole, GST_BUFFER_COPY_MEMORY
        | GST_BUFFER_COPY_DEEP, 0, header);
    gst_buffer_append_memory (split, gst_allocator_alloc (NULL, PAYLOAD, NULL));
    gst_buffer_fill (split, header, before, PAYLOAD);
    gst_buffer_unref (whole);

    gst_harness_push (f.rtp, split);
    packet = gst_harness_pull (f.rtp);
    fail_unless (twcc_number (packet, EXT_ID) >= 0);
    fail_unless_equals_int (rtp_packet_payload_bytes (packet), PAYLOAD);
    gst_buffer_extract (packet, gst_buffer_get_size (packet) - PAYLOAD, after,
        PAYLOAD);
    fail_unless (memcmp (before, after, PAYLOAD) == 0);
    gst_buffer_unref (packet);
  }
  teardown (&f);
}

GST_END_TEST;

/* ... and the caps that go on do not say it, or a session numbers once more. */
GST_START_TEST (test_the_extension_may_be_named_by_the_caps)
{
  GstBuffer *packet;
  GstCaps *caps;
  Fixture f;

  setup (&f);
  push (&f, SSRC, 0);
  packet = gst_harness_pull (f.rtp);
  fail_unless_equals_int (twcc_number (packet, 5), -1);
  gst_buffer_unref (packet);

  gst_harness_set_src_caps_str (f.rtp, RTP_CAPS_PCMU ",extmap-5=(string)\""
      FMX_TWCC_URN "\",extmap-1=(string)\"something\"");
  push (&f, SSRC, 1);
  packet = gst_harness_pull (f.rtp);
  fail_unless (twcc_number (packet, 5) >= 0);
  gst_buffer_unref (packet);
  caps = gst_pad_get_current_caps (f.rtp->sinkpad);
  fail_if (gst_structure_has_field (gst_caps_get_structure (caps, 0),
          "extmap-5"));
  fail_unless (gst_structure_has_field (gst_caps_get_structure (caps, 0),
          "extmap-1"));
  gst_caps_unref (caps);
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_twcc_suite (void)
{
  Suite *s = suite_create ("tfrcrate-twcc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_transport_wide_feedback_tells_rtt_and_loss);
  tcase_add_loop_test (tc,
      test_a_path_that_becomes_narrow_is_known_before_its_losses, 0, 15);
  tcase_add_test (tc, test_a_stream_that_falls_silent_has_lost_nothing);
  tcase_add_loop_test (tc, test_probes_are_numbered_and_bring_media_back, 0, 2);
  tcase_add_test (tc, test_who_claims_a_number_that_was_left_out_is_void);
  tcase_add_test (tc, test_feedback_for_what_was_not_sent_yet_is_refused);
  tcase_add_test (tc, test_other_extensions_and_the_payload_stay);
  tcase_add_test (tc, test_no_long_id_is_written_beside_short_ones);
  tcase_add_test (tc, test_a_packet_of_two_memories_keeps_its_payload);
  tcase_add_test (tc, test_the_extension_may_be_named_by_the_caps);
  return s;
}

GST_CHECK_MAIN (tfrcrate_twcc);
