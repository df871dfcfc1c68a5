/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SCReAM as its authors' library has it (RFC 8298 and its second version), a peer for
 * tests/experiments (README.md there): an audio sender's frames of 20 ms, without their
 * sound, at the rate that it says, and the receiver's feedback (RFC 8888).
 *
 * Settings are those of the library's own programs, which have 50 frames a second, too: a
 * queue of 60 ms, feedback at the end of each frame.  As it advises where rates are low,
 * packets are smaller then: five in flight.  The rate counts RTP's header.  ECN is the
 * classic one, ECT(0). */
#include "peer.h"

#include <RtpQueue.h>
#include <ScreamRx.h>
#include <ScreamTx.h>

#include <deque>
#include <iterator>
#include <netinet/in.h>

namespace
{

constexpr float LOSS_BETA = 0.7f;
constexpr float ECN_BETA = 0.7f;
constexpr float QUEUE_S = 0.06f;
constexpr float START_RTT_S = 0.1f;
constexpr float PACING_HEADROOM = 1.5f;
constexpr float MOST_PACING_SCALE = 1.5f;
constexpr float IN_FLIGHT_HEADROOM = 2.0f;
constexpr float GROWTH = 0.05f;
constexpr float WINDOW_HEADROOM = 5.0f;
constexpr float MOST_WAIT_S = 0.2f; /* of a packet before it is sent */
constexpr int ECT_0 = 2;
constexpr int LEAST_IN_FLIGHT = 5; /* packets, of as many bytes of payload as: */
int packetBytes[] = {100, 200, 300, 500, 800, 1200};

/* In 1/65536 s; 0 is "never" in the library, and it begins soon after */
uint32_t
Ntp(double now)
{
    static const double START = now - 0.001;

    return static_cast<uint32_t>(static_cast<uint64_t>((now - START) * 65536));
}

struct Packet
{
    peer::Bytes data;
    uint16_t seq;
    uint32_t timestamp;
    bool last;
    float queuedS;
};

class Queue : public RtpQueueIface
{
  public:
    std::deque<Packet> packets;
    int lastFrame = 0;

    int
    clear() override
    {
        int n = sizeOfQueue();

        packets.clear();
        return n;
    }

    int
    sizeOfNextRtp() override
    {
        return packets.empty() ? -1 : static_cast<int>(packets.front().data.size());
    }

    int
    seqNrOfNextRtp() override
    {
        return packets.empty() ? -1 : packets.front().seq;
    }

    int
    seqNrOfLastRtp() override
    {
        return packets.empty() ? -1 : packets.back().seq;
    }

    int
    bytesInQueue() override
    {
        size_t sum = 0;

        for (const auto& packet : packets)
        {
            sum += packet.data.size();
        }
        return static_cast<int>(sum);
    }

    int
    sizeOfQueue() override
    {
        return static_cast<int>(packets.size());
    }

    float
    getDelay(float now) override
    {
        return packets.empty() ? 0 : now - packets.front().queuedS;
    }

    int
    getSizeOfLastFrame() override
    {
        return lastFrame;
    }
};

/* A packet and what its ECN field says; its size, or less than 0 */
ssize_t
Read(int fd, uint8_t* data, sockaddr_in* from, uint8_t* ecn)
{
    iovec part = {data, peer::BUFFER_BYTES};
    char control[CMSG_SPACE(sizeof(int))];
    msghdr m = {};
    ssize_t n;

    m.msg_name = from;
    m.msg_namelen = sizeof *from;
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    n = recvmsg(fd, &m, 0);
    *ecn = 0;
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); n >= 0 && c; c = CMSG_NXTHDR(&m, c))
    {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
        {
            *ecn = *CMSG_DATA(c) & 3;
        }
    }
    return n;
}

void
SendFeedback(int fd, ScreamRx& rx, const sockaddr_in& to, uint32_t now, bool mark)
{
    uint8_t data[peer::BUFFER_BYTES];
    int size = 0;
    bool made = rx.createStandardizedFeedback(now, mark, data, size);

    while (made)
    {
        sendto(fd, data, size, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        made = rx.isOooDetected() && rx.createStandardizedFeedbackOoo(now, false, data, size);
    }
}

int
Receive(int fd)
{
    ScreamRx rx(peer::SSRC + 1);
    sockaddr_in from = {};
    int on = 1;
    double due = peer::NEVER;

    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    for (;;)
    {
        uint8_t data[peer::BUFFER_BYTES];
        bool came = peer::Wait(fd, due);
        double now = peer::Now();
        uint32_t ntp = Ntp(now);
        bool mark = false;
        uint8_t ecn;
        ssize_t n = came ? Read(fd, data, &from, &ecn) : 0;

        if (n >= static_cast<ssize_t>(peer::RTP_BYTES))
        {
            mark = data[1] & 0x80;
            rx.receive(ntp,
                       data,
                       peer::SSRC,
                       static_cast<int>(n),
                       static_cast<uint16_t>(peer::Get(data + 2, 2)),
                       ecn,
                       mark,
                       peer::Get(data + 4, 4));
        }
        if (rx.isFeedback(ntp) && (mark || rx.checkIfFlushAck() || now >= due))
        {
            SendFeedback(fd, rx, from, ntp, true);
            due = peer::NEVER;
        }
        else if (rx.isFeedback(ntp) && due == peer::NEVER)
        {
            due = now + rx.getRtcpFbInterval() / 65536.0;
        }
    }
}

class Sender
{
  public:
    Sender(int fd, const peer::Options& o)
        : fd_(fd),
          tx_(LOSS_BETA,
              ECN_BETA,
              QUEUE_S,
              static_cast<int>(peer::START_BPS * START_RTT_S / 8),
              PACING_HEADROOM,
              MOST_PACING_SCALE,
              IN_FLIGHT_HEADROOM,
              GROWTH,
              false,
              WINDOW_HEADROOM)
    {
        int tos = ECT_0;

        setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
        tx_.setMssListMinPacketsInFlight(packetBytes, std::size(packetBytes), LEAST_IN_FLIGHT);
        tx_.registerNewStream(
            &queue_, peer::SSRC, 1, o.leastBps, peer::START_BPS, o.mostBps, MOST_WAIT_S, false);
    }

    void
    MakeFrame(double now)
    {
        uint32_t ntp = Ntp(now);
        float bps = tx_.getTargetBitrate(ntp, peer::SSRC);

        /* less than nothing asks a video encoder for a key frame */
        bps_ = bps > 0 ? bps : bps_;
        auto sizes = peer::FrameSizes(bps_, static_cast<size_t>(tx_.getRecommendedMss(ntp)));
        queue_.lastFrame = 0;
        for (size_t i = 0; i < sizes.size(); i++)
        {
            bool last = i + 1 == sizes.size();

            queue_.lastFrame += static_cast<int>(sizes[i]);
            queue_.packets.push_back({peer::RtpPacket(seq_, timestamp_, last, sizes[i]),
                                      seq_,
                                      timestamp_,
                                      last,
                                      ntp / 65536.0f});
            tx_.newMediaFrame(ntp, peer::SSRC, static_cast<int>(sizes[i]), last);
            seq_++;
        }
        timestamp_ += static_cast<uint32_t>(peer::FRAME_S * peer::CLOCK_RATE);
    }

    /* Sends what may be sent; when more may be, if nothing happens before */
    double
    Transmit()
    {
        for (;;)
        {
            double now = peer::Now();
            uint32_t ntp = Ntp(now);
            uint32_t ssrc;
            float wait = tx_.isOkToTransmit(ntp, ssrc);

            if (wait != 0)
            {
                return wait < 0 ? peer::NEVER : now + wait;
            }
            float delay = queue_.getDelay(ntp / 65536.0f);
            Packet p = std::move(queue_.packets.front());
            queue_.packets.pop_front();
            send(fd_, p.data.data(), p.data.size(), 0);
            tx_.addTransmitted(ntp,
                               peer::SSRC,
                               static_cast<int>(p.data.size()),
                               p.seq,
                               p.last,
                               delay,
                               p.timestamp);
        }
    }

    void
    TakeFeedback()
    {
        uint8_t data[peer::BUFFER_BYTES];
        /* an error is a port that nobody listens at yet */
        ssize_t n = recv(fd_, data, sizeof data, MSG_DONTWAIT);

        if (n > 0)
        {
            tx_.incomingStandardizedFeedback(Ntp(peer::Now()), data, static_cast<int>(n));
        }
    }

  private:
    int fd_;
    Queue queue_;
    ScreamV2Tx tx_;
    float bps_ = peer::START_BPS;
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
