# SPDX-License-Identifier: LGPL-2.1-or-later
"""Of which commit the rows of docs/results.md are, and whether the code has changed since.

A section's line of counts says "3 runs (ns-3, at 61e82fcb)"; rows that were there before
any line did are "before" the commit that wrote them.  "older" follows where what decides
the rate is not the same now.
"""
import re
import subprocess

# what decides the rate of a suite's flows; the others have none of ours that changes
DECIDES = {'paper': ['rate'], 'beyond': ['rate'], 'listener': ['rate'], 'multicast': ['asmp']}
OURS = {'real pipelines', 'library, Linux TCP', 'ns-3'}
DATED = re.compile(r', (at|before) ([^),]*)(, older)?(?=\)$)')


def _git(root, *arguments):
    return subprocess.run(['git', '-C', root, *arguments], check=False,
                          capture_output=True, text=True)


def changed_since(root, commit, suite):
    """Whether what decides the rate is another now; None if nobody knows the commit."""
    paths = [f'subprojects/fairmix/fairmix/{name}' for name in DECIDES[suite]]
    commit = commit.removesuffix('-dirty')
    done = _git(root, 'diff', '--quiet', commit, 'HEAD', '--', *paths)
    return {0: False, 1: True}.get(done.returncode)


def wrote(root, page):
    """{title: the newest commit that wrote a row of that section} of the committed page."""
    times, newest, title, commit = {}, {}, '', ''
    blame = _git(root, 'blame', '--porcelain', 'HEAD', '--', page).stdout
    for line in blame.splitlines():
        if match := re.match(r'([0-9a-f]{40}) \d', line):
            commit = match[1]
        elif line.startswith('committer-time '):
            times[commit] = int(line.split()[1])
        elif line.startswith('\t### '):
            title = line[5:]
        elif line.startswith('\t| '):
            newest[title] = max(newest.get(title, commit), commit, key=times.get)
    return {title: commit[:8] for title, commit in newest.items()}


def commits_of(manifests):
    """Those of some runs, in words"""
    return ' and '.join(dict.fromkeys(m['commit'] for m in manifests))


def versions_of(manifests, program):
    """What a peer's program said of itself in some runs"""
    told = (m.get('peers', {}).get(program) for m in manifests)
    return ' and '.join(dict.fromkeys(t for t in told if t))


def dated(root, words, suite, since=None):
    """@words, "3 runs (whose)", with the commit and whether it is older; @since: the commit
    before which the runs were made, if the words name none."""
    if suite not in DECIDES:
        return words
    known = DATED.search(words)
    when, commit = known.groups()[:2] if known else ('before', since)
    if not commit:
        return words
    old = [changed_since(root, c, suite) for c in commit.split(' and ')]
    mark = ', older' if any(x is not False for x in old) else ''
    return DATED.sub('', words)[:-1] + f', {when} {commit}{mark})'
