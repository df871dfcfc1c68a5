/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixdatabase.h"

#include <math.h>

#include <glib/gstdio.h>

#define MIN_GAIN_DB (-60.0)
#define MAX_GAIN_DB 18.0
#define MAX_SAID 4096

struct _GstPartialMixDatabase
{
  gchar *location;
  GKeyFile *file;
  gint64 mtime_us;
  goffset size;
  gboolean stale;               /* the location changed */
  GHashTable *said;             /* ssrc -> GstStructure, by the application */
  GHashTable *groups;           /* interned name -> number */
};

GstPartialMixDatabase *
gst_partial_mix_database_new (void)
{
  GstPartialMixDatabase *database = g_new0 (GstPartialMixDatabase, 1);

  database->said = g_hash_table_new_full (NULL, NULL, NULL,
      (GDestroyNotify) gst_structure_free);
  database->groups = g_hash_table_new (NULL, NULL);
  return database;
}

void
gst_partial_mix_database_free (GstPartialMixDatabase * database)
{
  g_clear_pointer (&database->file, g_key_file_unref);
  g_hash_table_unref (database->said);
  g_hash_table_unref (database->groups);
  g_free (database->location);
  g_free (database);
}

void
gst_partial_mix_database_set_location (GstPartialMixDatabase * database,
    const gchar * location)
{
  g_free (database->location);
  database->location = g_strdup (location);
  database->stale = TRUE;
}

const gchar *
gst_partial_mix_database_get_location (GstPartialMixDatabase * database)
{
  return database->location;
}

/* What is known of the file that was read last, to see whether it changed. */
typedef struct
{
  gchar *location;
  gint64 mtime_us;
  goffset size;
  gboolean stale;
} Reading;

static void
begin_reading (GstPartialMixDatabase * database, GstFairmixLock * lock,
    Reading * reading)
{
  gst_fairmix_lock_acquire (lock);
  *reading = (Reading) {
  .location = g_strdup (database->location),.mtime_us =
        database->mtime_us,.size = database->size,.stale = database->stale};
  database->stale = FALSE;
  gst_fairmix_lock_release (lock);
}

/* Returns: whether there is another file, or none, in @file now */
static gboolean
read_file (Reading * reading, GKeyFile ** file, GError ** error)
{
  GStatBuf st;
  gint64 mtime_us;

  *file = NULL;
  if (reading->location == NULL)
    return TRUE;
  if (g_stat (reading->location, &st) != 0) {
    if (reading->stale)
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
          "cannot read \"%s\"", reading->location);
    reading->mtime_us = 0;
    return FALSE;
  }
#ifdef G_OS_WIN32
  mtime_us = st.st_mtime * G_USEC_PER_SEC;
#else
  mtime_us = st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
#endif
  if (!reading->stale && mtime_us == reading->mtime_us
      && st.st_size == reading->size)
    return FALSE;

  reading->mtime_us = mtime_us;
  reading->size = st.st_size;
  *file = g_key_file_new ();
  if (g_key_file_load_from_file (*file, reading->location, G_KEY_FILE_NONE,
          error))
    return TRUE;
  g_clear_pointer (file, g_key_file_unref);
  return FALSE;
}

gboolean
gst_partial_mix_database_reload (GstPartialMixDatabase * database,
    GstFairmixLock * lock, GError ** error)
{
  GKeyFile *file, *before = NULL;
  gboolean changed;
  Reading reading;

  begin_reading (database, lock, &reading);
  changed = read_file (&reading, &file, error);

  gst_fairmix_lock_acquire (lock);
  /* meanwhile the application may have named another */
  if (g_strcmp0 (reading.location, database->location) == 0) {
    database->mtime_us = reading.mtime_us;
    database->size = reading.size;
    if (changed) {
      before = database->file;
      database->file = g_steal_pointer (&file);
      changed = before != NULL || database->file != NULL;
    }
  } else {
    changed = FALSE;
  }
  gst_fairmix_lock_release (lock);

  g_clear_pointer (&before, g_key_file_unref);
  g_clear_pointer (&file, g_key_file_unref);
  g_free (reading.location);
  return changed;
}

void
gst_partial_mix_database_set (GstPartialMixDatabase * database, guint32 ssrc,
    const GstStructure * values)
{
  GstStructure *said = g_hash_table_lookup (database->said,
      GUINT_TO_POINTER (ssrc));
  gint i;

  if (said == NULL) {
    if (g_hash_table_size (database->said) >= MAX_SAID)
      return;
    said = gst_structure_new_empty ("said");
    g_hash_table_insert (database->said, GUINT_TO_POINTER (ssrc), said);
  }
  for (i = 0; i < gst_structure_n_fields (values); i++) {
    const gchar *name = gst_structure_nth_field_name (values, i);

    gst_structure_set_value (said, name, gst_structure_get_value (values,
            name));
  }
}

/* --------------------------------------------------------------- lookup -- */

static void
take_group (GstPartialMixDatabase * database, const gchar * name,
    GstPartialMixStreamInfo * info)
{
  gpointer id;

  info->group = name != NULL && *name != '\0' ? g_intern_string (name) : NULL;
  info->group_id = 0;
  if (info->group == NULL)
    return;
  id = g_hash_table_lookup (database->groups, info->group);
  if (id == NULL) {
    id = GUINT_TO_POINTER (g_hash_table_size (database->groups) + 1);
    g_hash_table_insert (database->groups, (gpointer) info->group, id);
  }
  info->group_id = GPOINTER_TO_UINT (id);
}

static void
take_gain (gdouble gain_db, GstPartialMixStreamInfo * info)
{
  if (isfinite (gain_db))
    info->gain = (gfloat) pow (10.0, CLAMP (gain_db, MIN_GAIN_DB,
            MAX_GAIN_DB) / 20.0);
}

static void
take_pan (gdouble pan, GstPartialMixStreamInfo * info)
{
  if (isfinite (pan))
    info->pan = (gfloat) CLAMP (pan, -1.0, 1.0);
}

static void
take_section (GstPartialMixDatabase * database, const gchar * section,
    GstPartialMixStreamInfo * info)
{
  GKeyFile *file = database->file;
  gchar *group;

  if (file == NULL || !g_key_file_has_group (file, section))
    return;
  if (g_key_file_has_key (file, section, "priority", NULL))
    info->priority = g_key_file_get_integer (file, section, "priority", NULL);
  if (g_key_file_has_key (file, section, "never-mix", NULL))
    info->never_mix = g_key_file_get_boolean (file, section, "never-mix",
        NULL);
  if (g_key_file_has_key (file, section, "mute", NULL))
    info->mute = g_key_file_get_boolean (file, section, "mute", NULL);
  if (g_key_file_has_key (file, section, "gain-db", NULL))
    take_gain (g_key_file_get_double (file, section, "gain-db", NULL), info);
  if (g_key_file_has_key (file, section, "pan", NULL))
    take_pan (g_key_file_get_double (file, section, "pan", NULL), info);
  group = g_key_file_get_string (file, section, "group", NULL);
  if (group != NULL)
    take_group (database, group, info);
  g_free (group);
}

static void
take_ssrc_sections (GstPartialMixDatabase * database, guint32 ssrc,
    GstPartialMixStreamInfo * info)
{
  gchar **sections;
  guint i;

  if (database->file == NULL)
    return;
  sections = g_key_file_get_groups (database->file, NULL);
  for (i = 0; sections[i] != NULL; i++) {
    if (g_str_has_prefix (sections[i], "ssrc:")
        && g_ascii_strtoull (sections[i] + 5, NULL, 0) == ssrc)
      take_section (database, sections[i], info);
  }
  g_strfreev (sections);
}

static void
take_said (GstPartialMixDatabase * database, const GstStructure * said,
    GstPartialMixStreamInfo * info)
{
  gdouble value;

  gst_structure_get_int (said, "priority", &info->priority);
  gst_structure_get_boolean (said, "never-mix", &info->never_mix);
  gst_structure_get_boolean (said, "mute", &info->mute);
  if (gst_structure_get_double (said, "gain-db", &value))
    take_gain (value, info);
  if (gst_structure_get_double (said, "pan", &value))
    take_pan (value, info);
  if (gst_structure_has_field_typed (said, "group", G_TYPE_STRING))
    take_group (database, gst_structure_get_string (said, "group"), info);
}

void
gst_partial_mix_database_lookup (GstPartialMixDatabase * database,
    const gchar * cname, guint32 ssrc, GstPartialMixStreamInfo * info)
{
  const GstStructure *said = g_hash_table_lookup (database->said,
      GUINT_TO_POINTER (ssrc));

  *info = (GstPartialMixStreamInfo) {
    .gain = 1.0f,
    .pan = NAN,
  };
  take_section (database, "default", info);
  if (cname != NULL) {
    gchar *section = g_strconcat ("cname:", cname, NULL);

    take_section (database, section, info);
    g_free (section);
  }
  take_ssrc_sections (database, ssrc, info);
  if (said != NULL)
    take_said (database, said, info);
}
