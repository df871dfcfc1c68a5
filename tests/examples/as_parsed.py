#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""In place of gst-launch-1.0: prints what people and files are called in the pipeline, each
with a 0 behind it, and plays nothing.

usage: as_parsed.py [-e] PIPELINE
"""
import sys

import gi

gi.require_version('Gst', '1.0')
from gi.repository import Gst       # noqa: E402  after the version


def names(element):
    for name in 'sdes', 'location', 'database-location':
        value = element.get_property(name) if element.find_property(name) else None
        if value is not None:
            yield value.get_string('cname') if name == 'sdes' else value


Gst.init(None)
pipeline = Gst.parse_launchv([word for word in sys.argv[1:] if word != '-e'])
for part in pipeline.children:
    for text in names(part):
        print(text, end='\0')
