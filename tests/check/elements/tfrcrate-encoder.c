/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The encoder that tfrcrate drives. */

#include "tfrcratecheck.h"

/* Something with a bitrate, of a narrow range, and protection like opusenc's. */
typedef struct
{
  GstElement parent;
  gint bitrate;
  gboolean fec;
  gint loss;
} FakeEncoder;
typedef GstElementClass FakeEncoderClass;
static GType fake_encoder_get_type (void);
G_DEFINE_TYPE (FakeEncoder, fake_encoder, GST_TYPE_ELEMENT);

static void
fake_encoder_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  FakeEncoder *encoder = (FakeEncoder *) object;

  if (id == 1)
    encoder->bitrate = g_value_get_int (value);
  else if (id == 2)
    encoder->fec = g_value_get_boolean (value);
  else
    encoder->loss = g_value_get_int (value);
}

static void
fake_encoder_init (FakeEncoder * encoder)
{
}

static void
fake_encoder_class_init (FakeEncoderClass * klass)
{
  G_OBJECT_CLASS (klass)->set_property = fake_encoder_set_property;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
      g_param_spec_int ("bitrate", "Bitrate", "in bits/s", 6000, 50000, 6000,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (G_OBJECT_CLASS (klass), 2,
      g_param_spec_boolean ("inband-fec", "FEC", "for what is lost", FALSE,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (G_OBJECT_CLASS (klass), 3,
      g_param_spec_int ("packet-loss-percentage", "Loss", "in %", 0, 100, 0,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
}

/* The same, but its bitrate is settled before it plays, and whether it protects for good. */
typedef FakeEncoder FixedEncoder;
typedef GstElementClass FixedEncoderClass;
static GType fixed_encoder_get_type (void);
G_DEFINE_TYPE (FixedEncoder, fixed_encoder, fake_encoder_get_type ());

static void
fixed_encoder_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  g_value_set_boolean (value, ((FakeEncoder *) object)->fec);
}

static void
fixed_encoder_init (FixedEncoder * encoder)
{
}

static void
fixed_encoder_class_init (FixedEncoderClass * klass)
{
  G_OBJECT_CLASS (klass)->set_property = fake_encoder_set_property;
  G_OBJECT_CLASS (klass)->get_property = fixed_encoder_get_property;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
      g_param_spec_int ("bitrate", "Bitrate", "in bits/s", 6000, 50000, 6000,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (G_OBJECT_CLASS (klass), 2,
      g_param_spec_boolean ("inband-fec", "FEC", "for what is lost", FALSE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* Something that only says what its bitrate is. */
typedef GstElement Meter;
typedef GstElementClass MeterClass;
static GType meter_get_type (void);
G_DEFINE_TYPE (Meter, meter, GST_TYPE_ELEMENT);

static void
meter_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  g_value_set_uint (value, 7000);
}

static void
meter_init (Meter * meter)
{
}

static void
meter_class_init (MeterClass * klass)
{
  G_OBJECT_CLASS (klass)->get_property = meter_get_property;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
      g_param_spec_uint ("bitrate", "Bitrate", "in bits/s", 0, G_MAXUINT, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* Sets up a tfrcrate in a bin, with @encoder in it and @other beside it, or
 * with @encoder beside it. */
static GstElement *
setup_pipeline (Fixture * f, GstElement * encoder, GstElement * other)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *bin = gst_bin_new (NULL);

  setup_element (f);
  gst_bin_add (GST_BIN (bin), f->element);
  if (other != NULL)
    gst_bin_add (GST_BIN (pipeline), other);
  gst_bin_add (GST_BIN (other != NULL ? bin : pipeline), encoder);
  gst_bin_add (GST_BIN (pipeline), bin);
  setup_harness (f);
  return pipeline;
}

/* Sets up a tfrcrate that drives @encoder, of that name, beside the bin that it is in, and
 * a receiver behind it. */
static GstElement *
setup_path (Path * path, FakeEncoder * encoder)
{
  GstElement *pipeline = setup_pipeline (&path->f, GST_ELEMENT (encoder), NULL);

  path_setup_receiver (path, 1);
  g_object_set (path->f.element, "encoder", GST_OBJECT_NAME (encoder),
      "encoder-fec", TRUE, NULL);
  return pipeline;
}

static void
free_pipeline (Fixture * f, GstElement * pipeline)
{
  GstObject *bin = gst_object_get_parent (GST_OBJECT (f->element));

  gst_bin_remove (GST_BIN (bin), f->element);
  gst_object_unref (bin);
  gst_object_unref (pipeline);
}

static void
teardown_pipeline (Fixture * f, GstElement * pipeline)
{
  free_pipeline (f, pipeline);
  teardown (f);
}

static void
teardown_path (Path * path, GstElement * pipeline)
{
  free_pipeline (&path->f, pipeline);
  path_teardown (path);
}

GST_START_TEST (test_the_encoder_gets_the_target_less_the_headers)
{
  FakeEncoder *encoder = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  Fixture f;

  pipeline = setup_pipeline (&f, GST_ELEMENT (encoder), NULL);
  g_object_set (f.element, "encoder", "enc", "max-bitrate", 60000, NULL);
  /* 40 bytes of headers every 20 ms are 16 kbit/s */
  fail_unless_equals_int (encoder->bitrate, 44000);
  g_object_set (f.element, "max-bitrate", 40000, NULL);
  fail_unless_equals_int (encoder->bitrate, 24000);
  /* packets of 10 ms: twice the headers */
  for (guint i = 0; i < 100; i++) {
    fail_unless_equals_int (push (&f, SSRC, i), GST_FLOW_OK);
    advance (&f, 10 * GST_MSECOND);
  }
  fail_unless (ABS (encoder->bitrate - 8000) < 3000, "%d", encoder->bitrate);
  /* clamped to the range of the property */
  g_object_set (f.element, "max-bitrate", 20001, NULL);
  fail_unless_equals_int (encoder->bitrate, 6000);
  fail_unless_equals_int (pop_warnings (&f, NULL), 0);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

GST_START_TEST (test_of_two_encoders_of_one_name_the_nearer_one_is_driven)
{
  FakeEncoder *near = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  FakeEncoder *far = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  Fixture f;

  pipeline = setup_pipeline (&f, GST_ELEMENT (near), GST_ELEMENT (far));
  g_object_set (f.element, "encoder", "enc", "max-bitrate", 60000, NULL);
  fail_unless_equals_int (near->bitrate, 44000);
  fail_unless_equals_int (far->bitrate, 0);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

GST_START_TEST (test_an_encoder_that_is_not_there_is_warned_of_once)
{
  GstElement *not_an_encoder = gst_bin_new ("box");
  GstElement *pipeline;
  gchar *text = NULL;
  Fixture f;

  pipeline = setup_pipeline (&f, not_an_encoder, NULL);
  g_object_set (f.element, "encoder", "typo", "max-bitrate", 60000, NULL);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "\"typo\"") != NULL);
  g_object_set (f.element, "encoder", "box", NULL);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "bitrate") != NULL);
  g_free (text);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

GST_START_TEST (test_a_bitrate_that_cannot_be_set_is_warned_of_once)
{
  GstElement *meter = g_object_new (meter_get_type (), "name", "meter", NULL);
  GstElement *pipeline;
  gchar *text = NULL;
  Fixture f;

  pipeline = setup_pipeline (&f, meter, NULL);
  g_object_set (f.element, "encoder", "meter", "max-bitrate", 60000, NULL);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "\"meter\"") != NULL);
  g_free (text);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

/* Returns: for how much loss who sends through it is to provide, as the last target
 * event says; 100 if there was none */
static guint
told_loss (Fixture * f, guint * from_bitrate)
{
  guint loss = 100, bitrate;
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (f->rtp)) != NULL) {
    if (gst_fairmix_target_bitrate_event_parse (event, &bitrate))
      loss = gst_fairmix_target_bitrate_event_get_loss (event, from_bitrate);
    gst_event_unref (event);
  }
  return loss;
}

/* One in 20 */
static gboolean
drop_five_percent (Path * path, GstBuffer * packet)
{
  return path->n_packets % 20 == 0;
}

static gboolean
drop_one_and_a_half_percent (Path * path, GstBuffer * packet)
{
  return path->n_packets % 67 == 0;
}

GST_START_TEST (test_an_encoder_provides_for_the_loss_that_receivers_report)
{
  FakeEncoder *encoder = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  Path path = { 0 };
  guint most;

  pipeline = setup_path (&path, encoder);
  path_run (&path, 5 * GST_SECOND);
  fail_if (encoder->fec);
  g_object_get (path.f.element, "max-bitrate", &most, NULL);
  /* less loss than is worth it for what is left of its bitrate */
  g_object_set (path.f.element, "max-bitrate", 45000, NULL);
  path.drops = drop_one_and_a_half_percent;
  path_run (&path, 40 * GST_SECOND);
  fail_unless (encoder->bitrate > 20000 && encoder->bitrate < 32000, "%d",
      encoder->bitrate);
  fail_if (encoder->fec);
  path.drops = drop_five_percent;
  path_run (&path, 30 * GST_SECOND);
  fail_unless (encoder->fec);
  /* libopus adds FEC above 5 % only */
  fail_unless_equals_int (encoder->loss, 6);
  /* and only where it has room for that */
  g_object_set (path.f.element, "max-bitrate", 30000, NULL);
  fail_unless (encoder->bitrate > 10000 && encoder->bitrate < 20000, "%d",
      encoder->bitrate);
  fail_if (encoder->fec);
  g_object_set (path.f.element, "max-bitrate", most, NULL);
  path_run (&path, 10 * GST_SECOND);
  fail_unless (encoder->bitrate > 20000, "%d", encoder->bitrate);
  fail_unless (encoder->fec);
  path.drops = drop_nothing;
  path_run (&path, 40 * GST_SECOND);
  fail_if (encoder->fec);
  fail_unless_equals_int (encoder->loss, 0);
  /* it costs bitrate: nobody has it who did not ask */
  g_object_set (path.f.element, "encoder-fec", FALSE, NULL);
  path.drops = drop_five_percent;
  path_run (&path, 30 * GST_SECOND);
  fail_if (encoder->fec);
  teardown_path (&path, pipeline);
}

GST_END_TEST;

static FakeEncoder *
fake_encoder_new (const gchar * name)
{
  return gst_object_ref_sink (g_object_new (fake_encoder_get_type (), "name",
          name, NULL));
}

/* What can only be read is not set, nor what belongs to it. */
GST_START_TEST (test_protection_that_is_fixed_is_left_alone)
{
  FakeEncoder *encoder = g_object_new (fixed_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  Path path = { 0 };

  pipeline = setup_path (&path, encoder);
  path.drops = drop_five_percent;
  path_run (&path, 30 * GST_SECOND);
  fail_unless (told_loss (&path.f, &(guint) {
          0}
      ) > 0);
  fail_unless (encoder->bitrate > 0);
  fail_if (encoder->fec);
  fail_unless_equals_int (encoder->loss, 0);
  teardown_path (&path, pipeline);
}

GST_END_TEST;

GST_START_TEST (test_a_bitrate_that_is_settled_before_it_plays_stays)
{
  FakeEncoder *encoder = g_object_new (fixed_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  gchar *text = NULL;
  Fixture f;

  pipeline = setup_pipeline (&f, GST_ELEMENT (encoder), NULL);
  g_object_set (f.element, "encoder", "enc", "max-bitrate", 60000, NULL);
  fail_unless_equals_int (encoder->bitrate, 44000);
  fail_unless_equals_int (pop_warnings (&f, NULL), 0);
  gst_element_set_state (GST_ELEMENT (encoder), GST_STATE_PLAYING);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  g_object_set (f.element, "max-bitrate", 40000, NULL);
  fail_unless_equals_int (encoder->bitrate, 44000);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "\"enc\"") != NULL);
  g_free (text);
  gst_element_set_state (GST_ELEMENT (encoder), GST_STATE_NULL);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

/* One of the same name takes the place of the first, which somebody still holds, or
 * that of another name is to be driven. */
GST_START_TEST (test_the_next_encoder_is_driven_as_the_one_before)
{
  FakeEncoder *before = fake_encoder_new ("enc");
  FakeEncoder *encoder = fake_encoder_new (__i__ == 0 ? "enc" : "other");
  GstElement *pipeline;
  Path path = { 0 };
  gint bitrate;

  pipeline = setup_path (&path, before);
  path.drops = drop_five_percent;
  path_run (&path, 30 * GST_SECOND);
  fail_unless (before->fec);
  bitrate = before->bitrate;

  if (__i__ == 0)
    gst_bin_remove (GST_BIN (pipeline), GST_ELEMENT (before));
  gst_bin_add (GST_BIN (pipeline), GST_ELEMENT (encoder));
  if (__i__ == 1)
    g_object_set (path.f.element, "encoder", "other", NULL);
  g_object_set (path.f.element, "max-bitrate", 45000, NULL);
  fail_unless (encoder->bitrate > 20000 && encoder->bitrate < 32000, "%d",
      encoder->bitrate);
  fail_unless (encoder->fec);
  fail_unless_equals_int (encoder->loss, 6);
  fail_unless_equals_int (before->bitrate, bitrate);
  teardown_path (&path, pipeline);
  gst_object_unref (before);
  gst_object_unref (encoder);
}

GST_END_TEST;

/* Who mixes has an encoder of its own, of a bitrate of its own. */
GST_START_TEST (test_whoever_sends_is_told_of_the_loss)
{
  Path path;
  guint from;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (told_loss (&path.f, &from), 0);
  path.drops = drop_one_and_a_half_percent;
  path_run (&path, 40 * GST_SECOND);
  fail_unless_equals_int (told_loss (&path.f, &from), 6);
  fail_unless_equals_int (from, 32000);
  path.drops = drop_five_percent;
  path_run (&path, 30 * GST_SECOND);
  fail_unless_equals_int (told_loss (&path.f, &from), 6);
  fail_unless_equals_int (from, 20000);
  path.drops = drop_nothing;
  path_run (&path, 40 * GST_SECOND);
  fail_unless_equals_int (told_loss (&path.f, &from), 0);
  path.drops = drop_five_percent;
  path_run (&path, 30 * GST_SECOND);
  fail_unless_equals_int (told_loss (&path.f, &from), 6);
  /* what the next path loses is not known yet */
  g_signal_emit_by_name (path.f.element, "change-path");
  fail_unless_equals_int (told_loss (&path.f, &from), 0);
  path_teardown (&path);
}

GST_END_TEST;

static Suite *
tfrcrate_encoder_suite (void)
{
  Suite *suite = suite_create ("tfrcrate-encoder");
  TCase *tc;

  tc = tcase_create ("encoder");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_the_encoder_gets_the_target_less_the_headers);
  tcase_add_test (tc,
      test_of_two_encoders_of_one_name_the_nearer_one_is_driven);
  tcase_add_test (tc, test_an_encoder_that_is_not_there_is_warned_of_once);
  tcase_add_test (tc, test_a_bitrate_that_cannot_be_set_is_warned_of_once);
  tcase_add_test (tc,
      test_an_encoder_provides_for_the_loss_that_receivers_report);
  tcase_add_test (tc, test_protection_that_is_fixed_is_left_alone);
  tcase_add_test (tc, test_a_bitrate_that_is_settled_before_it_plays_stays);
  tcase_add_loop_test (tc, test_the_next_encoder_is_driven_as_the_one_before, 0,
      2);
  tcase_add_test (tc, test_whoever_sends_is_told_of_the_loss);
  return suite;
}

GST_CHECK_MAIN (tfrcrate_encoder);
