#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The link that examples/web.sh prints opens the room: its port and secret are the
server's, and the certificate is of its address.  Whoever ends the script ends the server.

usage: web_link.py SOURCE-ROOT

The script itself, with nothing to install or to build, and in place of the server one
that says what it was started with.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
NOTHING = '''
fmx_install () { :; }
fmx_python () { echo "$top/python"; }
fmx_configure () { mkdir -p "$1"; }
ninja () { :; }
'''
SERVER = '#!/bin/sh\n[ "$1" != -c ] || exec python3 "$@"\necho "server: $$ <$FMX_SECRET> $*"\n'
# (arguments, $FMX_SECRET, the link, what the server is told)
CASES = [
    ('--local', None, r'http://localhost:8443/', r'<> .*--http'),
    ('--local', 'a 50 % ö', r'http://localhost:8443/#a%2050%20%25%20%C3%B6', r'<a 50 % ö> '),
    ('--local', 'sesame', r'http://localhost:8443/#sesame', r'<sesame> .*--http'),
    ('', None, r'https://[^/]+:8443/#([0-9a-f]{16})', r'<([0-9a-f]{16})> .*--cert \S+ --key'),
    ('--local --port 9000', None, r'http://localhost:9000/', r'<> .*--port 9000'),
    ('--port=9000 --http', None, r'http://localhost:9000/', r'<> .*--http --port=9000'),
    ('--secret sesame', None, r'https://[^/]+:8443/#sesame', r'.*--secret sesame'),
    ('--slots 4 --secret=sesame', 'more', r'https://[^/]+:8443/#sesame', r'.*--secret=sesame'),
    ('--slots 4', 'sesame', r'https://[^/]+:8443/#sesame',
     r'<sesame> .*--cert \S+ --key \S+ --slots 4'),
]


def start(top, arguments, secret):
    """What the script says."""
    env = {**os.environ, 'PATH': f'{top}:{os.environ["PATH"]}', 'PORT': '8443'}
    env.pop('FMX_SECRET', None)
    env.pop('FMX_BUILD', None)
    if secret:
        env['FMX_SECRET'] = secret
    with subprocess.Popen([top / 'examples/web.sh', *arguments.split()], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        said, wrong = run.communicate()
    if run.returncode:
        sys.exit(f'web.sh {arguments} ended with {run.returncode}: {wrong}')
    if f'server: {run.pid} ' not in said:
        sys.exit(f'the server is another process than {run.pid}: {said}')
    return said


def check(said, link, told):
    """Each as a whole; what is random is the same in both."""
    links = re.search(rf'^== Send this link: {link}$', said, re.M)
    started = re.search(rf'^server: \d+ {told}', said, re.M)
    if not links or not started or links.groups() != started.groups():
        sys.exit(f'{link} and {told} were expected: {said}')


def check_certificate(path, said):
    """Whoever tells a browser to trust it is warned no more."""
    host = re.search(r'https://([^/]+):8443/', said)[1]
    names = subprocess.run(['openssl', 'x509', '-noout', '-ext', 'subjectAltName', '-in', path],
                           text=True, capture_output=True, check=True).stdout
    if host not in re.findall(r'[^:, \n]+', names):
        sys.exit(f'{host} is none of {names}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        (top / 'examples/web').mkdir(parents=True)
        for name in ('web.sh', 'web/server.py'):
            shutil.copy(SOURCE / 'examples' / name, top / 'examples' / name)
        prepare = (SOURCE / 'examples/prepare.sh').read_text(encoding='utf-8')
        (top / 'examples/prepare.sh').write_text(prepare + NOTHING, encoding='utf-8')
        (top / 'python').write_text(SERVER, encoding='utf-8')
        (top / 'python').chmod(0o755)
        for arguments, secret, link, told in CASES:
            said = start(top, arguments, secret)
            check(said, link, told)
        check_certificate(top / 'build/web-cert.pem', said)


main()
