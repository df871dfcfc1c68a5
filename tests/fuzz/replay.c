/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a fuzz target without a fuzzer: over every file of its corpus, and over
 * seeded random mutations of them.
 *
 *   replay-NAME [--seed N] [--mutations N] FILE-OR-FOLDER...
 *
 * What crashes it is kept in crash-NAME-SEED, to be given as FILE.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fairmix/base/fmx-rng.h"

#define MAX_SIZE 4096u
#define MAX_FILES 1024u
#define MAX_EDITS 8u

int LLVMFuzzerTestOneInput (const uint8_t * data, size_t size);

typedef struct
{
  uint8_t *data;
  size_t size;
} Input;

static Input corpus[MAX_FILES];
static size_t n_corpus;
static uint8_t current[MAX_SIZE];
static size_t current_size;
static char crash_path[256];

static void
on_crash (int signal_number)
{
  int fd = open (crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const char *message = fd >= 0
      && write (fd, current, current_size) == (ssize_t) current_size ?
      "\nThe input is in " : "\nThe input could not be written to ";

  if (write (STDERR_FILENO, message, strlen (message)) < 0
      || write (STDERR_FILENO, crash_path, strlen (crash_path)) < 0
      || write (STDERR_FILENO, "\n", 1) < 0)
    _exit (1);
  signal (signal_number, SIG_DFL);
  raise (signal_number);
}

static void
run_current (void)
{
  /* In memory of its own size, so that a sanitizer sees an overrun. */
  uint8_t *copy = malloc (current_size > 0 ? current_size : 1);

  if (copy == NULL)
    exit (1);
  memcpy (copy, current, current_size);
  LLVMFuzzerTestOneInput (copy, current_size);
  free (copy);
}

static void
load_file (const char *path)
{
  FILE *file = fopen (path, "rb");
  Input *input = &corpus[n_corpus];

  if (file == NULL) {
    fprintf (stderr, "%s: %s\n", path, strerror (errno));
    exit (1);
  }
  if (n_corpus == MAX_FILES) {
    fprintf (stderr, "%s: more than %u inputs\n", path, MAX_FILES);
    exit (1);
  }
  input->data = malloc (MAX_SIZE);
  if (input->data == NULL)
    exit (1);
  input->size = fread (input->data, 1, MAX_SIZE, file);
  fclose (file);
  n_corpus++;
}

/* In the order of their names: the same run everywhere. */
static void
load (const char *path)
{
  struct stat status;
  struct dirent **entries;
  int n;

  if (stat (path, &status) == 0 && !S_ISDIR (status.st_mode)) {
    load_file (path);
    return;
  }
  n = scandir (path, &entries, NULL, alphasort);
  if (n < 0) {
    fprintf (stderr, "%s: %s\n", path, strerror (errno));
    exit (1);
  }
  for (int i = 0; i < n; i++) {
    char name[4096];

    if (entries[i]->d_name[0] != '.') {
      snprintf (name, sizeof name, "%s/%s", path, entries[i]->d_name);
      load_file (name);
    }
    free (entries[i]);
  }
  free (entries);
}

static size_t
below (FmxRng * rng, size_t n)
{
  return n > 0 ? fmx_rng_next (rng) % n : 0;
}

/* One small change: a bit, a byte, an interesting byte, bytes in, bytes out,
 * another input's tail. */
static void
edit (FmxRng * rng)
{
  static const uint8_t interesting[] = { 0, 1, 0x7f, 0x80, 0xff };
  size_t at = below (rng, current_size);
  size_t n = 1 + below (rng, 16);
  const Input *other = &corpus[below (rng, n_corpus)];

  switch (fmx_rng_next (rng) % 6) {
    case 0:
      if (current_size > 0)
        current[at] ^= (uint8_t) (1u << below (rng, 8));
      break;
    case 1:
      if (current_size > 0)
        current[at] = (uint8_t) (fmx_rng_next (rng) >> 24);
      break;
    case 2:
      if (current_size > 0)
        current[at] = interesting[below (rng, sizeof interesting)];
      break;
    case 3:
      n = n < MAX_SIZE - current_size ? n : MAX_SIZE - current_size;
      memmove (current + at + n, current + at, current_size - at);
      for (size_t i = 0; i < n; i++)
        current[at + i] = (uint8_t) (fmx_rng_next (rng) >> 24);
      current_size += n;
      break;
    case 4:
      n = n < current_size - at ? n : current_size - at;
      memmove (current + at, current + at + n, current_size - at - n);
      current_size -= n;
      break;
    default:
      if (other->size > at) {
        memcpy (current + at, other->data + at, other->size - at);
        current_size = other->size;
      }
      break;
  }
}

static void
mutate (FmxRng * rng)
{
  const Input *input = &corpus[below (rng, n_corpus)];
  size_t n_edits = 1 + below (rng, MAX_EDITS);

  memcpy (current, input->data, input->size);
  current_size = input->size;
  for (size_t i = 0; i < n_edits; i++)
    edit (rng);
}

int
main (int argc, char **argv)
{
  unsigned long seed = 1, n_mutations = 20000;
  const char *name = strrchr (argv[0], '/');
  FmxRng rng;

  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--seed") == 0 && i + 1 < argc)
      seed = strtoul (argv[++i], NULL, 10);
    else if (strcmp (argv[i], "--mutations") == 0 && i + 1 < argc)
      n_mutations = strtoul (argv[++i], NULL, 10);
    else
      load (argv[i]);
  }
  if (n_corpus == 0) {
    fprintf (stderr, "no corpus: nothing would be tested\n");
    return 1;
  }
  snprintf (crash_path, sizeof crash_path, "crash-%s-%lu",
      name != NULL ? name + 1 : argv[0], seed);
  signal (SIGABRT, on_crash);
  signal (SIGSEGV, on_crash);
  signal (SIGFPE, on_crash);

  current_size = 0;
  run_current ();
  for (size_t i = 0; i < n_corpus; i++) {
    memcpy (current, corpus[i].data, corpus[i].size);
    current_size = corpus[i].size;
    run_current ();
  }
  fmx_rng_init (&rng, seed);
  for (unsigned long i = 0; i < n_mutations; i++) {
    mutate (&rng);
    run_current ();
  }
  for (size_t i = 0; i < n_corpus; i++)
    free (corpus[i].data);
  printf ("%zu inputs, %lu mutations (seed %lu)\n", n_corpus, n_mutations,
      seed);
  return 0;
}
