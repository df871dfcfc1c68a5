#!/usr/bin/env python3
"""README's element table and links tell the truth.

usage: check-readme.py SOURCE-ROOT GST-INSPECT PLUGIN.so...

The table under "## Elements" must list exactly the elements that the plugins
register, each with its plugin, in alphabetic order.  Relative links in the
pages must lead somewhere.
"""
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r'^\| *\[?`?([a-z0-9]+)`?\]?(?:\([^)]*\))? *\| *`?([a-z0-9]+)`? *\|', re.M)
LINK = re.compile(r'\]\(([^)\s]+)\)')
FENCE = re.compile(r'^```.*?^```', re.M | re.S)


def table(readme):
    section = readme.split('\n## Elements\n', 1)[1].split('\n## ', 1)[0]
    return [row for row in ROW.findall(section) if row[0] != 'element']


def registered(inspect, plugin):
    """(element, plugin name) for each element feature of a plugin file."""
    text = subprocess.run([inspect, plugin], capture_output=True, text=True,
                          check=True).stdout
    name = re.search(r'^\s*Name\s+(\S+)', text, re.M)[1]
    count = re.search(r'\+-- (\d+) elements', text)
    rows = re.findall(r'^  ([a-z0-9]+): ', text, re.M)
    assert len(rows) == (int(count[1]) if count else 0), text
    return [(row, name) for row in rows]


def dead_links(root):
    pages = [*root.glob('*.md'), *root.glob('docs/**/*.md'),
             *root.glob('*/**/README.md')]
    pages = [p for p in pages if 'build' not in p.relative_to(root).parts[0]]
    for page in pages:
        text = FENCE.sub('', page.read_text(encoding='utf-8'))
        for link in LINK.findall(text):
            target = link.split('#')[0]
            if re.match(r'[a-z]+:', link) or not target:
                continue
            if not (page.parent / target).exists():
                yield f'{page.relative_to(root)}: no {target}'


def main():
    root, inspect = pathlib.Path(sys.argv[1]), sys.argv[2]
    readme = (root / 'README.md').read_text(encoding='utf-8')
    said = table(readme)
    true = [row for plugin in sys.argv[3:]
            for row in registered(inspect, plugin)]
    bad = [f'README.md does not list {e} of plugin {p}'
           for e, p in true if (e, p) not in said]
    bad += [f'README.md lists {e} of plugin {p}: no such element'
            for e, p in said if (e, p) not in true]
    if said != sorted(said):
        bad.append('README.md: the elements are not in alphabetic order')
    bad += dead_links(root)
    print('\n'.join(bad) or f'{len(true)} elements, all links lead somewhere')
    sys.exit(bool(bad))


if __name__ == '__main__':
    main()
