#!/usr/bin/env python3
"""fmx-test-asmp-tables.h is what asmp_tables.py prints."""
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).parent
made = subprocess.run([sys.executable, here / 'asmp_tables.py'],
                      capture_output=True, text=True, check=True).stdout
same = made == (here / 'fmx-test-asmp-tables.h').read_text(encoding='utf-8')
print('the tables are', 'the same' if same else 'others')
sys.exit(not same)
