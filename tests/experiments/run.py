#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run scenarios, side by side, and keep their tables.

  tests/experiments/run.py [options] SCENARIO...

A SCENARIO is a name from scenarios/ (fig7-one-tcp), a path, or a suite
(paper, beyond, all).  Results go to BUILD/experiments; write_results.py reads them.
"""
import argparse
import json
import os
import pathlib
import platform
import shlex
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
from lab import (kernel, listen, measures, netns, ns2, ns3,  # noqa: E402
                 progress, results, scenario, uml, watch)
from lab.runner import Unavailable  # noqa: E402

RUNNERS = {'uml': uml, 'kernel': kernel, 'ns3': ns3, 'ns2': ns2,
           'netns': netns}
STOP_S = 10                     # until a run has ended
TAKE_DOWN_S = 60                # ... that takes down what it has made


def runner_names(text):
    names = text.split(',')
    if not set(names) <= set(RUNNERS):
        raise argparse.ArgumentTypeError(f'there are {", ".join(RUNNERS)}')
    return names


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('scenarios', nargs='*', metavar='SCENARIO')
    p.add_argument('--runner', default='uml', type=runner_names,
                   metavar='RUNNER[,...]',
                   help='uml: real pipelines and TCP in virtual time\n'
                   'kernel: libfairmix alone and real TCP in virtual time\n'
                   'ns3: libfairmix in ns-3\n'
                   'ns2: ns-2 instead, for comparison\nnetns: real time (needs root)')
    p.add_argument('--short', action='store_true',
                   help='shorter runs, fewer seeds, as the scenario says')
    p.add_argument('--seeds', type=int, nargs='+', metavar='N')
    p.add_argument('--only', nargs='+', default=[], metavar='AXIS=A|B',
                   help='only these values of an axis of the scenario')
    p.add_argument('--jobs', type=int, default=os.cpu_count(), metavar='N',
                   help='runs side by side (as many as cores)')
    p.add_argument('--build', default='build', metavar='FOLDER',
                   help='the build folder')
    p.add_argument('--out', metavar='FOLDER', help='BUILD/experiments')
    p.add_argument('--peer', action='append', default=[], metavar='NAME=PATH',
                   help='where a program of others is (README.md); without\n'
                   'it, the runs that need it are left out')
    p.add_argument('--again', action='store_true',
                   help='also what there are results of')
    p.add_argument('--list', action='store_true', help='what there is')
    p.add_argument('--check', action='store_true',
                   help='afterwards judge the claims that are tests: exit\n'
                   'status 1 if one does not hold')
    return p.parse_args()


def chosen(names):
    out = []
    for name in names:
        if name == 'all':
            out += scenario.load_all()
        elif name in ('paper', 'beyond', 'queues', 'multicast', 'listener', 'als'):
            out += scenario.load_all(name)
        else:
            out.append(scenario.Scenario(name))
    return list({s.path: s for s in out}.values())


def commit():
    here = pathlib.Path(__file__).resolve().parent
    git = subprocess.run(['git', '-C', here, 'describe', '--always',
                          '--dirty'], capture_output=True, text=True,
                         check=False)
    return git.stdout.strip() or 'unknown'


def version_of(flow, build):
    """What a peer's program says of itself; '' if it says nothing."""
    command = flow['command'].format(path=flow['path'], tools=uml.tools(build))
    try:
        told = subprocess.run([*shlex.split(command), 'version'], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=STOP_S)
    except (OSError, subprocess.TimeoutExpired):
        return ''
    return told.stdout.strip() if told.returncode == 0 else ''


def versions_of(run, build):
    peers = {f['program']: version_of(f, build) for f in run.peers.values()}
    return {'peers': peers} if peers else {}


class Job:
    """One run under way."""

    def __init__(self, run, name, args):
        self.run = run
        self.runner = RUNNERS[name]
        self.name = name
        self.folder = results.folder_of(args.out, run, name, args.short)
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in self.folder.iterdir():
            if old.is_file():
                old.unlink()
        self.manifest = {
            'run': run.name, 'runner': name, 'short': args.short,
            'seed': run.seed, 'duration_s': run.duration_s,
            'commit': commit(), 'python': platform.python_version(),
            'machine': platform.machine(), 'command': shlex.join(sys.argv),
            **self.runner.versions(), **versions_of(run, args.build)}
        command, env = self.runner.prepare(run, self.folder, args.build)
        with open(self.folder / 'runner.log', 'wb') as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)
        self.started = time.monotonic()
        self.watch = watch.Watch(self.process.pid)
        self.t_s = 0.0

    def time(self):
        """Virtual seconds so far."""
        path = self.folder / 'flows.csv'
        try:
            with open(path, 'rb') as f:
                f.seek(max(0, os.stat(path).st_size - 200))
                t_s = float(f.read().split(b'\n')[-2].split(b',')[0])
        except (OSError, ValueError, IndexError):
            t_s = 0.0
        if t_s > self.t_s:
            self.t_s = t_s
            self.watch.moved()
        return self.t_s

    def stop(self):
        """Ends what this run started, and nothing else."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                if self.name == 'netns' and number == signal.SIGTERM:
                    self.process.terminate()    # it takes down the rest
                else:
                    os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass
            try:
                self.process.wait(TAKE_DOWN_S if self.name == 'netns' else STOP_S)
                return
            except subprocess.TimeoutExpired:
                continue

    def finish(self):
        """None, or what went wrong."""
        why = self.runner.finish(self.folder)
        if why is None and self.process.returncode != 0 \
                and self.name in ('ns3', 'ns2', 'netns'):
            why = f'ended with status {self.process.returncode}'
        if why is None and self.name in ('uml', 'netns'):
            listen.measure(self.run, self.folder)
        self.manifest['complete'] = why is None
        self.manifest['wall_s'] = round(time.monotonic() - self.started, 1)
        (self.folder / 'manifest.json').write_text(
            json.dumps(self.manifest, indent=2) + '\n', encoding='utf-8')
        return why


def lacks(run, runner, paths):
    """What a run needs that is not here; None if it can be run."""
    why = getattr(runner, 'refuses', lambda _: None)(run)
    if why:
        return why
    for flow in run.peers.values():
        flow['path'] = paths.get(flow['program'])
        if flow['path'] is None:
            return (f'no {flow["program"]} here: --peer '
                    f'{flow["program"]}=PATH (README.md)')
    return None


def able(runs, runner, peers):
    """Those of the runs that can be made here; says why of the others."""
    paths = {n: str(pathlib.Path(p).resolve()) for n, p in
             (peer.split('=', 1) for peer in peers)}
    out, left = [], {}
    for run in runs:
        why = lacks(run, runner, paths)
        if why is None:
            out.append(run)
        else:
            left[why] = left.get(why, 0) + 1
    for why, n in left.items():
        print(f'run.py: {n} runs left out: {why}', file=sys.stderr)
    return out


def run_all(todo, args):
    """Runs them ([(run, runner's name)]), at most args.jobs at a time; returns
    how many failed."""
    bar = progress.Progress(sum(r.duration_s for r, _ in todo))
    waiting, busy, done_s, failed = list(todo), [], 0.0, 0
    try:
        while waiting or busy:
            while waiting and len(busy) < args.jobs:
                with netns.undisturbed():   # what was started is in the list
                    busy.append(Job(*waiting.pop(0), args))
            time.sleep(0.2)
            for job in list(busy):
                job.time()
                stalled = job.watch.stalled()
                if stalled:
                    job.stop()
                elif job.process.poll() is None:
                    continue
                busy.remove(job)
                done_s += job.run.duration_s
                why = job.finish()
                if stalled and why:
                    why = (f'time stood still at {job.t_s} s: something '
                           'busy-waits, or died')
                if why:
                    failed += 1
                    bar.say(f'{job.run.name}: {why} (see {job.folder})')
            bar.show(done_s + sum(j.t_s for j in busy),
                     ', '.join(j.run.name for j in busy))
    finally:
        for job in busy:
            job.stop()
    bar.end()
    return failed


def judge(scenarios, args):
    """Prints every claim that is a test; returns how many do not hold.  A
    claim's `test` names the choices that must not lose what they have."""
    broken = judged = 0
    for s in scenarios:
        found = results.load(args.out, [s], args.short, args.runner)
        for claim in s.claims:
            for result in found:
                if not measures.applies(claim, result) or not \
                        set(claim.get('test', [])) & set(result.run.choice.values()):
                    continue
                value = measures.MEASURES[claim['measure']](result, claim)
                good = measures.verdict(value, claim, 'show')
                broken += good is not True
                judged += 1
                print(f'{"ok" if good else "NOT OK"} {result.run.name}: '
                      f'{claim["text"]}: {value if value is None else round(value, 4)}'
                      f' (asked: {claim["show"]})')
    if not judged:
        print('NOT OK: nothing was judged')
    return broken + (not judged)


def runs_to_make(scenarios, args):
    """[(run, runner's name)], in the order in which they were asked for."""
    only = dict(o.split('=', 1) for o in args.only)
    todo = []
    for s in scenarios:
        for name in args.runner:
            if name not in s.runners:
                print(f'{s.name}: not for runner {name}', file=sys.stderr)
                continue
            have = {r.run.name for r in results.load(
                args.out, [s], args.short, [name])}
            wanted = [r for r in s.runs(args.short, args.seeds, only, name)
                      if args.again or r.name not in have]
            todo += [(r, name) for r in
                     able(wanted, RUNNERS[name], args.peer)]
    return todo


def main():
    args = arguments()
    args.out = args.out or pathlib.Path(args.build) / 'experiments'
    try:
        scenarios = chosen(args.scenarios or (['all'] if args.list else []))
        if args.list:
            for s in scenarios:
                runs = s.runs(args.short, runner=args.runner[0])
                print(f'{s.name:28} {s.suite:9} {len(runs):3} runs of '
                      f'{runs[0].duration_s:g} s  {s.title}')
            return 0
        if not scenarios:
            print('run.py: name a scenario, a suite or all (--list)',
                  file=sys.stderr)
            return 2
        for name in args.runner:
            RUNNERS[name].check(args.build)
        todo = runs_to_make(scenarios, args)
        listen.check([r for r, name in todo if name in ('uml', 'netns')],
                     args.build)
    except scenario.ScenarioError as e:
        print(f'run.py: {e}', file=sys.stderr)
        return 2
    except Unavailable as e:
        print(f'run.py: {e}', file=sys.stderr)
        return 77
    failed = run_all(todo, args) if todo else 0
    if args.check:
        failed += judge(scenarios, args)
    return 1 if failed else 0


if __name__ == '__main__':
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, netns.ended)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
