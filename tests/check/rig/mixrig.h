/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __MIX_RIG_H__
#define __MIX_RIG_H__

/* A partialmix with talkers and listeners around it, in virtual time. */

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>
#include <gst/rtp/rtp.h>

G_BEGIN_DECLS

#define RIG_RATE 48000
#define RIG_FRAME 960           /* samples of 20 ms */
#define RIG_MAX_PADS 256
/* one L16 stream: 960 samples, RTP, UDP and IP headers, 50 times a second */
#define RIG_L16_BPS ((2 * RIG_FRAME + 40) * 8 * 50)
/* and a mix of eight: with eight CSRCs and their levels */
#define RIG_L16_MIX_BPS ((2 * RIG_FRAME + 40 + 8 * 4 + 4 + 12) * 8 * 50)

typedef enum
{
  RIG_L16,
  RIG_PCMU,
  RIG_OPUS
} RigEncoding;

/**
 * RigTalker:
 *
 * Somebody who sends a tone: the sample at media time t is amplitude *
 * sin (2 pi frequency t), whatever happens on the way.
 */
typedef struct
{
  GstPad *pad;
  GstPad *peer;                 /* mix's sink pad */
  gboolean shares_pad;
  RigEncoding encoding;
  guint32 ssrc;
  guint16 seq;
  guint32 ts_base;
  gdouble frequency;
  gdouble amplitude;
  const gdouble *voice;         /* instead of a tone: one sample after the other ... */
  guint n_voice;                /* ... so many, at the encoding's rate, again and again */
  gint level;                   /* RFC 6464, -1 = none */
  gboolean silent;              /* sends nothing */
  gpointer encoder;
} RigTalker;

/**
 * RigListener:
 *
 * Somebody who takes all that comes out of one src pad.
 */
typedef struct
{
  GstPad *pad;
  GstPad *peer;                 /* mix's src pad */
  GMutex lock;
  GPtrArray *buffers;           /* all GstBuffers, in order */
  guint n_lists;
  gboolean eos;
  GstCaps *caps;                /* what it accepts, NULL = anything */
} RigListener;

typedef struct
{
  GstElement *mix;
  GstTestClock *clock;
  GstBus *bus;
  GPtrArray *talkers;
  GPtrArray *listeners;
  guint frame;                  /* media frames sent so far */
} Rig;

/* @properties: as in gst-launch, "latency=0 ramp-duration=0", or NULL */
Rig *rig_new (const gchar * properties);
void rig_free (Rig * rig);
void rig_play (Rig * rig);

RigTalker *rig_talker (Rig * rig, const gchar * pad_name, guint32 ssrc,
    RigEncoding encoding, gdouble frequency, gdouble amplitude);
/* another SSRC on the pad of @other */
RigTalker *rig_talker_beside (Rig * rig, RigTalker * other, guint32 ssrc,
    gdouble frequency, gdouble amplitude);
/* @n talkers with SSRC 100 + i and a tone of their own, on sink_i, @first <= i <
 * @first + @n */
void rig_talkers (Rig * rig, guint first, guint n, RigEncoding encoding);
RigListener *rig_listener (Rig * rig, const gchar * pad_name,
    const gchar * caps);
/* @bps: its target-bitrate */
void rig_set_target (RigListener * listener, guint bps);
void rig_remove_listener (Rig * rig, RigListener * listener);
void rig_remove_talker (Rig * rig, RigTalker * talker);

GstBuffer *rig_packet (Rig * rig, RigTalker * talker);
void rig_send (Rig * rig, RigTalker * talker);
/* Runs the mixer's ticks until @time. */
void rig_advance (Rig * rig, GstClockTime time);
/* All talkers send @n_frames of 20 ms each, the mixer mixes them. */
void rig_run (Rig * rig, guint n_frames);

/* The sum of all that @listener received, each packet at its PTS, in [0,
 * rig->frame) frames; @only: one SSRC, or 0 for all.  Free with g_free(). */
gdouble *rig_hear (Rig * rig, RigListener * listener, guint32 only);
/* Amplitude of @frequency in samples [@from, @from + @n). */
gdouble rig_tone (const gdouble * samples, guint from, guint n,
    gdouble frequency);
/* It is @amplitude, within @tolerance_db. */
void rig_assert_level (const gdouble * heard, guint from, guint n,
    gdouble frequency, gdouble amplitude, gdouble tolerance_db);
gdouble rig_largest_step (const gdouble * samples, guint from, guint n);

/* The @i-th packet that arrived; it stays @listener's. */
GstBuffer *rig_nth (RigListener * listener, guint i);
/* SSRCs that arrived in the packets from index @from on. */
guint rig_count_ssrcs (RigListener * listener, guint from);
/* Packets of @ssrc from index @from on: no number is missing or twice. */
guint rig_count_whole (RigListener * listener, guint32 ssrc, guint from);
guint rig_count_packets (RigListener * listener, guint32 ssrc);
guint64 rig_stat (Rig * rig, const gchar * field);
GstStructure *rig_pad_stats (RigListener * listener);
guint rig_pad_stat (RigListener * listener, const gchar * field);
guint rig_count_messages (Rig * rig, const gchar * name);

G_END_DECLS

#endif /* __MIX_RIG_H__ */
