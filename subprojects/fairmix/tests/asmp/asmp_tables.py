#!/usr/bin/env python3
"""The numbers that ASMP's formulas give, reckoned as the paper prints them.

    asmp_tables.py > fmx-test-asmp-tables.h

Nothing here comes from the library: it is what the library is compared with.
"""
from math import exp, sqrt

w = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]                    # (3)
UNLOADED, CONGESTED = 0.9, 0.2                          # (19)
beta = 0.5                                              # (11)
D = 1


def smooth(l):                                          # (2), newest first
    m = min(len(l), 8)
    return sum(w[i] * l[i] for i in range(m)) / sum(w[:m])


def r_tcp(P, t_RTT, l):                                 # (12), bytes/s
    t_out = 4 * t_RTT
    return P / (t_RTT * sqrt(2 * D * l / 3)
                + t_out * min(1, 3 * sqrt(3 * D * l / 8)) * l * (1 + 32 * l**2))


def T_wait(T_random, lam, u):
    """The z below which a share u of (20), normalised, lies."""
    lo, hi = 0.0, T_random
    for _ in range(200):
        z = (lo + hi) / 2
        if (exp(lam * z / T_random) - 1) / (exp(lam) - 1) < u:
            lo = z
        else:
            hi = z
    return lo


# --- one receiver, packet by packet -----------------------------------------
# The path: packet i leaves at 20 i ms; its delay and its
# losses change from report to report.  All closed formulas, so that the test makes the
# same packets.

INTERVAL = 0.02
PACKETS_PER_REPORT = 250
N_REPORTS = 24
CLOCK_RATE = 8000
OFFSET = -3.0           # the receiver's clock, less the sender's


def delay_ms(i):
    wave = i // 25 % 20
    return (40 + i * 37 % 11 + i // PACKETS_PER_REPORT * 7 % 5
            + (30 if i >= 8 * PACKETS_PER_REPORT else 0)
            + (min(wave, 20 - wave) if i >= 3000 else 0))


def is_lost(i):
    k = i // PACKETS_PER_REPORT
    permille = 0 if k < 4 else 20 if k < 10 else 150 if k < 14 else 0
    return i * 7919 % 1000 < permille


def size(i):
    return 250 if i < PACKETS_PER_REPORT else 200 + i % 3 * 50


def rtt_told(k):        # what the sender measured, told after report k
    return 0.1 if k < 8 else 0.16


def receiver():
    """r, t_RTT, l, J and whether CONGESTED, at each report."""
    J = CJ_mean = 0.0
    i_CJ = 0
    short, n_short = 0.0, 0
    l, got, r, t_RTT, a, T_effective = [], [], None, None, None, None
    transit_1 = last_transit = None
    expected_from = 0
    for i in range(PACKETS_PER_REPORT * N_REPORTS):
        k = i // PACKETS_PER_REPORT
        if not is_lost(i):
            S = i * INTERVAL
            R = S + delay_ms(i) / 1000
            transit = R - S
            if transit_1 is None:
                transit_1 = last_transit = transit
            J += (abs(transit - last_transit) - J) / 16     # (5)
            last_transit = transit
            CJ = transit - transit_1
            i_CJ += 1
            CJ_mean += (CJ - CJ_mean) / i_CJ                # (17)
            n_short += 1
            short += (CJ - short) / n_short
            got.append(size(i))
            T_oneway = R + OFFSET - S                       # (6)
            newest = i
        if (i + 1) % PACKETS_PER_REPORT:
            continue
        # a report
        expected = newest - expected_from + 1
        l.insert(0, (expected - len(got)) / expected)
        expected_from = newest + 1
        if T_effective is not None:
            t = (1 + a) * T_oneway                          # (8)
            t_RTT = t if t_RTT is None else t * beta + (1 - beta) * t_RTT
        congested = short >= CJ_mean                        # (18)
        gamma = CONGESTED if congested else UNLOADED
        P = sum(got) / len(got)
        if t_RTT is None:
            r = 50 * P          # what comes: 50 packets each second
        else:
            inst = r_tcp(P, t_RTT, smooth(l)) if l[0] > 0 else r + P / t_RTT
            r = inst * gamma + (1 - gamma) * r              # (14)
        yield 8 * r, t_RTT or 0, smooth(l), J, congested
        short, n_short, got = 0.0, 0, []
        T_effective = rtt_told(k)
        a = T_effective / T_oneway - 1                      # (10)


def rows(name, kind, values):
    print(f'\nstatic const {kind} {name}[] = {{')
    for value in values:
        print('  {' + ', '.join(f'{x:.12g}' for x in value) + '},')
    print('};')


def main():
    print('''/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Made by asmp_tables.py; not to be changed by hand. */
#ifndef FMX_TEST_ASMP_TABLES_H
#define FMX_TEST_ASMP_TABLES_H

typedef struct
{
  double packet_bytes, rtt_s, loss, rate_Bps;
} EquationRow;

typedef struct
{
  double fraction, smoothed;
} LossRow;

typedef struct
{
  double rand_s, lambda, u, wait_s;
} WaitRow;

typedef struct
{
  double rate_bps, rtt_s, loss, jitter_s;
  int congested;
} ReportRow;''')
    rows('equation_rows', 'EquationRow', [
        (P, t, l, r_tcp(P, t, l)) for P in (100, 200, 1000, 1500)
        for t in (0.001, 0.05, 0.2, 2)
        for l in (1e-6, 0.001, 0.01, 0.05, 0.2, 8 / 27, 0.3, 0.5, 1)])
    fractions = [0, 0.1, 0.02, 0, 0, 1, 0.3, 0, 0.05, 0.05, 0, 0, 0, 0, 0, 0,
                 0, 0, 0.01]
    rows('loss_rows', 'LossRow', [
        (fractions[i], smooth(fractions[i::-1])) for i in range(len(fractions))])
    rows('wait_rows', 'WaitRow', [
        (T, lam, u, T_wait(T, lam, u)) for T in (1, 5, 30) for lam in (1, 5, 10)
        for u in (0, 1e-6, 0.001, 0.1, 0.5, 0.9, 0.999)])
    rows('report_rows', 'ReportRow', receiver())
    print('\n#endif /* FMX_TEST_ASMP_TABLES_H */')


if __name__ == '__main__':
    main()
