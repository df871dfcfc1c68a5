/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NADA as its authors' ns3-rmcat has it (RFC 8698), a peer for tests/experiments (README.md
 * there): an audio sender's frames of 20 ms, without their sound, at the rate that it says.
 *
 * The receiver acknowledges each packet every 100 ms, as the RFC has it (RFC 8888's format),
 * and once more the next time, so that a lost report is no loss of media.  The rate counts
 * RTP's header.  The controller does not know ECN. */
#include "peer.h"

#include <congestion-control/nada-controller.h>

#include <deque>
#include <map>
#include <string>

namespace
{

constexpr double REPORT_S = 0.1;
constexpr size_t HEADER_BYTES = 16; /* before the blocks of a report */
constexpr size_t MOST_BLOCKS = 512;
constexpr uint32_t MOST_ATO = 0x1ffd;

uint64_t
Microseconds(double s)
{
    return static_cast<uint64_t>(s * 1e6);
}

/* How much later @a is than @b */
int
After(uint16_t a, uint16_t b)
{
    return static_cast<int16_t>(static_cast<uint16_t>(a - b));
}

struct Arrival
{
    uint16_t seq;
    double atS;
};

/* [RFC8888 3.1], at @reportS of the receiver's clock */
peer::Bytes
Report(const std::deque<Arrival>& arrivals, double now, double reportS)
{
    peer::Bytes out;
    uint16_t first = arrivals.front().seq;
    uint16_t last = first;

    for (const auto& a : arrivals)
    {
        first = After(a.seq, first) < 0 ? a.seq : first;
        last = After(a.seq, last) > 0 ? a.seq : last;
    }
    std::vector<uint16_t> blocks(std::min<size_t>(After(last, first) + 1, MOST_BLOCKS));
    for (const auto& a : arrivals)
    {
        size_t i = After(last, a.seq);
        auto ato = static_cast<uint32_t>(std::lround((now - a.atS) * 1024));

        if (i < blocks.size())
        {
            blocks[blocks.size() - 1 - i] = 0x8000 | std::min(ato, MOST_ATO);
        }
    }
    size_t words = 4 + (blocks.size() + 1) / 2;
    peer::Put(out, 0x80 | 11, 1);
    peer::Put(out, 205, 1);
    peer::Put(out, static_cast<uint32_t>(words), 2);
    peer::Put(out, peer::SSRC + 1, 4);
    peer::Put(out, peer::SSRC, 4);
    peer::Put(out, static_cast<uint16_t>(last + 1 - blocks.size()), 2);
    peer::Put(out, static_cast<uint32_t>(blocks.size() - 1), 2);
    for (auto block : blocks)
    {
        peer::Put(out, block, 2);
    }
    out.resize(4 * words);
    peer::Put(out, static_cast<uint32_t>(static_cast<uint64_t>(reportS * 65536)), 4);
    return out;
}

int
Receive(int fd)
{
    std::deque<Arrival> arrivals;
    sockaddr_in from = {};
    double start = peer::Now();
    double due = peer::NEVER;
    bool fresh = false;

    for (;;)
    {
        bool came = peer::Wait(fd, due);
        double now = peer::Now();
        uint8_t data[peer::BUFFER_BYTES];
        socklen_t length = sizeof from;
        ssize_t n =
            came ? recvfrom(fd, data, sizeof data, 0, reinterpret_cast<sockaddr*>(&from), &length)
                 : 0;

        if (n >= static_cast<ssize_t>(peer::RTP_BYTES))
        {
            arrivals.push_back({static_cast<uint16_t>(peer::Get(data + 2, 2)), now});
            fresh = true;
            due = due == peer::NEVER ? now + REPORT_S : due;
        }
        if (now < due)
        {
            continue;
        }
        if (fresh)
        {
            peer::Bytes report = Report(arrivals, now, now - start);

            sendto(fd,
                   report.data(),
                   report.size(),
                   0,
                   reinterpret_cast<sockaddr*>(&from),
                   sizeof from);
        }
        while (!arrivals.empty() && arrivals.front().atS < now - REPORT_S)
        {
            arrivals.pop_front();
        }
        fresh = false;
        due += REPORT_S;
    }
}

class Sender
{
  public:
    Sender(int fd, const peer::Options& o)
        : fd_(fd)
    {
        nada_.setLogCallback([](const std::string&) {});
        nada_.setMinBw(o.leastBps);
        nada_.setMaxBw(o.mostBps);
        nada_.setCurrentBw(std::min(std::max<float>(peer::START_BPS, o.leastBps), o.mostBps));
    }

    void
    MakeFrame(double now)
    {
        auto sizes = peer::FrameSizes(nada_.getBandwidth(Microseconds(now)), peer::MOST_BYTES);

        for (size_t i = 0; i < sizes.size(); i++)
        {
            queue_.push_back(peer::RtpPacket(seq_++, timestamp_, i + 1 == sizes.size(), sizes[i]));
        }
        timestamp_ += static_cast<uint32_t>(peer::FRAME_S * peer::CLOCK_RATE);
    }

    /* Sends what is due at the rate that it says; when more will be.  RFC 8698's buffer
   * (5.2.2) does not change the rate here, as in ns3-rmcat */
    double
    Transmit()
    {
        for (;;)
        {
            double now = peer::Now();

            if (queue_.empty() || now < nextS_)
            {
                return queue_.empty() ? peer::NEVER : nextS_;
            }
            peer::Bytes data = std::move(queue_.front());
            auto seq = static_cast<uint16_t>(peer::Get(data.data() + 2, 2));

            queue_.pop_front();
            send(fd_, data.data(), data.size(), 0);
            nada_.processSendPacket(Microseconds(now), seq, static_cast<uint32_t>(data.size()));
            nextS_ = now + data.size() * 8 / nada_.getBandwidth(Microseconds(now));
            if (!started_)
            {
                sentUs_[seq] = Microseconds(now);
            }
        }
    }

    void
    TakeFeedback()
    {
        uint8_t data[peer::BUFFER_BYTES];
        /* an error is a port that nobody listens at yet */
        ssize_t n = recv(fd_, data, sizeof data, MSG_DONTWAIT);
        std::vector<rmcat::SenderBasedController::FeedbackItem> batch;

        if (n <= static_cast<ssize_t>(HEADER_BYTES) + 4)
        {
            return;
        }
        uint64_t now = Microseconds(peer::Now());
        double reportS = peer::Get(data + n - 4, 4) / 65536.0;
        auto seq = static_cast<uint16_t>(peer::Get(data + 12, 2));
        size_t blocks = std::min<size_t>(peer::Get(data + 14, 2) + 1, (n - HEADER_BYTES - 4) / 2);
        for (size_t i = 0; i < blocks; i++, seq++)
        {
            uint32_t block = peer::Get(data + HEADER_BYTES + 2 * i, 2);

            if (block & 0x8000 && (!started_ || After(seq, lastSeq_) > 0))
            {
                uint64_t at = Microseconds(reportS - (block & 0x1fff) / 1024.0);

                Start(seq, at);
                lastSeq_ = seq;
                batch.push_back({seq, std::min(at + offsetUs_, now - 1), 0});
            }
        }
        if (!batch.empty())
        {
            nada_.processFeedbackBatch(now, batch);
        }
    }

  private:
    /* The receiver's clock is not ours: as if the first packet had taken no time */
    void
    Start(uint16_t seq, uint64_t at)
    {
        if (!started_)
        {
            started_ = true;
            offsetUs_ = sentUs_[seq] - at;
            sentUs_.clear();
        }
    }

    int fd_;
    rmcat::NadaController nada_;
    std::deque<peer::Bytes> queue_;
    std::map<uint16_t, uint64_t> sentUs_; /* until the first report */
    uint64_t offsetUs_ = 0;
    double nextS_ = 0;
    bool started_ = false;
    uint16_t lastSeq_ = 0;
    uint16_t seq_ = 0;
    uint32_t timestamp_ = 0;
};

int
Send(int fd, const peer::Options& o)
{
    Sender sender(fd, o);

    return peer::SendFrames(fd, o.seconds, sender);
}

} // namespace

int
main(int argc, char** argv)
{
    return peer::Main(argc, argv, Receive, Send);
}
