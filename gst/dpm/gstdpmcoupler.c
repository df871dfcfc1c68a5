/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmcoupler.h"

#include <math.h>

#include "fairmix/rate/fmx-rate-coupling.h"

#define ROOM 2.0                /* who sends so much less than it may wants no more */
#define LEAST_CHANGE 0.01       /* of a rate, that is worth a word */
#define LEAST_WEIGHT 0.01
#define MOST_WEIGHT 100.0

struct _GstDpmCoupler
{
  guint n;
  FmxCoupledFlow *flows;
  FmxCoupledGroup *groups;
  FmxRateCoupling coupling;
};

GstDpmCoupler *
gst_dpm_coupler_new (guint n)
{
  GstDpmCoupler *self = g_new0 (GstDpmCoupler, 1);

  self->n = n;
  self->flows = g_new (FmxCoupledFlow, n);
  self->groups = g_new (FmxCoupledGroup, n);
  fmx_rate_coupling_init (&self->coupling, self->flows, self->groups, n, false);
  return self;
}

void
gst_dpm_coupler_free (GstDpmCoupler * self)
{
  g_free (self->flows);
  g_free (self->groups);
  g_free (self);
}

void
gst_dpm_coupler_forget (GstDpmCoupler * self, guint place)
{
  fmx_rate_coupling_remove (&self->coupling, place);
}

/* Who may send nothing now, as its path is probed, is nobody's equal. */
static void
note (GstDpmCoupler * self, guint place, const GstDpmCoupled * who)
{
  gboolean alone = who->rate == NULL || who->group >= self->n
      || who->target_bps <= 0.0;
  guint least_bps = 0, most_bps = 0;
  gdouble desired_bps = who->target_bps;

  fmx_rate_coupling_place (&self->coupling, place,
      alone ? G_MAXUINT32 : who->group, who->weight, who->target_bps);
  if (alone)
    return;
  g_object_get (who->rate, "min-bitrate", &least_bps, "max-bitrate", &most_bps,
      NULL);
  desired_bps = ROOM * who->sent_bps >= who->target_bps ? HUGE_VAL
      : ROOM * who->sent_bps;
  if (most_bps > 0)
    desired_bps = fmin (desired_bps, most_bps);
  fmx_rate_coupling_note (&self->coupling, place, who->target_bps, least_bps,
      fmin (desired_bps, 1e9));
  fmx_rate_coupling_note_drains (&self->coupling, place, who->n_drains);
}

guint
gst_dpm_coupler_share_out (GstDpmCoupler * self, const GstDpmCoupled * all)
{
  guint n_coupled = 0;

  for (guint i = 0; i < self->n; i++)
    note (self, i, &all[i]);
  for (guint i = 0; i < self->n; i++)
    fmx_rate_coupling_share_out (&self->coupling, i);
  for (guint i = 0; i < self->n; i++) {
    gdouble bps;

    if (!fmx_rate_coupling_has (&self->coupling, i))
      continue;
    n_coupled++;
    g_signal_emit_by_name (all[i].rate, "set-share",
        fmx_rate_coupling_share (&self->coupling, i));
    if (fmx_rate_coupling_drains_too (&self->coupling, i))
      g_signal_emit_by_name (all[i].rate, "drain-too");
    bps = fmx_rate_coupling_rate (&self->coupling, i);
    if (fabs (bps - all[i].target_bps) <= LEAST_CHANGE * all[i].target_bps)
      continue;
    bps = fmx_rate_coupling_next (&self->coupling, i, all[i].target_bps);
    g_signal_emit_by_name (all[i].rate, "set-rate", (guint) fmin (bps,
            G_MAXUINT));
  }
  return n_coupled;
}

/* Returns: (nullable): one after the other, as to look up a name that nobody has used
 * before may keep it for good, and it is others who name themselves */
static const GValue *
find_weight (const GstStructure * weights, const gchar * name)
{
  gint n = weights != NULL
      && name != NULL ? gst_structure_n_fields (weights) : 0;

  for (gint i = 0; i < n; i++) {
    const gchar *field = gst_structure_nth_field_name (weights, (guint) i);

    if (g_str_equal (field, name))
      return gst_structure_get_value (weights, field);
  }
  return NULL;
}

/* Returns: NAN if it is no number */
static gdouble
read_weight (const GValue * value)
{
  GValue number = G_VALUE_INIT;
  gdouble weight = NAN;

  g_value_init (&number, G_TYPE_DOUBLE);
  /* GLib has a number for whether something is so, too */
  if (!G_VALUE_HOLDS_BOOLEAN (value) && g_value_transform (value, &number))
    weight = g_value_get_double (&number);
  g_value_unset (&number);
  return weight;
}

gboolean
gst_dpm_coupler_is_weight (const GValue * value)
{
  return isfinite (read_weight (value));
}

gdouble
gst_dpm_coupler_weight (const GstStructure * weights, const gchar * name)
{
  const GValue *value = find_weight (weights, name);
  gdouble weight = value != NULL ? read_weight (value) : NAN;

  return isfinite (weight) ? CLAMP (weight, LEAST_WEIGHT, MOST_WEIGHT) : 1.0;
}
