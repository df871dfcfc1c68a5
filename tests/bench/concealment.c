/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is left of speech when packets are lost: through the encoder of a mix and
 * partialmix's decoder.  write_concealment.py rates it. */

#include <stdio.h>
#include <stdlib.h>

#include <opus.h>

#include "partialmix/gstpartialmixcodec.h"

#define RATE 48000
#define FRAME 960
#define ENCODER_COMPLEXITY 5    /* as mixes have it */
#define MAX_BYTES 1500
#define COPY (-1)               /* of each packet in the next one, as in RFC 2198 */
#define COPY_BYTES 5            /* of headers */

typedef struct
{
  guint8 data[MAX_BYTES];
  gsize size;
  gboolean lost;
} Packet;

static const GstPartialMixFormat opus = {
  GST_PARTIAL_MIX_ENCODING_OPUS, RATE, 1, 96
};

/* Returns: what is left of @bitrate for each of two */
static guint
half_of (guint bitrate)
{
  return (bitrate - COPY_BYTES * 8 * RATE / FRAME) / 2;
}

/* Returns: the packets of @said; each is lost with a probability of @loss percent */
static Packet *
encode (const gint16 * said, guint n_frames, guint bitrate, gint provide,
    gdouble loss, guint32 seed)
{
  GstPartialMixEncoder *encoder = gst_partial_mix_encoder_new (&opus, RATE,
      ENCODER_COMPLEXITY, FALSE);
  GRand *rand = g_rand_new_with_seed (seed);
  Packet *packets = g_new0 (Packet, n_frames + 1);
  guint64 n_bytes = 0;
  guint n_lost = 0, i;

  gst_partial_mix_encoder_set_bitrate (encoder,
      provide == COPY ? half_of (bitrate) : bitrate);
  gst_partial_mix_encoder_set_loss (encoder, (guint) MAX (provide, 0));
  for (i = 0; i < n_frames; i++) {
    packets[i].size = gst_partial_mix_encoder_encode (encoder,
        said + (gsize) i * FRAME, FRAME, packets[i].data, MAX_BYTES);
    packets[i].lost = g_rand_double (rand) * 100.0 < loss;
    n_bytes += packets[i].size;
    n_lost += packets[i].lost;
  }
  packets[n_frames].lost = TRUE;
  for (i = 0; provide == COPY && i < n_frames; i++)
    packets[i].lost &= packets[i + 1].lost;
  printf ("%s %.1f kbit/s %.1f %%\n", opus_get_version_string (),
      n_bytes * 8.0 * RATE / FRAME / n_frames / 1000.0,
      100.0 * n_lost / n_frames);
  g_rand_free (rand);
  gst_partial_mix_encoder_free (encoder);
  return packets;
}

static void
decode (const Packet * packets, guint n_frames, gint complexity, FILE * out)
{
  GstPartialMixDecoder *decoder = gst_partial_mix_decoder_new (&opus, RATE,
      complexity);
  gint16 heard[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];
  guint i;

  for (i = 0; i < n_frames; i++) {
    const Packet *packet = &packets[i], *next = &packets[i + 1];

    if (!packet->lost)
      gst_partial_mix_decoder_decode (decoder, packet->data, packet->size,
          heard);
    else
      gst_partial_mix_decoder_conceal (decoder,
          next->lost ? NULL : next->data, next->size, heard, FRAME);
    fwrite (heard, sizeof heard[0], FRAME, out);
  }
  gst_partial_mix_decoder_free (decoder);
}

int
main (int argc, char **argv)
{
  gchar *said;
  gsize size;
  guint n_frames;
  Packet *packets;
  FILE *out;

  if (argc != 8) {
    fprintf (stderr, "usage: bench-concealment SAID.s16 BITRATE PROVIDE LOSS "
        "SEED COMPLEXITY HEARD.s16\n"
        "PROVIDE and LOSS are in percent, COMPLEXITY is the decoder's;\n"
        "PROVIDE %d: a copy of each packet in the next one\n", COPY);
    return 2;
  }
  if (!g_file_get_contents (argv[1], &said, &size, NULL)
      || (out = fopen (argv[7], "wb")) == NULL) {
    fprintf (stderr, "cannot read %s or write %s\n", argv[1], argv[7]);
    return 1;
  }
  n_frames = (guint) (size / sizeof (gint16) / FRAME);
  packets = encode ((const gint16 *) said, n_frames, (guint) atoi (argv[2]),
      atoi (argv[3]), atof (argv[4]), (guint32) atoi (argv[5]));
  decode (packets, n_frames, atoi (argv[6]), out);
  g_free (packets);
  g_free (said);
  return fclose (out) == 0 ? 0 : 1;
}
