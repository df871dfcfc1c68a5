# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runner `kernel`: libfairmix over UDP sockets, and the kernel's TCP, in
virtual time.

Between the two: the network and TCP of runner uml, the bundle of runner ns3
(net/bundle.c).  For trying a controller many times.
"""
from lab import graphs, uml

check = uml.check
finish = uml.finish
versions = uml.versions


def prepare(run, folder, build):
    return uml.prepare(run, folder, build, graphs.light_bundle)
