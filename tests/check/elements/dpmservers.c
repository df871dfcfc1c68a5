/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a mixer may be: names, services, the nearest of several. */
#include <gst/check/check.h>
#include <net/if.h>
#include <string.h>

#include "dpmresolver.h"
#include "fairmix/join/fmx-join-message.h"
#include "gstdpmservers.h"
#include "gstdpmsocket.h"

#define PATIENCE_US (60 * G_USEC_PER_SEC)
#define IN_TIME_US (200 * 1000) /* they are waited for a little longer */

static FmxJoinAddress
next_of (GstDpmServers * servers)
{
  FmxJoinAddress address;

  fail_unless_equals_int (gst_dpm_servers_next (servers, &address, NULL),
      GST_DPM_NEXT_FOUND);
  return address;
}

static void
assert_next (GstDpmServers * servers, guint port)
{
  FmxJoinAddress address = next_of (servers);

  fail_unless_equals_int (address.port, port);
}

GST_START_TEST (test_one_name_follows_the_other_and_the_first_the_last)
{
  GstDpmServers *servers = gst_dpm_servers_new ("127.0.0.1:7000, 127.0.0.2,"
      "[::1]:7002", NULL);

  fail_unless (gst_dpm_servers_have_choice (servers));
  for (guint i = 0; i < 3; i++) {
    assert_next (servers, 7000);
    assert_next (servers, GST_DPM_DEFAULT_PORT);
    assert_next (servers, 7002);
  }
  gst_dpm_servers_free (servers);
  servers = gst_dpm_servers_new ("127.0.0.1", NULL);
  fail_if (gst_dpm_servers_have_choice (servers));
  gst_dpm_servers_free (servers);
}

GST_END_TEST;

/* One that is silent, or full, may be better the next time. */
GST_START_TEST (test_a_round_is_hopeless_when_all_have_refused)
{
  GstDpmServers *servers = gst_dpm_servers_new ("127.0.0.1:7000,"
      "127.0.0.1:7001", NULL);
  FmxJoinAddress address;

  assert_next (servers, 7000);
  gst_dpm_servers_refused (servers);
  assert_next (servers, 7001);
  assert_next (servers, 7000);  /* the other one was silent */
  gst_dpm_servers_refused (servers);
  assert_next (servers, 7001);
  gst_dpm_servers_refused (servers);
  fail_unless_equals_int (gst_dpm_servers_next (servers, &address, NULL),
      GST_DPM_NEXT_HOPELESS);
  gst_dpm_servers_free (servers);
}

GST_END_TEST;

/* The one that was asked twice, and the name that has no address yet, may be those that let
 * us in. */
GST_START_TEST (test_who_was_not_asked_has_not_refused)
{
  GstDpmServers *servers = gst_dpm_servers_new ("127.0.0.1:7000,"
      "127.0.0.1:7001", NULL);
  FmxJoinAddress address;

  assert_next (servers, 7000);
  gst_dpm_servers_refused (servers);
  gst_dpm_servers_refused (servers);
  assert_next (servers, 7001);
  assert_next (servers, 7000);
  gst_dpm_servers_free (servers);
  resolver_install ();
  servers = gst_dpm_servers_new ("127.0.0.1:7000,nobody.invalid:7001", NULL);
  for (guint i = 0; i < 3; i++) {
    assert_next (servers, 7000);
    gst_dpm_servers_refused (servers);
    fail_unless_equals_int (gst_dpm_servers_next (servers, &address, NULL),
        GST_DPM_NEXT_NONE);
    gst_dpm_servers_refused (servers);
  }
  gst_dpm_servers_free (servers);
  resolver_remove ();
}

GST_END_TEST;

GST_START_TEST (test_what_cannot_be_read_is_an_error)
{
  static const gchar *const texts[] = { "", "host:99999", "good,[::",
    "127.0.0.1,,127.0.0.2", "fe80::1", "[fe80::1]:7000"
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    GError *error = NULL;

    fail_unless (gst_dpm_servers_new (texts[i], &error) == NULL, "%s",
        texts[i]);
    fail_unless (error != NULL);
    g_error_free (error);
  }
}

GST_END_TEST;

GST_START_TEST (test_a_link_local_address_keeps_its_link)
{
  GstDpmServers *servers = gst_dpm_servers_new ("[fe80::1%lo]:7000,fe80::2%lo,"
      "[::1]:7002", NULL);
  FmxJoinAddress address;

  for (guint i = 0; i < 3; i++) {
    address = next_of (servers);
    fail_unless_equals_int (address.zone, i < 2 ? if_nametoindex ("lo") : 0);
    fail_unless_equals_int (address.ip[15], i < 2 ? i + 1 : 1);
  }
  gst_dpm_servers_free (servers);
}

GST_END_TEST;

/* A name with a port is that of a host; one without may be that of a service. */
GST_START_TEST (test_a_name_without_a_port_may_be_a_service)
{
  GstDpmServers *servers;
  FmxJoinAddress address;

  resolver_install ();
  resolver_add_target ("one.test", 7001, 10);
  resolver_add_target ("two.test", 7002, 20);
  servers = gst_dpm_servers_new ("meet.test", NULL);
  for (guint i = 0; i < 2; i++) {
    assert_next (servers, 7001);
    assert_next (servers, 7002);
    fail_unless (gst_dpm_servers_have_choice (servers));
  }
  gst_dpm_servers_free (servers);
  servers = gst_dpm_servers_new ("meet.test:7003", NULL);
  assert_next (servers, 7003);
  fail_if (gst_dpm_servers_have_choice (servers));
  gst_dpm_servers_free (servers);
  /* of that one there is no service */
  servers = gst_dpm_servers_new ("host.test", NULL);
  assert_next (servers, GST_DPM_DEFAULT_PORT);
  gst_dpm_servers_free (servers);
  /* nor anything else */
  servers = gst_dpm_servers_new ("nobody.invalid", NULL);
  fail_unless_equals_int (gst_dpm_servers_next (servers, &address, NULL),
      GST_DPM_NEXT_NONE);
  gst_dpm_servers_free (servers);
  resolver_remove ();
}

GST_END_TEST;

/* Reads HELLO at @socket.  Answers it with a COOKIE, with @flaw in its nonce */
static void
answer (GstDpmSocket * socket, guint8 flaw)
{
  FmxJoinMessage hello, cookie = {.type = FMX_JOIN_COOKIE };
  guint8 data[FMX_JOIN_MAX_BYTES];
  FmxJoinAddress from;
  gsize size;

  fail_unless (gst_dpm_socket_wait (socket, PATIENCE_US, NULL));
  size = gst_dpm_socket_receive (socket, data, sizeof data, &from);
  fail_unless (fmx_join_message_parse (&hello, data, size) == FMX_JOIN_VALID);
  fail_unless_equals_int (hello.type, FMX_JOIN_HELLO);
  memcpy (cookie.u.cookie.nonce, hello.u.hello.nonce, FMX_JOIN_NONCE_BYTES);
  cookie.u.cookie.nonce[0] ^= flaw;
  size = fmx_join_message_write (&cookie, data);
  fail_unless (gst_dpm_socket_send (socket, data, size, &from));
}

static gpointer
run_next (gpointer servers)
{
  FmxJoinAddress address = next_of (servers);

  return GUINT_TO_POINTER (address.port);
}

/* Returns: FALSE if they had no time to answer while they were waited for */
static gboolean
check_who_answers_first (void)
{
  GstDpmSocket sockets[3] = { {0}, {0}, {0}
  };
  GstDpmServers *servers;
  guint ports[3], nearest;
  gboolean in_time;
  GThread *thread;
  gint64 begin_us;

  resolver_install ();
  for (guint i = 0; i < 3; i++) {
    fail_unless (gst_dpm_socket_open (&sockets[i], "127.0.0.1", 0, NULL));
    ports[i] = gst_dpm_socket_get_port (&sockets[i]);
    resolver_add_target ("one.test", (guint16) ports[i], 10);
  }
  servers = gst_dpm_servers_new ("meet.test", NULL);
  begin_us = g_get_monotonic_time ();
  thread = g_thread_new ("next", run_next, servers);
  answer (&sockets[1], 1);
  answer (&sockets[2], 0);
  nearest = GPOINTER_TO_UINT (g_thread_join (thread));
  in_time = g_get_monotonic_time () - begin_us < IN_TIME_US;
  if (in_time) {
    fail_unless_equals_int (nearest, ports[2]);
    assert_next (servers, ports[0]);
    assert_next (servers, ports[1]);
  }
  gst_dpm_servers_free (servers);
  for (guint i = 0; i < 3; i++)
    gst_dpm_socket_close (&sockets[i]);
  resolver_remove ();
  return in_time;
}

/* Three of the same priority; one answers falsely, one rightly, one not at all. */
GST_START_TEST (test_the_host_that_answers_first_is_the_first)
{
  while (!check_who_answers_first ());
}

GST_END_TEST;

static Suite *
dpmservers_suite (void)
{
  Suite *s = suite_create ("dpmservers");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_one_name_follows_the_other_and_the_first_the_last);
  tcase_add_test (tc, test_a_round_is_hopeless_when_all_have_refused);
  tcase_add_test (tc, test_who_was_not_asked_has_not_refused);
  tcase_add_test (tc, test_what_cannot_be_read_is_an_error);
  tcase_add_test (tc, test_a_link_local_address_keeps_its_link);
  tcase_add_test (tc, test_a_name_without_a_port_may_be_a_service);
  tcase_add_test (tc, test_the_host_that_answers_first_is_the_first);
  return s;
}

GST_CHECK_MAIN (dpmservers);
