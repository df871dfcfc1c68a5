#!/usr/bin/env python3
"""test_tables.py MAKER: fmx-test-als-tables.h is what als_tables.py prints, and so on."""
import pathlib
import subprocess
import sys

maker = pathlib.Path(sys.argv[1])
header = maker.parent / f'fmx-test-{maker.stem.replace("_", "-")}.h'
made = subprocess.run([sys.executable, maker], capture_output=True, text=True,
                      check=True).stdout
same = made == header.read_text(encoding='utf-8')
print('the tables are', 'the same' if same else 'others')
sys.exit(not same)
