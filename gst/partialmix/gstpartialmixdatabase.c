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
  GHashTable *said_for;         /* "listener/ssrc" -> GstStructure */
  GHashTable *listeners;        /* who has sections of his own */
  GHashTable *listeners_said;   /* for whom the application said anything */
  GHashTable *groups;           /* interned name -> number */
};

GstPartialMixDatabase *
gst_partial_mix_database_new (void)
{
  GstPartialMixDatabase *database = g_new0 (GstPartialMixDatabase, 1);

  database->said = g_hash_table_new_full (NULL, NULL, NULL,
      (GDestroyNotify) gst_structure_free);
  database->said_for = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
      (GDestroyNotify) gst_structure_free);
  database->listeners = g_hash_table_new (NULL, NULL);
  database->listeners_said = g_hash_table_new (NULL, NULL);
  database->groups = g_hash_table_new (NULL, NULL);
  return database;
}

void
gst_partial_mix_database_free (GstPartialMixDatabase * database)
{
  g_clear_pointer (&database->file, g_key_file_unref);
  g_hash_table_unref (database->said);
  g_hash_table_unref (database->said_for);
  g_hash_table_unref (database->listeners);
  g_hash_table_unref (database->listeners_said);
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
  GHashTable *listeners;        /* who has sections of his own in what was read */
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

static void
find_listeners (Reading * reading, GKeyFile * file)
{
  gchar **sections = g_key_file_get_groups (file, NULL);
  const gchar *rest;
  gint listener;
  guint i;

  for (i = 0; sections[i] != NULL; i++)
    if (gst_partial_mix_database_parse_listener (sections[i], &listener, &rest))
      g_hash_table_add (reading->listeners, GINT_TO_POINTER (listener));
  g_strfreev (sections);
}

/* Returns: the file, NULL if it cannot be read */
static GKeyFile *
load_file (Reading * reading, gchar ** complaints, GError ** error)
{
  GKeyFile *file = g_key_file_new ();
  gchar *text = NULL;
  gsize size;

  if (!g_file_get_contents (reading->location, &text, &size, error)
      || !g_key_file_load_from_data (file, text, size, G_KEY_FILE_NONE, error)) {
    g_free (text);
    g_key_file_unref (file);
    return NULL;
  }
  *complaints = gst_partial_mix_database_check (text, reading->location);
  g_free (text);
  find_listeners (reading, file);
  return file;
}

/* Returns: whether there is another file, or none, in @file now */
static gboolean
read_file (Reading * reading, GKeyFile ** file, gchar ** complaints,
    GError ** error)
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
  *file = load_file (reading, complaints, error);
  return *file != NULL;
}

gboolean
gst_partial_mix_database_reload (GstPartialMixDatabase * database,
    GstFairmixLock * lock, gchar ** complaints, GError ** error)
{
  GKeyFile *file, *before = NULL;
  gboolean changed;
  Reading reading;

  *complaints = NULL;
  begin_reading (database, lock, &reading);
  reading.listeners = g_hash_table_new (NULL, NULL);
  changed = read_file (&reading, &file, complaints, error);

  gst_fairmix_lock_acquire (lock);
  /* meanwhile the application may have named another */
  if (g_strcmp0 (reading.location, database->location) == 0) {
    database->mtime_us = reading.mtime_us;
    database->size = reading.size;
    if (changed) {
      before = database->file;
      database->file = g_steal_pointer (&file);
      g_hash_table_unref (database->listeners);
      database->listeners = g_hash_table_ref (reading.listeners);
      changed = before != NULL || database->file != NULL;
    }
  } else {
    changed = FALSE;
  }
  gst_fairmix_lock_release (lock);

  g_clear_pointer (&before, g_key_file_unref);
  g_clear_pointer (&file, g_key_file_unref);
  g_hash_table_unref (reading.listeners);
  g_free (reading.location);
  return changed;
}

typedef struct
{
  GstPartialMixIsThereFunc is_there;
  gpointer user_data;
} Presence;

static gboolean
is_gone (gpointer ssrc, gpointer said, gpointer user_data)
{
  const Presence *presence = user_data;

  return !presence->is_there (-1, GPOINTER_TO_UINT (ssrc), presence->user_data);
}

/* @key: of said_for */
static gboolean
is_gone_for_one (gpointer key, gpointer said, gpointer user_data)
{
  const Presence *presence = user_data;
  gchar *slash;
  gint listener = (gint) g_ascii_strtoll (key, &slash, 10);

  return !presence->is_there (listener, (guint32) g_ascii_strtoull (slash + 1,
          NULL, 10), presence->user_data);
}

/* Streams come and go, each with another SSRC, listeners each with another number, and so
 * what was said of them piles up. */
static void
forget_gone (GstPartialMixDatabase * database, GHashTable * table,
    Presence * presence)
{
  GHashTableIter iter;
  gpointer key;

  if (table == database->said) {
    g_hash_table_foreach_remove (table, is_gone, presence);
    return;
  }
  g_hash_table_foreach_remove (table, is_gone_for_one, presence);
  g_hash_table_remove_all (database->listeners_said);
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (database->listeners_said,
        GINT_TO_POINTER ((gint) g_ascii_strtoll (key, NULL, 10)));
}

/* Returns: what the application said before of @ssrc, for @listener alone if it
 * is not negative; NULL if it has said too much */
static GstStructure *
find_said (GstPartialMixDatabase * database, gint listener, guint32 ssrc,
    Presence * presence)
{
  GHashTable *table = listener < 0 ? database->said : database->said_for;
  gpointer key = listener < 0 ? GUINT_TO_POINTER (ssrc)
      : g_strdup_printf ("%d/%u", listener, ssrc);
  GstStructure *said = g_hash_table_lookup (table, key);

  if (said == NULL && g_hash_table_size (table) >= MAX_SAID
      && presence->is_there != NULL)
    forget_gone (database, table, presence);
  if (said != NULL || g_hash_table_size (table) >= MAX_SAID) {
    if (listener >= 0)
      g_free (key);
    return said;
  }
  said = gst_structure_new_empty ("said");
  g_hash_table_insert (table, key, said);
  if (listener >= 0)
    g_hash_table_add (database->listeners_said, GINT_TO_POINTER (listener));
  return said;
}

gboolean
gst_partial_mix_database_set (GstPartialMixDatabase * database, guint32 ssrc,
    const GstStructure * values, GstPartialMixIsThereFunc is_there,
    gpointer user_data)
{
  Presence presence = { is_there, user_data };
  GstStructure *said;
  gint listener = -1;
  gint i;

  gst_structure_get_int (values, "neighbour", &listener);
  said = find_said (database, listener, ssrc, &presence);
  if (said == NULL)
    return FALSE;
  for (i = 0; i < gst_structure_n_fields (values); i++) {
    const gchar *name = gst_structure_nth_field_name (values, i);

    gst_structure_set_value (said, name, gst_structure_get_value (values,
            name));
  }
  return TRUE;
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

/* What is not what it should be says nothing. */
static void
take_integer (GKeyFile * file, const gchar * section, const gchar * key,
    gint * value)
{
  GError *error = NULL;
  gint found = g_key_file_get_integer (file, section, key, &error);

  if (error == NULL)
    *value = found;
  g_clear_error (&error);
}

static void
take_boolean (GKeyFile * file, const gchar * section, const gchar * key,
    gboolean * value)
{
  GError *error = NULL;
  gboolean found = g_key_file_get_boolean (file, section, key, &error);

  if (error == NULL)
    *value = found;
  g_clear_error (&error);
}

/* Returns: NAN if there is none */
static gdouble
read_double (GKeyFile * file, const gchar * section, const gchar * key)
{
  GError *error = NULL;
  gdouble found = g_key_file_get_double (file, section, key, &error);

  if (error != NULL)
    found = NAN;
  g_clear_error (&error);
  return found;
}

static void
take_section (GstPartialMixDatabase * database, const gchar * section,
    GstPartialMixStreamInfo * info)
{
  GKeyFile *file = database->file;
  gchar *group;

  if (file == NULL || !g_key_file_has_group (file, section))
    return;
  take_integer (file, section, "priority", &info->priority);
  take_boolean (file, section, "never-mix", &info->never_mix);
  take_boolean (file, section, "mute", &info->mute);
  take_gain (read_double (file, section, "gain-db"), info);
  take_pan (read_double (file, section, "pan"), info);
  group = g_key_file_get_string (file, section, "group", NULL);
  if (group != NULL)
    take_group (database, group, info);
  g_free (group);
}

/* The sections of @listener that name an SSRC; of everybody if it is negative. */
static void
take_ssrc_sections (GstPartialMixDatabase * database, gint listener,
    guint32 ssrc, GstPartialMixStreamInfo * info)
{
  gchar **sections;
  guint i;

  if (database->file == NULL)
    return;
  sections = g_key_file_get_groups (database->file, NULL);
  for (i = 0; sections[i] != NULL; i++) {
    const gchar *rest = sections[i];
    gint whose = -1;

    gst_partial_mix_database_parse_listener (sections[i], &whose, &rest);
    if (whose == listener && g_str_has_prefix (rest, "ssrc:")
        && g_ascii_strtoull (rest + 5, NULL, 0) == ssrc)
      take_section (database, sections[i], info);
  }
  g_strfreev (sections);
}

/* @prefix: of the sections of @listener */
static void
take_sections (GstPartialMixDatabase * database, gint listener,
    const gchar * prefix, const gchar * cname, guint32 ssrc,
    GstPartialMixStreamInfo * info)
{
  gchar *section = g_strconcat (prefix, "default", NULL);

  take_section (database, section, info);
  g_free (section);
  if (cname != NULL) {
    section = g_strconcat (prefix, "cname:", cname, NULL);
    take_section (database, section, info);
    g_free (section);
  }
  take_ssrc_sections (database, listener, ssrc, info);
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

static void
look_up (GstPartialMixDatabase * database, gint listener, const gchar * cname,
    guint32 ssrc, GstPartialMixStreamInfo * info)
{
  const GstStructure *said = g_hash_table_lookup (database->said,
      GUINT_TO_POINTER (ssrc));
  gchar *name;

  *info = (GstPartialMixStreamInfo) {
  .gain = 1.0f,.pan = NAN,};
  take_sections (database, -1, "", cname, ssrc, info);
  if (listener >= 0) {
    name = g_strdup_printf ("neighbour %d/", listener);
    take_sections (database, listener, name, cname, ssrc, info);
    g_free (name);
  }
  if (said != NULL)
    take_said (database, said, info);
  if (listener < 0)
    return;
  name = g_strdup_printf ("%d/%u", listener, ssrc);
  said = g_hash_table_lookup (database->said_for, name);
  if (said != NULL)
    take_said (database, said, info);
  g_free (name);
}

void
gst_partial_mix_database_lookup (GstPartialMixDatabase * database,
    const gchar * cname, guint32 ssrc, GstPartialMixStreamInfo * info)
{
  look_up (database, -1, cname, ssrc, info);
}

gboolean
gst_partial_mix_database_has_listener (GstPartialMixDatabase * database,
    gint listener)
{
  gpointer key = GINT_TO_POINTER (listener);

  return g_hash_table_contains (database->listeners, key)
      || g_hash_table_contains (database->listeners_said, key);
}

void
gst_partial_mix_database_lookup_for (GstPartialMixDatabase * database,
    gint listener, const gchar * cname, guint32 ssrc,
    GstPartialMixStreamInfo * info)
{
  look_up (database, listener, cname, ssrc, info);
}
