/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch-repair.h"

#include <stdio.h>
#include <string.h>

#define RTP_BYTES 12
#define MAX_BYTES 2048
#define LONGEST 1000            /* packets that are looked through for one */

static FILE *file;
static const gchar *file_name;

static gboolean
write_packet (GstBuffer ** buffer, guint i, gpointer user_data)
{
  guint8 data[MAX_BYTES];
  guint32 size = (guint32) gst_buffer_extract (*buffer, 0, data, sizeof (data));

  (void) i;
  (void) user_data;
  fwrite (&size, sizeof (size), 1, file);
  fwrite (data, 1, size, file);
  return TRUE;
}

static GstPadProbeReturn
on_sent (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  (void) pad;
  (void) user_data;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    gst_buffer_list_foreach (GST_PAD_PROBE_INFO_BUFFER_LIST (info),
        write_packet, NULL);
  else
    write_packet ((GstBuffer **) & info->data, 0, NULL);
  fflush (file);
  return GST_PAD_PROBE_OK;
}

/* Returns: its size; 0: there is none yet */
static gsize
read_packet (guint8 * data)
{
  guint32 size;

  clearerr (file);
  if (fread (&size, sizeof (size), 1, file) != 1)
    return 0;
  return fread (data, 1, size, file);
}

/* Its first 12 bytes tell it from all others. */
static GstPadProbeReturn
on_arrival (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  static gboolean repairs;
  GstBuffer *here = GST_PAD_PROBE_INFO_BUFFER (info);
  guint8 head[RTP_BYTES], data[MAX_BYTES];
  gsize size;

  (void) user_data;
  if (repairs || gst_buffer_extract (here, 0, head, RTP_BYTES) < RTP_BYTES)
    return GST_PAD_PROBE_OK;
  if (file == NULL)
    file = fopen (file_name, "rb");
  repairs = TRUE;
  for (guint i = 0; file != NULL && i < LONGEST; i++) {
    GstBuffer *lost;

    size = read_packet (data);
    if (size == 0 || memcmp (data, head, RTP_BYTES) == 0)
      break;
    lost = gst_buffer_new_memdup (data, size);
    gst_buffer_copy_into (lost, here,
        GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
    gst_pad_push (pad, lost);
  }
  repairs = FALSE;
  return GST_PAD_PROBE_OK;
}

static void
watch (GstElement * pipeline, const gchar * name, const gchar * pad_name,
    GstPadProbeType type, GstPadProbeCallback callback)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstPad *pad;

  if (element == NULL)
    return;
  if (g_str_equal (name, "wire"))
    file = fopen (file_name, "wb");
  pad = gst_element_get_static_pad (element, pad_name);
  gst_pad_add_probe (pad, type, callback, NULL, NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
}

void
launch_repair_prepare (GstElement * pipeline, const gchar * path)
{
  file_name = path;
  watch (pipeline, "wire", "sink",
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_sent);
  watch (pipeline, "repair", "src", GST_PAD_PROBE_TYPE_BUFFER, on_arrival);
}
