#!/usr/bin/env python3
"""The numbers that ALS's formulas give, reckoned as the paper prints them.

    als_tables.py > fmx-test-als-tables.h

Nothing here comes from the library: it is what the library is compared with.  In
fractions: nothing is rounded before it is printed.
"""
import random
from fractions import Fraction as F

INITIAL_AIR = F(5000)           # 3.3: "an initial small value"
U_l = F(9, 10)                  # 3.1
LAYERS = 3                      # 3.4
LINK_BPS = 1_000_000
any_of = random.Random(11)


def below(n):
    return int(any_of.random() * n)


def sender(n_points, n_receivers):
    """The reports of each interval, with AIR_i and r_i, and its layers.  Not all
    receivers speak in each."""
    AIR = [INITIAL_AIR] * n_receivers
    told, points = [], []
    for point in range(n_points):
        r, shares = [], []
        for i in range(n_receivers):
            R_d, U = 60_000 + 50_000 * i + below(40_000), F(30 + below(90), 100)
            l = F(below(30), 100) if below(3) == 0 else F(0)
            if below(5) == 0 and i > 0:
                continue
            if l == 0:          # 3.3
                AIR[i] = AIR[i] + AIR[i] * (1 - U)
                r.append(R_d + AIR[i])
            else:
                AIR[i] = INITIAL_AIR
                r.append(R_d * (1 - l))
            shares.append(F(R_d))
            told.append((point, i, R_d, U, l, AIR[i], r[-1]))
        points.append((min(r), (max(r) - min(r)) / (LAYERS - 1),        # 3.4
                       min(shares), (max(shares) - min(shares)) / (LAYERS - 1)))
    return told, points


def held(n):
    """(R_d, the sizes of three layers, how many are held), 3.4"""
    for _ in range(n):
        sizes = [1000 * (20 + below(100)) for _ in range(LAYERS)]
        for R_d in [below(350_000)] + [sum(sizes[:k]) - less for k in (1, 2, 3)
                                       for less in (0, 1)]:
            n_held = 1          # the basic layer
            while n_held < LAYERS and R_d >= sum(sizes[:n_held + 1]):
                n_held += 1
            yield R_d, *sizes, n_held


def router(n_seconds, n_connections):
    """Each packet, two of each connection that is there; and (R_f, U, n) as each second
    ends, 3.1"""
    packets, seconds = [], []
    for second in range(n_seconds):
        sent = {i: 500 + below(1000) for i in range(n_connections)
                if i == 0 or below(2) == 0}
        packets += [(second, i, size) for i, size in sent.items()]
        seconds.append((LINK_BPS * U_l / len(sent),
                        F(8 * 2 * sum(sent.values()), LINK_BPS), len(sent)))
    return packets, seconds


def rows(name, kind, values):
    print(f'\nstatic const {kind} {name}[] = {{')
    for value in values:
        print('  {' + ', '.join(f'{float(x):.12g}' for x in value) + '},')
    print('};')


def main():
    print('''/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Made by als_tables.py; not to be changed by hand. */
#ifndef FMX_TEST_ALS_TABLES_H
#define FMX_TEST_ALS_TABLES_H

typedef struct
{
  unsigned point, receiver, share_bps;
  double utilisation, loss, increase_bps, rate_bps;
} ReportRow;

typedef struct
{
  double base_bps, upper_bps, base_size_bps, upper_size_bps;
} PointRow;

typedef struct
{
  unsigned share_bps, size0_bps, size1_bps, size2_bps, n;
} HeldRow;

typedef struct
{
  unsigned second, connection, bytes;
} PacketRow;

typedef struct
{
  double share_bps, utilisation;
  unsigned n;
} SecondRow;''')
    told, points = sender(40, 4)
    packets, seconds = router(24, 8)
    rows('report_rows', 'ReportRow', told)
    rows('point_rows', 'PointRow', points)
    rows('held_rows', 'HeldRow', held(9))
    rows('packet_rows', 'PacketRow', packets)
    rows('second_rows', 'SecondRow', seconds)
    print('\n#endif /* FMX_TEST_ALS_TABLES_H */')


if __name__ == '__main__':
    main()
