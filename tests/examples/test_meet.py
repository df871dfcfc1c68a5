#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a meeting says of itself is so, and files of it may be called anything."""
import pathlib
import subprocess
import sys
import tempfile
import types

import gi
gi.require_version('Gst', '1.0')
from gi.repository import Gst   # noqa: E402  after the version

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'examples/python')]
import meet                     # noqa: E402  after the path
import voices                   # noqa: E402

SECONDS = 14


def two_people(folder, heard):
    """Each has recorded what the other one said, if @heard, or else its beginning."""
    people = []
    for n in (0, 1):
        path, recording = folder / f'{n}-one{n}.wav', folder / f'heard{n}.wav'
        voices.write(path, voices.talk(n, SECONDS))
        voices.write(recording, voices.talk(1 - n, SECONDS if heard else 0.1))
        people.append(types.SimpleNamespace(
            name=f'one{n}', title=f'one{n}', voice=path, recording=recording, link=[],
            begin=0.0, end=float(SECONDS)))
    return people


def test_who_heard_each_other_did(folder):
    assert meet.judge(two_people(folder, True))[1]


def test_of_whom_nothing_was_recorded_did_not_hear_all(folder):
    assert not meet.judge(two_people(folder, False))[1]


def test_a_program_that_wrote_no_file_is_no_meeting(folder):
    people = two_people(folder, True)
    people[0].recording.unlink()
    assert not meet.judge(people)[1]
    meet.tell_sounds(people)


def test_too_short_a_meeting_says_nothing(folder):
    people = two_people(folder, True)
    for person in people:
        person.end = 3.0
    assert not meet.judge(people)[1]


def test_files_and_people_may_be_called_anything(folder):
    said = []
    real, meet.subprocess.Popen = subprocess.Popen, lambda words, **_: said.append(words)
    try:
        for name in ('a b', 'a"b\\', "a' ! b"):
            said.clear()
            options = types.SimpleNamespace(out=folder / name, secret=name, log=None,
                                            running=[])
            meet.Person(folder / f'{name}.wav', 5004, options)
            texts = [Gst.parse_launchv(['filesrc', word.replace(key, 'location=')])
                     .get_property('location') for word in said[0]
                     for key in ('location=', 'display-name=', 'secret=')
                     if word.startswith(key)]
            assert sorted(texts) == sorted([name, name, f'{folder / name}.wav',
                                            f'{folder / name / name}.wav']), texts
    finally:
        meet.subprocess.Popen = real


def main():
    Gst.init(None)
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            with tempfile.TemporaryDirectory() as folder:
                test(pathlib.Path(folder))
            print(f'ok: {name[5:].replace("_", " ")}')


if __name__ == '__main__':
    main()
