/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A meeting's UDP socket: many datagrams with one call, and what IP says of them. */
#define _GNU_SOURCE             /* unshare() */
#include "../gstfairmixcheck.h"
#include "gstdpmsocket.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sched.h>
#include <sys/ioctl.h>

#define PATIENCE_US (30 * G_USEC_PER_SEC)       /* what was sent to ourselves comes */

/* Many datagrams go out with one call; one that cannot go harms no other. */
GST_START_TEST (test_many_are_sent_at_once)
{
  GstDpmSocket here = { 0 }, there = { 0 };
  GstDpmDatagram *out = g_new0 (GstDpmDatagram, GST_DPM_MAX_DATAGRAMS);
  FmxJoinAddress to = { {[10] = 0xff,[11] = 0xff, 127, 0, 0, 1}, 0, 0 }, from;
  guint8 data[2000];

  fail_unless (gst_dpm_socket_open (&here, "127.0.0.1", 0, NULL));
  fail_unless (gst_dpm_socket_open (&there, "127.0.0.1", 0, NULL));
  to.port = (guint16) gst_dpm_socket_get_port (&there);
  for (guint i = 0; i < GST_DPM_MAX_DATAGRAMS; i++) {
    out[i].size = 10 + i;
    memset (out[i].data, (gint) i, out[i].size);
    out[i].to = to;
  }
  out[5].to.ip[0] = 0x20;       /* no IPv4: this socket cannot */
  gst_dpm_socket_send_all (&here, out, GST_DPM_MAX_DATAGRAMS);
  for (guint i = 0; i < GST_DPM_MAX_DATAGRAMS; i++) {
    fail_unless (out[i].sent == (i != 5));
    if (i == 5)
      continue;
    fail_unless (gst_dpm_socket_wait (&there, PATIENCE_US, NULL));
    fail_unless_equals_int (gst_dpm_socket_receive (&there, data, sizeof data,
            &from), 10 + i);
    fail_unless_equals_int (data[9 + i], i);
    fail_unless_equals_int (from.port, gst_dpm_socket_get_port (&here));
  }
  gst_dpm_socket_close (&here);
  gst_dpm_socket_send_all (&here, out, 2);
  fail_if (out[0].sent || out[1].sent);
  gst_dpm_socket_close (&there);
  g_free (out);
}

GST_END_TEST;

/* What a router says in the IP header comes through, over IPv4 (between sockets for it
 * alone, and for both) and IPv6. */
GST_START_TEST (test_marks_come_through)
{
  static const struct
  {
    const gchar *here, *there;
    FmxJoinAddress to;
  } rows[] = {
    {"127.0.0.1", "127.0.0.1", {{[10] = 0xff,[11] = 0xff, 127, 0, 0, 1}, 0, 0}},
    {NULL, NULL, {{[10] = 0xff,[11] = 0xff, 127, 0, 0, 1}, 0, 0}},
    {"::1", NULL, {{[15] = 1}, 0, 0}},
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstDpmSocket here = { 0 }, there = { 0 };
    FmxJoinAddress to = rows[i].to, from;
    guint8 data[100] = "RTP";

    if (!gst_dpm_socket_open (&here, rows[i].here, 0, NULL))
      continue;                 /* no IPv6 here */
    fail_unless (gst_dpm_socket_open (&there, rows[i].there, 0, NULL));
    to.port = (guint16) gst_dpm_socket_get_port (&there);
    for (guint ecn = 0; ecn < 4; ecn++) {
      if (here.is_v6 && rows[i].to.ip[10] == 0)
        g_socket_set_option (here.socket, IPPROTO_IPV6, IPV6_TCLASS, ecn, NULL);
      else
        g_socket_set_option (here.socket, IPPROTO_IP, IP_TOS, ecn, NULL);
      fail_unless (gst_dpm_socket_send (&here, data, 3, &to));
      fail_unless (gst_dpm_socket_wait (&there, PATIENCE_US, NULL));
      fail_unless_equals_int (gst_dpm_socket_receive (&there, data,
              sizeof data, &from), 3);
      fail_unless_equals_int (gst_dpm_socket_get_tos (&there), ecn);
    }
    gst_dpm_socket_close (&here);
    gst_dpm_socket_close (&there);
  }
}

GST_END_TEST;

/* Returns: whether this host can send to itself by IPv6 */
static gboolean
has_v6 (void)
{
  GstDpmSocket v6 = { 0 };
  gboolean has_v6 = gst_dpm_socket_open (&v6, "::1", 0, NULL);

  gst_dpm_socket_close (&v6);
  return has_v6;
}

/* RTP says that it is ECN-capable; RTCP and what sets up a session do not. */
GST_START_TEST (test_rtp_alone_is_ecn_capable)
{
  static const guint8 kinds[][2] = { {0x80, 96}, {0x90, 0xe0}, {0x80, 200},
  {0x81, 205}, {'d', 'p'}
  };
  static const FmxJoinAddress tos[] = {
    {{[10] = 0xff,[11] = 0xff, 127, 0, 0, 1}, 0, 0}, {{[15] = 1}, 0, 0}
  };

  for (guint i = 0; i < G_N_ELEMENTS (tos); i++) {
    GstDpmSocket here = { 0 }, there = { 0 };
    GstDpmDatagram *out = g_new0 (GstDpmDatagram, G_N_ELEMENTS (kinds));
    FmxJoinAddress to = tos[i], from;
    guint8 data[100];
    guint n = 2 * G_N_ELEMENTS (kinds);

    fail_unless (gst_dpm_socket_open (&here, NULL, 0, NULL));
    fail_unless (gst_dpm_socket_open (&there, NULL, 0, NULL));
    fail_unless (gst_dpm_socket_set_ect (&here));
    to.port = (guint16) gst_dpm_socket_get_port (&there);
    if (i > 0 && !has_v6 ())
      n = 0;
    for (guint k = 0; k < n; k++) {
      GstDpmDatagram *datagram = &out[k / 2];

      memcpy (datagram->data, kinds[k / 2], 2);
      datagram->size = 12;
      datagram->to = to;
      if (k % 2 == 0)
        fail_unless (gst_dpm_socket_send (&here, datagram->data, 12, &to));
      else
        gst_dpm_socket_send_all (&here, datagram, 1);
      fail_unless (gst_dpm_socket_wait (&there, PATIENCE_US, NULL));
      fail_unless_equals_int (gst_dpm_socket_receive (&there, data,
              sizeof data, &from), 12);
      fail_unless_equals_int (gst_dpm_socket_get_tos (&there),
          k / 2 < 2 ? 2 : 0);
    }
    gst_dpm_socket_close (&here);
    gst_dpm_socket_close (&there);
    g_free (out);
  }
}

GST_END_TEST;

/* Empty datagrams are nothing to read, however many come. */
GST_START_TEST (test_a_flood_of_nothing_has_an_end)
{
  GstDpmSocket here = { 0 }, there = { 0 };
  FmxJoinAddress to = { {[10] = 0xff,[11] = 0xff, 127, 0, 0, 1}, 0, 0 }, from;
  guint8 data[2000] = { 0 };
  guint n_calls = 0;
  gsize size;

  fail_unless (gst_dpm_socket_open (&here, "127.0.0.1", 0, NULL));
  fail_unless (gst_dpm_socket_open (&there, "127.0.0.1", 0, NULL));
  to.port = (guint16) gst_dpm_socket_get_port (&there);
  for (guint i = 0; i < 150; i++)
    fail_unless (gst_dpm_socket_send (&here, data, 0, &to));
  fail_unless (gst_dpm_socket_send (&here, data, 77, &to));
  do {
    fail_unless (gst_dpm_socket_wait (&there, PATIENCE_US, NULL));
    size = gst_dpm_socket_receive (&there, data, sizeof data, &from);
    n_calls++;
  } while (size == 0 && n_calls < 10);
  fail_unless_equals_int (size, 77);
  fail_unless (n_calls > 1);
  gst_dpm_socket_close (&here);
  gst_dpm_socket_close (&there);
}

GST_END_TEST;

/* As linux/ipv6.h has it, which does not go with netinet/in.h */
typedef struct
{
  struct in6_addr address;
  guint32 prefix_bits;
  gint index;
} InterfaceAddress;

/* From now on we are alone in a network with `lo`, which has fe80::1.
 * Returns: whether this system lets us */
static gboolean
enter_network (void)
{
  InterfaceAddress own = { {{{0xfe, 0x80,[15] = 1}}}, 64, 0 };
  struct ifreq interface = {.ifr_name = "lo",.ifr_flags = IFF_UP };
  gint fd;
  gboolean good;

  if (unshare (CLONE_NEWNET) != 0
      && unshare (CLONE_NEWUSER | CLONE_NEWNET) != 0)
    return FALSE;
  own.index = (gint) if_nametoindex ("lo");
  fd = socket (AF_INET6, SOCK_DGRAM, 0);
  good = ioctl (fd, SIOCSIFFLAGS, &interface) == 0
      && ioctl (fd, SIOCSIFADDR, &own) == 0;
  close (fd);
  return good;
}

/* As soon as the system has looked whether somebody else has the address */
static void
open_in_time (GstDpmSocket * socket, const gchar * address)
{
  gint64 end_us = g_get_monotonic_time () + PATIENCE_US;

  while (!gst_dpm_socket_open (socket, address, 0, NULL)) {
    fail_if (g_get_monotonic_time () > end_us, "%s cannot be opened", address);
    g_usleep (1000);
  }
}

/* The same link-local address may be there on each link [RFC4007]. */
GST_START_TEST (test_a_link_local_address_keeps_its_link)
{
  GstDpmSocket here = { 0 }, there = { 0 };
  FmxJoinAddress to = { {0xfe, 0x80,[15] = 1}, 0, 0 }, from;
  GstDpmDatagram *out = g_new0 (GstDpmDatagram, 1);
  guint8 data[2000] = { 0 };

  if (enter_network ()) {
    open_in_time (&here, "fe80::1%lo");
    fail_unless (gst_dpm_socket_open (&there, NULL, 0, NULL));
    to.port = (guint16) gst_dpm_socket_get_port (&there);
    to.zone = if_nametoindex ("lo");
    fail_unless (gst_dpm_socket_send (&here, data, 10, &to));
    fail_unless (gst_dpm_socket_wait (&there, PATIENCE_US, NULL));
    fail_unless_equals_int (gst_dpm_socket_receive (&there, data, sizeof data,
            &from), 10);
    fail_unless_equals_int (from.zone, to.zone);
    out->size = 20;             /* back to where it came from */
    out->to = from;
    gst_dpm_socket_send_all (&there, out, 1);
    fail_unless (out->sent);
    fail_unless (gst_dpm_socket_wait (&here, PATIENCE_US, NULL));
    fail_unless_equals_int (gst_dpm_socket_receive (&here, data, sizeof data,
            &from), 20);
    fail_unless (fmx_join_address_same (&from, &to));
    from.zone++;                /* there is no other link */
    fail_if (gst_dpm_socket_send (&there, data, 10, &from));
    gst_dpm_socket_close (&here);
    gst_dpm_socket_close (&there);
  }
  g_free (out);
}

GST_END_TEST;

static void
assert_refused (const gchar * address, const gchar * why)
{
  GstDpmSocket here = { 0 };
  GError *error = NULL;

  fail_if (gst_dpm_socket_open (&here, address, 0, &error));
  fail_unless (strstr (error->message, why) != NULL, "%s", error->message);
  g_error_free (error);
}

GST_START_TEST (test_what_cannot_be_opened_is_said)
{
  assert_refused ("fe80::1", "on which link, as in fe80::1%eth0");
  assert_refused ("fe80::1%no-such-link", "no IP address");
  assert_refused ("somewhere", "no IP address");
}

GST_END_TEST;

static Suite *
dpmsocket_suite (void)
{
  Suite *s = suite_create ("dpmsocket");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_many_are_sent_at_once);
  tcase_add_test (tc, test_marks_come_through);
  tcase_add_test (tc, test_rtp_alone_is_ecn_capable);
  tcase_add_test (tc, test_a_flood_of_nothing_has_an_end);
  tcase_add_test (tc, test_a_link_local_address_keeps_its_link);
  tcase_add_test (tc, test_what_cannot_be_opened_is_said);
  return s;
}

GST_CHECK_MAIN (dpmsocket);
