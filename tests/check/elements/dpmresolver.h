/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __DPM_RESOLVER_H__
#define __DPM_RESOLVER_H__

/* Names as a test wants them: `*.test` is 127.0.0.1, meet.test is a service with
 * targets that the test adds, and who is asked for `*.slow` does not answer.  Nobody is
 * asked on the network. */

#include <gio/gio.h>

typedef GResolver TestResolver;
typedef GResolverClass TestResolverClass;

static GType test_resolver_get_type (void);
G_DEFINE_TYPE (TestResolver, test_resolver, G_TYPE_RESOLVER);

static GList *resolver_targets;
static GResolver *resolver_before;

static void
test_resolver_wait (GCancellable * cancellable)
{
  GPollFD until_cancelled;

  if (g_cancellable_make_pollfd (cancellable, &until_cancelled)) {
    g_poll (&until_cancelled, 1, -1);
    g_cancellable_release_fd (cancellable);
  }
}

static GList *
test_resolver_by_name (const gchar * name, GCancellable * cancellable,
    GError ** error)
{
  if (g_str_has_suffix (name, ".slow"))
    test_resolver_wait (cancellable);
  if (g_str_has_suffix (name, ".test"))
    return g_list_append (NULL,
        g_inet_address_new_from_string ("127.0.0.1"));
  g_set_error (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND,
      "nobody knows %s", name);
  return NULL;
}

static GList *
test_resolver_lookup_by_name (GResolver * resolver, const gchar * name,
    GCancellable * cancellable, GError ** error)
{
  return test_resolver_by_name (name, cancellable, error);
}

static GList *
test_resolver_lookup_by_name_with_flags (GResolver * resolver,
    const gchar * name, GResolverNameLookupFlags flags,
    GCancellable * cancellable, GError ** error)
{
  return test_resolver_by_name (name, cancellable, error);
}

static void
test_resolver_lookup_async (GResolver * resolver, const gchar * name,
    GResolverNameLookupFlags flags, GCancellable * cancellable,
    GAsyncReadyCallback callback, gpointer user)
{
  GTask *task = g_task_new (resolver, cancellable, callback, user);
  GError *error = NULL;
  GList *found = test_resolver_by_name (name, cancellable, &error);

  if (found != NULL)
    g_task_return_pointer (task, found, NULL);
  else
    g_task_return_error (task, error);
  g_object_unref (task);
}

static GList *
test_resolver_lookup_finish (GResolver * resolver, GAsyncResult * result,
    GError ** error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static GList *
test_resolver_lookup_service (GResolver * resolver, const gchar * name,
    GCancellable * cancellable, GError ** error)
{
  GList *found = NULL;

  if (g_strcmp0 (name, "_dpm._udp.meet.test") == 0)
    found = g_list_copy_deep (resolver_targets,
        (GCopyFunc) (void (*)(void)) g_srv_target_copy, NULL);
  if (found == NULL)
    g_set_error (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND,
        "no service %s", name);
  return found;
}

static void
test_resolver_class_init (TestResolverClass * klass)
{
  klass->lookup_by_name = test_resolver_lookup_by_name;
  klass->lookup_by_name_with_flags = test_resolver_lookup_by_name_with_flags;
  klass->lookup_by_name_with_flags_async = test_resolver_lookup_async;
  klass->lookup_by_name_with_flags_finish = test_resolver_lookup_finish;
  klass->lookup_service = test_resolver_lookup_service;
}

static void
test_resolver_init (TestResolver * resolver)
{
}

static inline void
resolver_install (void)
{
  GResolver *resolver = g_object_new (test_resolver_get_type (), NULL);

  resolver_before = g_resolver_get_default ();
  g_resolver_set_default (resolver);
  g_object_unref (resolver);
}

static inline void
resolver_add_target (const gchar * host, guint16 port, guint16 priority)
{
  resolver_targets = g_list_append (resolver_targets,
      g_srv_target_new (host, port, priority, 0));
}

static inline void
resolver_remove (void)
{
  g_resolver_set_default (resolver_before);
  g_clear_object (&resolver_before);
  g_resolver_free_targets (g_steal_pointer (&resolver_targets));
}

#endif /* __DPM_RESOLVER_H__ */
