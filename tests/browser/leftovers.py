# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a test may leave when it is killed: processes, which end with it, and folders,
which the next one removes."""
import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile

UNTIL_WE_END = 'setpriv', '--pdeathsig', 'KILL'         # however that comes
PREFIX = 'fairmix-'
LOCK = 'in-use'
LOCKS = []                      # held as long as this process lives


def remove_abandoned():
    """Folders whose maker has ended: nobody holds their locks any more."""
    for lock in pathlib.Path(tempfile.gettempdir()).glob(f'{PREFIX}*/{LOCK}'):
        with contextlib.suppress(OSError), open(lock, 'rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)


def make_folder(kind):
    """A new one for as long as this process lives; those of others who were killed are
    removed."""
    remove_abandoned()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f'{PREFIX}{kind}-'))
    lock = os.open(folder / 'lock', os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    LOCKS.append(lock)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / 'lock').rename(folder / LOCK)     # it is locked when others see it
    return folder
