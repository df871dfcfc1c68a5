# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a run's tables are, and how to read them."""
import csv
import dataclasses
import json
import pathlib

from lab import listen, scenario

COLUMNS = {
    'flows.csv': ['t_s', 'flow', 'sent_bps', 'received_bps', 'sent_packets',
                  'received_packets', 'lost_packets', 'delay_ms', 'ssrcs'],
    'links.csv': ['t_s', 'link', 'passed_bps', 'queue_ms', 'queue_max_ms'],
    # what a bundle's sender believes, whenever it changes its mind and at
    # least once per second
    'senders.csv': ['t_s', 'flow', 'event', 'target_bps', 'rtt_ms',
                    'loss_event_rate', 'loss_fraction', 'sent_bps',
                    'separate', 'mixes'],
    # what was heard, for each second (tones) or piece of speech
    'listener.csv': listen.COLUMNS,
}


def folder_of(root, run, runner, short):
    """Where a run's files go."""
    return (pathlib.Path(root) / ('short' if short else 'full') / runner
            / run.name.replace('=', '-'))


class Table:
    """One CSV, by column, for one flow or link: t_s ascending."""

    def __init__(self):
        self.columns = {}

    def add(self, row):
        for key, value in row.items():
            self.columns.setdefault(key, []).append(value)

    def __getitem__(self, key):
        return self.columns.get(key, [])

    def __len__(self):
        return len(self.columns.get('t_s', []))


def _number(text):
    if text in ('', None):
        return None
    try:
        return float(text)
    except ValueError:
        return text


def read_csv(path, key):
    """{flow or link: Table}; an absent file is empty."""
    tables = {}
    if not path.exists():
        return tables
    with open(path, encoding='ascii', newline='') as f:
        reader = csv.DictReader(f)
        wanted = COLUMNS[path.name]
        if reader.fieldnames != wanted:
            raise ValueError(f'{path}: columns {reader.fieldnames}, '
                             f'not {wanted}')
        for row in reader:
            name = row.pop(key)
            if None in row.values() or not name:
                continue        # a line cut off
            tables.setdefault(name, Table()).add(
                {k: _number(v) for k, v in row.items()})
    return tables


@dataclasses.dataclass
class Result:
    """A run that was made."""
    run: scenario.Run
    runner: str
    folder: pathlib.Path
    manifest: dict
    _cache: dict = dataclasses.field(default_factory=dict)

    def _read(self, name, key):
        if name not in self._cache:
            self._cache[name] = read_csv(self.folder / name, key)
        return self._cache[name]

    @property
    def flows(self):
        return self._read('flows.csv', 'flow')

    @property
    def links(self):
        return self._read('links.csv', 'link')

    @property
    def listener(self):
        return self._read('listener.csv', 'flow')

    @property
    def senders(self):
        return self._read('senders.csv', 'flow')


def load(root, scenarios, short=False, runners=('uml', 'kernel', 'ns3', 'ns2', 'netns')):
    """All complete results of these scenarios, in order."""
    found = []
    for s in scenarios:
        for runner in runners:
            base = pathlib.Path(root) / ('short' if short else 'full') / runner
            for run in s.runs(short, range(1, 33), None, runner):
                folder = folder_of(root, run, runner, short)
                path = folder / 'manifest.json'
                if not base.exists() or not path.exists():
                    continue
                manifest = json.loads(path.read_text(encoding='utf-8'))
                if manifest.get('complete'):
                    found.append(Result(run, runner, folder, manifest))
    return found
