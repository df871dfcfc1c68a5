/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_REPORT_TIMES_H
#define FAIRMIX_NS3_REPORT_TIMES_H

/* When a member of an RTP session reports: RFC 3550 6.3, and RFC 4585 3.5.3 for early
 * reports.  Times in seconds; an interval is Td with its random factor, T. */
class ReportTimes
{
  public:
    void Start(double now_s, double interval_s)
    {
        m_before_s = now_s;
        m_next_s = now_s + interval_s;
    }

    /* When the next regular report is due */
    double NextS() const
    {
        return m_next_s;
    }

    /* It is due.  Returns whether it is sent now: not if by now there are so many members
     * that it comes later (RFC 3550 6.3.6).  @interval_s: as it is now */
    bool IsDue(double now_s, double interval_s)
    {
        m_next_s = m_before_s + interval_s;
        return m_next_s <= now_s;
    }

    /* It has been sent. */
    void OnRegular(double now_s, double interval_s)
    {
        Start(now_s, interval_s);
        m_reported = true;
        m_allow_early = true;
    }

    bool MayBeEarly() const
    {
        return m_allow_early;
    }

    /* An early one has been sent: a regular one is left out for it. */
    void OnEarly()
    {
        double interval_s = m_next_s - m_before_s;

        m_before_s += interval_s;
        m_next_s += interval_s;
        m_allow_early = false;
    }

    /* Whether a regular one has ever been sent */
    bool HasReported() const
    {
        return m_reported;
    }

  private:
    double m_before_s{0}; /* tp */
    double m_next_s{0};   /* tn */
    bool m_reported{false};
    bool m_allow_early{true}; /* RFC 4585 3.5.1 */
};

#endif /* FAIRMIX_NS3_REPORT_TIMES_H */
