/* SPDX-License-Identifier: GPL-2.0-only */
/* What RFC 3550 and RFC 4585 say of when to report. */
#include "report-times.h"

#include <cstdint>
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

/* [RFC3550 6.2, 6.3.1, 6.3.6]: half of 5 s, with its random factor, and looked at again
 * when it is due */
double
FirstReport(uint32_t* random)
{
    ReportTimes times;
    auto interval = [random] {
        *random = *random * 1664525 + 1013904223;
        return 2.5 * (0.5 + *random / 4294967296.0) / 1.21828;
    };

    times.Start(0, interval());
    for (;;)
    {
        double now_s = times.NextS();

        if (times.IsDue(now_s, interval()))
        {
            return now_s;
        }
    }
}

/* So a rate that stands within 3 s in a mean over 1 s is not for who has no early
 * reports: 2 s are left for the first one. */
void
TestAFirstReportComesAfterTwoAndAHalfSeconds()
{
    constexpr unsigned N = 20000;
    uint32_t random = 1;
    unsigned soon = 0;
    double sum = 0;

    for (unsigned i = 0; i < N; i++)
    {
        double first = FirstReport(&random);

        Check(first > 1.02 && first < 3.08, "between 1.0 and 3.1 s");
        sum += first;
        soon += first <= 2;
    }
    Check(sum / N > 2.48 && sum / N < 2.52, "2.5 s in the mean");
    Check(soon > 0.13 * N && soon < 0.18 * N, "within 2 s: 15 of 100");
}

} // namespace

int
main()
{
    TestAFirstReportComesAfterTwoAndAHalfSeconds();
    TestEachReportIsAnIntervalAfterTheLast();
    TestWhereMembersHaveComeItWaits();
    TestAnEarlyReportTakesThePlaceOfARegularOne();
    return 0;
}
