/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __VOICE_CHAIN_H__
#define __VOICE_CHAIN_H__

/* A voice on its way: talkers, a mixer, a network, a listener, in virtual time. */

#include "mixrig.h"

G_BEGIN_DECLS

#define VOICE_SSRC 100          /* 200 and 201 are of the others */

/**
 * VoiceChain:
 * @jitter_in, @jitter_out: up to so many ms more on the way to the mixer, and from there
 * @more_out: so many ms more on the way from there, each packet from now on
 * @said: what the voice says, at the mix rate
 * @forgets: of so many elements that tell where streams are, one is lost; 0: none
 * @lie: what each of those is wrong by, in samples
 * @deaf: nothing gets to the listener
 * @stranger: somebody else sends him the same mixes, in which it is told that all streams
 *     are 20 ms sooner; he is not heard
 * @n_told: such elements that left the mixer
 * @n_voice, @n_markers: packets of the voice that did, and those with the marker
 *
 * A mixer, between whom and the listener a packet takes 19 ms.  There two streams are
 * mixed always: those of others, who hum.  The voice pauses, and tells its level.
 */
typedef struct
{
  guint jitter_in, jitter_out, more_out;
  gdouble *said;
  guint n_said;
  guint forgets;
  gint lie;
  gboolean deaf, stranger;
  guint n_told, n_told_bytes, n_voice, n_markers;
  Rig *mixer, *hearing;
  RigListener *ear;
  RigTalker *voice;

  /*< private >*/
  GstPad *tap, *out, *in, *sink;
  GstPad *other, *other_sink;   /* of the stranger */
  GQueue sent, way;
  GMutex lock;
  GRand *rand;
  GstCaps *in_caps;
  GstClockTime now, last_due, last_sent;
} VoiceChain;

/* @mixer, @hearing: properties of both; @wants: the listener's caps say that he wants to
 * be told where streams are */
VoiceChain *voice_chain_new (const gchar * mixer, const gchar * hearing,
    RigEncoding encoding, gboolean wants);
void voice_chain_free (VoiceChain * chain);
void voice_chain_play (VoiceChain * chain);
void voice_chain_run (VoiceChain * chain, guint n_frames);
/* From now on the voice is mixed, or separate. */
void voice_chain_mix (VoiceChain * chain, gboolean mixed);
void voice_chain_restart_mixer (VoiceChain * chain);
/* What the listener heard; free with g_free(). */
gdouble *voice_chain_hear (VoiceChain * chain, guint * n);

G_END_DECLS

#endif /* __VOICE_CHAIN_H__ */
