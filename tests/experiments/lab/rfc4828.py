# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of docs/results.md about RFC 4828's tables (../rfc4828.py)."""
import csv

TITLE = 'RFC 4828, tables 8 and 9'
WITHIN = 0.15
COMMANDS = ['```sh', 'tests/experiments/rfc4828.py',
            'tests/experiments/write_results.py rfc4828', '```', '']


def rows(root):
    """What rfc4828.py left, as numbers; [] if it was not run here."""
    path = root / 'rfc4828.csv'
    if not path.exists():
        return []
    with open(path, encoding='ascii', newline='') as f:
        return [{k: float(v) if v else None for k, v in row.items()}
                for row in csv.DictReader(f)]


def line(row):
    off = row['ours_kbps'] / row['rfc4828_kbps'] - 1
    return (f'| {row["payload_bytes"]:.0f} B | {100 * row["drop"]:g} % | '
            f'{row["rfc4828_kbps"]:.1f} | {row["ours_kbps"]:.1f} | '
            f'{row["ns2_kbps"]:.1f} | {100 * off:+.1f} % | '
            f'{"met" if abs(off) <= WITHIN else "not met"} |')


def page(found, figure):
    """The section; found: of rows(), figure: the name of its SVG."""
    worst = max(found, key=lambda r: abs(r['ours_kbps'] / r['rfc4828_kbps'] - 1))
    return [
        f'### {TITLE}', '',
        'What TFRC-SP sends on a path of 240 ms that loses packets at random, '
        'in kbit/s on the wire: what the RFC\'s appendix B.1 has, the '
        'controller tfrc, and ns-2.35, where the tables come from. The target '
        f'is {100 * WITHIN:.0f} % around the table.', '',
        '| payload | lost | RFC 4828 | ours | ns-2 | ours, off by | verdict |',
        '|---|---|---|---|---|---|---|', *map(line, found), '',
        f'At {100 * worst["drop"]:g} % and {worst["payload_bytes"]:.0f} bytes '
        'we are furthest off, and ns-2 is on the other side of the table. Two '
        'of its rules are neither in RFC 4828 nor in RFC 5348: it counts short '
        'loss intervals in whole packets (N/K is '
        f'{worst["ns2_interval"]:.2f} in the mean there, and it takes '
        f'{worst["ns2_whole_interval"]:.2f}), and it lets the rate rise by '
        'one packet per round-trip time, which is least where packets are '
        'small.', '',
        f'![RFC 4828, tables 8 and 9](results/{figure}.svg)', '',
        '*RFC 4828, tables 8 and 9 (shaded: the target).*', '', *COMMANDS]
