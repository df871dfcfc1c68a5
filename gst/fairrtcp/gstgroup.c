/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstgroup.h"

/* Whoever sends is known until so many others have come, and for as many more at most. */
#define MAX_OWN_SSRCS (256 / 2)

GType
gst_group_role_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_GROUP_ROLE_SENDER,
          "Sends to the group, and finds what its paths carry",
        "sender"},
    {GST_GROUP_ROLE_RECEIVER, "Listens, and tells what its path carries",
        "receiver"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstGroupRole", values));
  return type;
}

GParamSpec *
gst_group_role_param_spec (void)
{
  return g_param_spec_enum ("role", "Role", "Which end of the group this is",
      GST_TYPE_GROUP_ROLE, GST_GROUP_ROLE_SENDER,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
}

void
gst_group_counts_rtcp (GstGroupCounts * counts, gboolean ok)
{
  counts->n_rtcp++;
  counts->n_malformed += !ok;
}

GstStructure *
gst_group_stats_new (const gchar * name, GstGroupRole role, guint target_bps,
    const GstGroupCounts * counts, GstFairmixOutbox * outbox)
{
  return gst_structure_new (name,
      "role", GST_TYPE_GROUP_ROLE, role,
      "target-bitrate", G_TYPE_UINT, target_bps,
      "n-rtcp", G_TYPE_UINT64, counts->n_rtcp,
      "n-malformed-rtcp", G_TYPE_UINT64, counts->n_malformed,
      "n-looped-rtcp", G_TYPE_UINT64, counts->n_looped,
      "n-not-rtp", G_TYPE_UINT64, counts->n_not_rtp,
      "n-messages-dropped", G_TYPE_UINT64,
      gst_fairmix_outbox_get_n_dropped (outbox), NULL);
}

void
gst_group_reports_init (GstGroupReports * reports,
    const GstGroupReportsFuncs * funcs, gpointer user_data)
{
  reports->funcs = funcs;
  reports->user_data = user_data;
  reports->own = g_hash_table_new (NULL, NULL);
  reports->own_before = g_hash_table_new (NULL, NULL);
}

void
gst_group_reports_clear (GstGroupReports * reports)
{
  g_clear_pointer (&reports->own, g_hash_table_unref);
  g_clear_pointer (&reports->own_before, g_hash_table_unref);
}

gboolean
gst_group_reports_is_own (GstGroupReports * reports, guint32 ssrc)
{
  return g_hash_table_contains (reports->own, GUINT_TO_POINTER (ssrc))
      || g_hash_table_contains (reports->own_before, GUINT_TO_POINTER (ssrc));
}

void
gst_group_reports_on_sent (GstGroupReports * reports, guint32 ssrc)
{
  GHashTable *full = reports->own;

  if (g_hash_table_contains (full, GUINT_TO_POINTER (ssrc)))
    return;
  if (g_hash_table_size (full) >= MAX_OWN_SSRCS) {
    reports->own = reports->own_before;
    reports->own_before = full;
    g_hash_table_remove_all (reports->own);
  }
  g_hash_table_add (reports->own, GUINT_TO_POINTER (ssrc));
}

/* All that one receiver says in one compound counts at once. */
static void
flush (GstGroupReports * reports)
{
  if (reports->is_saying)
    reports->funcs->said (reports->user_data, reports->reporter,
        reports->has_block ? &reports->block : NULL);
  reports->is_saying = reports->has_block = FALSE;
}

void
gst_group_reports_set_reporter (GstGroupReports * reports, guint32 ssrc)
{
  if (ssrc != reports->reporter)
    flush (reports);
  reports->reporter = ssrc;
  reports->is_saying = TRUE;
}

static void
on_report (gpointer user_data, guint32 reporter, const FmxReportBlock * block)
{
  GstGroupReports *reports = user_data;
  guint32 seqs = block->ext_highest_seq;

  if (!gst_group_reports_is_own (reports, block->ssrc))
    return;
  gst_group_reports_set_reporter (reports, reporter);
  if (reports->has_block)
    seqs += reports->block.ext_highest_seq;
  if (!reports->has_block
      || block->fraction_lost >= reports->block.fraction_lost)
    reports->block = *block;
  reports->block.ext_highest_seq = seqs;
  reports->has_block = TRUE;
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  GstGroupReports *reports = user_data;

  reports->funcs->app (reports->user_data, app);
}

static void
on_bye (gpointer user_data, guint32 ssrc)
{
  GstGroupReports *reports = user_data;

  flush (reports);
  reports->funcs->bye (reports->user_data, ssrc);
}

gboolean
gst_group_reports_read (GstGroupReports * reports, GstBuffer * buffer,
    guint32 ntp_mid32, FmxTime now)
{
  static const GstFairmixRtcpFuncs funcs = {
    .report = on_report,
    .bye = on_bye,
    .app = on_app,
  };
  gboolean ok;

  reports->ntp_mid32 = ntp_mid32;
  reports->now = now;
  ok = gst_fairmix_rtcp_read (buffer, &funcs, reports);
  flush (reports);
  return ok;
}
