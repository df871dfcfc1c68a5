#!/usr/bin/python3
"""What a party says of itself is so: its remarks, its picture, its voices."""
import csv
import pathlib
import sys
import tempfile
import types
import wave

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'examples/python')]
import link                     # noqa: E402  after the path
import party                    # noqa: E402  after the path
import timeline                 # noqa: E402


def rows(used=1.0, mixed=0, busy=0, seconds=10, sent=None):
    """So much of a link of 400, then of 200 kbit/s."""
    return [dict.fromkeys(party.FIELDS, 0) | {
        'time_s': 0.25 * (n + 1), 'link_kbps': link, 'used_kbps': used * link,
        'sent_kbps': (sent or used) * link,
        'target_kbps': link, 'separate': 3, 'mixed': mixed, 'busy': busy,
        'packets': 20}
        for n in range(4 * seconds)
        for link in [400 if n < 2 * seconds else 200]]


def test_a_good_run_needs_no_remark():
    assert not list(timeline.remarks(rows(0.9, mixed=5)))


def test_half_of_the_link_is_enough_where_nobody_is_mixed():
    assert not list(timeline.remarks(rows(0.3, mixed=0)))


def test_each_stage_that_leaves_half_of_the_link_is_named():
    said = list(timeline.remarks(rows(0.3, mixed=5)))
    assert said == [
        f'From {a} s to {b} s only 30 % of the link was used, although voices '
        'were mixed.' for a, b in ((0, 5), (5, 10))], said


def test_what_is_sent_and_lost_is_no_use_of_the_link():
    assert len(list(timeline.remarks(rows(0.3, mixed=5, sent=1.5)))) == 2


def test_only_a_length_that_can_be_played_is_taken():
    for text in ('9', '0', '-5', 'nan', 'inf', '1e12', 'x'):
        try:
            party.seconds(text)
        except (ValueError, party.argparse.ArgumentTypeError):
            continue
        raise AssertionError(text)
    assert party.seconds('10') == 10 and party.seconds('600') == 600


def test_a_machine_is_too_busy_that_makes_half_a_queue():
    for kbps, stalled_s, late_s, full, busy in (
            (550, 0.02, 0.02, False, False), (550, 0.03, 0, False, True),
            (550, 0, 0.03, False, True), (120, 0.09, 0.09, False, False),
            (120, 0.11, 0, False, True), (550, 0, 0, True, True)):
        run = types.SimpleNamespace(
            way=link.Way(0, kbps * 1000, party.QUEUE_BYTES),
            link=types.SimpleNamespace(recent_late_s=late_s),
            stalls=types.SimpleNamespace(take=lambda s=stalled_s, f=full: (s, f)))
        assert party.Party.too_busy(run) == busy, (kbps, stalled_s, late_s, full)
        assert run.link.recent_late_s == 0


def test_a_busy_machine_is_named_first():
    table = rows(0.3, mixed=5)
    for row in table[8:16]:
        row['busy'] = 1
    said = list(timeline.remarks(table))
    assert said[0].startswith('This machine was too busy for 2 of 10 s'), said
    assert len(said) == 3


def test_the_picture_shades_the_seconds_that_the_machine_spoilt(folder):
    import cairo
    sizes, reds = [], []
    for busy in (0, 1):
        table = rows(0.9, mixed=5)
        for row in table[20:]:
            row['busy'] = busy
        with open(folder / 'party.csv', 'w', newline='', encoding='utf-8') as file:
            writer = csv.DictWriter(file, party.FIELDS)
            writer.writeheader()
            writer.writerows(table)
        timeline.draw(folder / 'party.csv', folder / 'party.png')
        picture = cairo.ImageSurface.create_from_png(str(folder / 'party.png'))
        data = bytes(picture.get_data())
        pixels = zip(data[::4], data[1::4], data[2::4])         # B, G, R
        reds.append(sum(r > g + 20 and r > b + 20 and r > 200
                        for b, g, r in pixels))
        sizes.append(picture.get_height())
    assert sizes[1] > sizes[0], sizes           # a sentence more
    assert reds[1] > reds[0] + 20_000, reds     # half of the panels


def test_a_voice_begins_again_until_the_party_ends(folder):
    path = folder / 'voice.wav'
    with wave.open(str(path), 'w') as file:
        file.setparams((1, 2, 8000, 0, 'NONE', None))
        file.writeframes(bytes(range(256)) * 125)               # 2 s
    assert party.lasting(path, 1.5, folder) == path
    other = folder / 'longer'
    other.mkdir()
    with wave.open(str(party.lasting(path, 5.5, other))) as file:
        assert file.getnframes() == 44_000
        frames = file.readframes(44_000)
    assert frames[:32_000] == frames[32_000:64_000] == bytes(range(256)) * 125


def main():
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            if 'folder' in test.__code__.co_varnames[:test.__code__.co_argcount]:
                with tempfile.TemporaryDirectory() as folder:
                    test(pathlib.Path(folder))
            else:
                test()
            print(f'ok: {name[5:].replace("_", " ")}')


if __name__ == '__main__':
    main()
