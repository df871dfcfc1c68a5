/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is heard, as it is told to neighbours (gst/dpm/gstdpmroster.h) */
#include "../gstfairmixcheck.h"

#include "fairmix/wire/fmx-rtcp.h"
#include "gstdpmroster.h"

#define SSRC 1234

/* What a mixer says of @n streams: all have the name @cname */
static GstStructure *
stats_new (const gchar * cname, guint n)
{
  GstStructure *stats = gst_structure_new_empty ("stats");
  GValue streams = G_VALUE_INIT, stream = G_VALUE_INIT;

  g_value_init (&streams, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++) {
    g_value_init (&stream, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&stream, gst_structure_new ("stream", "out-ssrc",
            G_TYPE_UINT, SSRC + i, "neighbour", G_TYPE_INT, 1, "level",
            G_TYPE_UINT, 127, "cname", G_TYPE_STRING, cname, NULL));
    gst_value_array_append_and_take_value (&streams, &stream);
  }
  gst_structure_take_value (stats, "streams", &streams);
  return stats;
}

/* Returns: (transfer full): what another neighbour reads of who is named @cname */
static gchar *
told_name (const gchar * cname)
{
  GstElement *owner = gst_object_ref_sink (gst_bin_new (NULL));
  GstDpmRoster *roster = gst_dpm_roster_new (owner);
  GstStructure *stats = stats_new (cname, 1);
  FmxRtcpCname cnames[FMX_RTCP_COUNT_MAX];
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  GstBuffer *buffer;
  gchar *name = NULL;
  GstMapInfo map;

  gst_dpm_roster_update (roster, stats, 0);
  buffer = gst_dpm_roster_write_sdes (roster, 2, 77, FALSE, 0);
  fail_unless (buffer != NULL);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (fmx_rtcp_reader_init (&reader, map.data, map.size));
  while (fmx_rtcp_reader_next (&reader, &packet))
    if (fmx_rtcp_sdes_cnames (&packet, cnames) == 1)
      name = g_strndup ((const gchar *) cnames[0].name, cnames[0].name_bytes);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_structure_free (stats);
  gst_dpm_roster_free (roster);
  gst_object_unref (owner);
  fail_unless (name != NULL);
  return name;
}

/* A name that is cut within a letter is none: nobody would take it. */
GST_START_TEST (test_a_long_name_is_cut_between_letters)
{
  gchar *cname = g_strnfill (62, 'a'), *longer, *name;

  longer = g_strconcat (cname, "\303\244 and more", NULL);
  name = told_name (longer);
  fail_unless (g_utf8_validate (name, -1, NULL), "\"%s\"", name);
  fail_unless_equals_string (name, cname);
  g_free (name);
  g_free (longer);
  g_free (cname);

  name = told_name ("Zo\303\253");
  fail_unless_equals_string (name, "Zo\303\253");
  g_free (name);
}

GST_END_TEST;

/* Returns: how many packets there are for another neighbour */
static guint
count_packets (GstDpmRoster * roster, gboolean news)
{
  guint n = 0;
  GstBuffer *buffer;

  while ((buffer = gst_dpm_roster_write_sdes (roster, 2, 77, news, n)) != NULL) {
    gst_buffer_unref (buffer);
    n++;
  }
  return n;
}

/* A hundred are there, and one comes: five times a second all others would be told of all
 * else, past the rate that their paths have. */
GST_START_TEST (test_what_is_new_is_told_and_not_all_again)
{
  GstElement *owner = gst_object_ref_sink (gst_bin_new (NULL));
  GstDpmRoster *roster = gst_dpm_roster_new (owner);
  const guint n_streams[] = { 100, 101, 101 };
  const guint n_news[] = { 8, 1, 0 };   /* 14 names in each */

  for (guint i = 0; i < G_N_ELEMENTS (n_streams); i++) {
    GstStructure *stats = stats_new ("alice", n_streams[i]);

    fail_unless_equals_int (gst_dpm_roster_update (roster, stats, 0),
        n_news[i] > 0);
    fail_unless_equals_int (count_packets (roster, TRUE), n_news[i]);
    fail_unless_equals_int (count_packets (roster, FALSE), 8);
    gst_structure_free (stats);
  }
  gst_dpm_roster_free (roster);
  gst_object_unref (owner);
}

GST_END_TEST;

static Suite *
dpmroster_suite (void)
{
  Suite *suite = suite_create ("dpmroster");
  TCase *tc = tcase_create ("names");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_long_name_is_cut_between_letters);
  tcase_add_test (tc, test_what_is_new_is_told_and_not_all_again);
  return suite;
}

GST_CHECK_MAIN (dpmroster);
