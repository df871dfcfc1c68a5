/* SPDX-License-Identifier: GPL-2.0-only */
/* What RFC 3550 and RFC 4585 say of when to report. */
#include "report-times.h"

#include <cstdio>
#include <cstdlib>

namespace
{

void
Check(bool holds, const char* claim)
{
    if (!holds)
    {
        printf("not so: %s\n", claim);
        exit(1);
    }
}

void
TestEachReportIsAnIntervalAfterTheLast()
{
    ReportTimes times;

    times.Start(10, 2);
    Check(times.NextS() == 12 && !times.HasReported(), "the first one after its interval");
    Check(times.IsDue(12, 1.5), "a shorter interval has passed, too");
    times.OnRegular(12, 5);
    Check(times.NextS() == 17 && times.HasReported(), "the next one after the next");
}

/* [RFC3550 6.3.6] */
void
TestWhereMembersHaveComeItWaits()
{
    ReportTimes times;

    times.Start(0, 4);
    Check(!times.IsDue(4, 9), "nine seconds have not passed");
    Check(times.NextS() == 9, "they are from the last one on");
    Check(times.IsDue(9, 8), "then it is due");
}

/* [RFC4585 3.5.3]: tn = tp + 2 T_rr, tp = tp + T_rr */
void
TestAnEarlyReportTakesThePlaceOfARegularOne()
{
    ReportTimes times;

    times.Start(0, 1);
    Check(times.MayBeEarly(), "one before the first regular one"); // [RFC4585 3.5.1]
    times.OnRegular(1, 5);
    Check(times.MayBeEarly(), "one after it");
    times.OnEarly();
    Check(times.NextS() == 11, "the regular one at 6 is left out");
    Check(!times.MayBeEarly(), "one in an interval");
    Check(!times.IsDue(11, 6), "reconsidered from where the one left out was");
    Check(times.NextS() == 12, "six seconds after that");
    times.OnRegular(12, 5);
    Check(times.MayBeEarly(), "again after a regular one");
}

} // namespace

int
main()
{
    TestEachReportIsAnIntervalAfterTheLast();
    TestWhereMembersHaveComeItWaits();
    TestAnEarlyReportTakesThePlaceOfARegularOne();
    return 0;
}
