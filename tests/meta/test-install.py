#!/usr/bin/env python3
"""What `meson install` leaves behind is enough to use it.

usage: test-install.py SOURCE-ROOT BUILD-DIR [PLUGIN.so...]

`meson devenv` finds the plugins of the build; then the build is installed
into a scratch folder, and nothing else is used: the headers (all of them
and nothing but them), libfairmix-1.0 by pkg-config from C and, where there is
a compiler, C++, the plugins by GST_PLUGIN_PATH.  Plugins go where GStreamer
looks, or the installation says what to set; and nothing but the library, the
plugins and the examples is built for it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = '''
#include <fairmix/fairmix.h>

int
main (void)
{
  FmxRng rng;

  fmx_rng_init (&rng, 1);
  return fmx_rng_next_unit (&rng) < 1.0 ? 0 : 1;
}
'''


def run(*args, **env):
    """What a command prints; a variable that is None is not in its
    environment (an empty GST_PLUGIN_PATH_1_0 hides GST_PLUGIN_PATH)."""
    env = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
    return subprocess.run([str(a) for a in args], capture_output=True,
                          text=True, check=True, env=env).stdout


def meson():
    """The meson that runs this test, or the one in PATH."""
    own = os.environ.get('MESON', '')
    return own.split() if own else ['meson']


class Installed:
    """An installation in a folder of its own."""

    def __init__(self, build, folder):
        self.said = run(*meson(), 'install', '-C', build, '--no-rebuild',
                        '--destdir', folder)
        self.root = pathlib.Path(folder)
        pc = next(self.root.rglob('libfairmix-1.0.pc'))
        self.env = {'PKG_CONFIG_SYSROOT_DIR': folder,
                    'PKG_CONFIG_PATH': str(pc.parent)}

    def pkg_config(self, *args):
        return run('pkg-config', *args, **self.env).split()


def looked_in():
    """Where GStreamer looks for plugins."""
    return run('pkg-config', '--variable=pluginsdir', 'gstreamer-1.0').strip()


def test_last_words(installed):
    """The installation says where its plugins are, unless GStreamer looks
    there."""
    folder = installed.pkg_config('--variable=pluginsdir', 'gst-fairmix')[0]
    folder = folder.removeprefix(str(installed.root))
    said = f'export GST_PLUGIN_PATH={folder}' in installed.said
    assert said != (folder == looked_in()), installed.said
    return f'plugins in {folder}'


def test_for_use_alone(source, folder):
    """With GStreamer's own prefix the plugins go into its folder; nothing else is
    built, neither by default nor, as meson 1.0 does it, as a test."""
    prefix = run('pkg-config', '--variable=prefix', 'gstreamer-1.0').strip()
    run(*meson(), 'setup', folder, source, '--prefix', prefix)
    ask = (*meson(), 'introspect', folder)
    plugins = [name for name in json.loads(run(*ask, '--installed')).values()
               if name.endswith('.so')]
    outside = [p for p in plugins if os.path.dirname(p) != looked_in()]
    assert plugins and not outside, f'GStreamer does not look there: {outside}'
    built = [target for target in json.loads(run(*ask, '--targets'))
             if target['build_by_default']]
    needless = [target['name'] for target in built
                if 'tests' in pathlib.Path(target['defined_in']).relative_to(
                    pathlib.Path(source).resolve()).parts]
    needless += [test['name'] for test in json.loads(run(*ask, '--tests'))]
    assert not needless, f'built in order to be installed: {needless}'
    return f'{len(built)} targets without tests'


def test_headers(installed):
    """Only headers, and every one that the sources say is public."""
    folder = next(installed.root.rglob('libfairmix-1.0/fairmix'))
    found = {str(p.relative_to(folder)) for p in folder.rglob('*')
             if p.is_file()}
    strangers = {f for f in found if not f.endswith('.h') or '-private' in f}
    assert not strangers, f'installed beside the headers: {strangers}'
    umbrella = (folder / 'fairmix.h').read_text(encoding='utf-8')
    named = set(re.findall(r'#include "fairmix/(.+)"', umbrella))
    assert named == found - {'fairmix.h'}, named ^ found
    return f'{len(named)} headers'


def test_library(installed):
    """A program of ten lines compiles, links and runs."""
    flags = installed.pkg_config('--cflags', '--libs', 'libfairmix-1.0')
    outside = [f for f in flags if f.startswith(('-I', '-L'))
               and str(installed.root) not in f]
    assert not outside, f'pkg-config leads out of the prefix: {outside}'
    source = installed.root / 'use.c'
    source.write_text(PROGRAM, encoding='utf-8')
    tried = []
    for compiler in (['cc', '-std=c11'], ['c++', '-std=c++17', '-x', 'c++']):
        if shutil.which(compiler[0]):
            program = installed.root / 'use'
            # the library may have been built with sanitizers
            extra = os.environ.get('FMX_LINK_ARGS', '').split()
            run(*compiler, '-Wall', '-Wextra', '-Werror', source, '-x', 'none',
                *flags, *extra, '-o', program)
            run(program)
            tried.append(compiler[0])
    return 'libfairmix-1.0 from ' + ' and '.join(tried)


def test_plugins(installed, plugins):
    """gst-inspect finds every plugin's elements in the installed files."""
    folder = pathlib.Path(installed.pkg_config('--variable=pluginsdir',
                                               'gst-fairmix')[0])
    if not folder.is_relative_to(installed.root):
        folder = installed.root / folder.relative_to('/')
    # only the installed plugins, not those of the build
    env = {k: '' for k in os.environ if k.startswith('GST_PLUGIN_PATH')}
    env['GST_PLUGIN_PATH_1_0'] = str(folder)
    env['GST_REGISTRY_1_0'] = str(installed.root / 'registry')
    elements = []
    for plugin in plugins:
        text = run('gst-inspect-1.0', folder / pathlib.Path(plugin).name, **env)
        elements += re.findall(r'^  ([a-z0-9]+): ', text, re.M)
    assert len(elements) >= len(plugins), 'a plugin without an element'
    for element in elements:
        text = run('gst-inspect-1.0', element, **env)
        assert str(folder) in text, f'{element} comes from somewhere else'
    return 'elements ' + ', '.join(elements)


def test_devenv(build, plugins):
    """`meson devenv` finds the elements of the build, and keeps a registry
    of its own."""
    env = {k: None for k in os.environ
           if k.startswith(('GST_PLUGIN_PATH', 'GST_REGISTRY'))}
    for plugin in plugins:
        text = run('gst-inspect-1.0', pathlib.Path(build, plugin), **env)
        element = re.search(r'^  ([a-z0-9]+): ', text, re.M)[1]
        text = run(*meson(), 'devenv', '-C', build, 'gst-inspect-1.0', element,
                   **env)
        assert str(build) in text, f'devenv does not find {element}'
    return f'devenv finds {len(plugins)} plugins'


def main():
    source, build, plugins = sys.argv[1], sys.argv[2], sys.argv[3:]
    print(test_devenv(build, plugins))
    with tempfile.TemporaryDirectory() as folder:
        print(test_for_use_alone(source, folder))
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(build, folder)
        print(test_last_words(installed))
        print(test_headers(installed))
        print(test_library(installed))
        print(test_plugins(installed, plugins))


if __name__ == '__main__':
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f'{error}\n{error.stdout}\n{error.stderr}')
