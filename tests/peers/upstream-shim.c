/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linked into a test of GStreamer's: whoever asks for the element that is
 * named in $REPLACE as "stock=replacement [property=value]..." gets the
 * replacement; the replacement itself, which has the stock one inside, gets
 * that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include <gst/gst.h>

static GPrivate making = G_PRIVATE_INIT (NULL);

static GstElement *
make_replacement (GstElement * (*make) (const gchar *, const gchar *),
    const gchar * wanted, const gchar * name)
{
  gchar **words = g_strsplit (g_getenv ("REPLACE"), " ", -1);
  const gchar *replacement = strchr (words[0], '=') + 1;
  GstElement *element = NULL;

  if (strncmp (words[0], wanted, strlen (wanted)) == 0
      && words[0][strlen (wanted)] == '=') {
    g_private_set (&making, GINT_TO_POINTER (TRUE));
    element = make (replacement, name);
    g_private_set (&making, NULL);
    if (element == NULL)
      g_error ("no element %s", replacement);
    for (guint i = 1; words[i] != NULL; i++) {
      gchar **pair = g_strsplit (words[i], "=", 2);

      gst_util_set_object_arg (G_OBJECT (element), pair[0], pair[1]);
      g_strfreev (pair);
    }
  }
  g_strfreev (words);
  return element;
}

GstElement *
gst_element_factory_make (const gchar * factory, const gchar * name)
{
  static GstElement *(*make) (const gchar *, const gchar *);
  GstElement *element = NULL;

  if (make == NULL)
    make = (GstElement * (*)(const gchar *, const gchar *))
        dlsym (RTLD_NEXT, "gst_element_factory_make");
  if (g_getenv ("REPLACE") != NULL && g_private_get (&making) == NULL)
    element = make_replacement (make, factory, name);
  return element != NULL ? element : make (factory, name);
}
