/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What scream.cc and nada.cc have in common: an audio sender's frames, its socket, and
 * waiting for whatever comes first. */
#ifndef TESTS_PEERS_PEER_H
#define TESTS_PEERS_PEER_H

#include <algorithm>
#include <arpa/inet.h>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

namespace peer
{

constexpr double FRAME_S = 0.02;
constexpr double START_BPS = 64000;
constexpr double NEVER = 1e300;
constexpr double MOST_WAIT_S = 3600;
constexpr int64_t SECOND_NS = 1000000000;
constexpr int64_t LEAST_WAIT_NS = 1000;
constexpr uint32_t SSRC = 0x1000;
constexpr uint32_t CLOCK_RATE = 90000; /* of RTP timestamps: SCReAM reckons with it */
constexpr size_t RTP_BYTES = 12;
constexpr size_t MOST_BYTES = 1200; /* of a packet's payload */
constexpr size_t BUFFER_BYTES = 2048;

using Bytes = std::vector<uint8_t>;

struct Options
{
    sockaddr_in address;
    double seconds;
    float leastBps;
    float mostBps;
};

inline double
Now()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

inline void
Put(Bytes& out, uint32_t value, int bytes)
{
    while (bytes-- > 0)
    {
        out.push_back(static_cast<uint8_t>(value >> (8 * bytes)));
    }
}

inline uint32_t
Get(const uint8_t* data, int bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0)
    {
        value = value << 8 | *data++;
    }
    return value;
}

/* A packet of @size bytes, RTP's header included; @last: of its frame */
inline Bytes
RtpPacket(uint16_t seq, uint32_t timestamp, bool last, size_t size)
{
    Bytes out;

    Put(out, 0x80, 1);
    Put(out, 96 | (last ? 0x80 : 0), 1);
    Put(out, seq, 2);
    Put(out, timestamp, 4);
    Put(out, SSRC, 4);
    out.resize(size);
    return out;
}

/* The sizes of a frame's packets at @bps, RTP's headers included: never none */
inline std::vector<size_t>
FrameSizes(double bps, size_t mostPayload)
{
    size_t left = std::max<size_t>(static_cast<size_t>(bps * FRAME_S / 8), RTP_BYTES + 1);
    std::vector<size_t> out;

    while (left > RTP_BYTES)
    {
        out.push_back(std::min(left, mostPayload + RTP_BYTES));
        left -= out.back();
    }
    return out;
}

/* Waits until @untilS or until there is something to read; whether there is */
inline bool
Wait(int fd, double untilS)
{
    pollfd p = {fd, POLLIN, 0};
    double left = std::min(untilS - Now(), MOST_WAIT_S);
    /* never less than asked for: who comes back too early asks again, and time stands still */
    auto ns = left > 0 ? static_cast<int64_t>(left * 1e9) + LEAST_WAIT_NS : 0;
    timespec t = {static_cast<time_t>(ns / SECOND_NS), static_cast<long>(ns % SECOND_NS)};

    return ppoll(&p, 1, &t, nullptr) > 0;
}

inline int
Socket(const sockaddr_in& address, bool receives)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    auto a = reinterpret_cast<const sockaddr*>(&address);
    int failed =
        fd < 0 || (receives ? bind(fd, a, sizeof address) : connect(fd, a, sizeof address));

    if (failed)
    {
        perror("socket");
        exit(1);
    }
    return fd;
}

/* Has a frame made each 20 ms, and what may leave sent, for so long */
template <typename Sender>
int
SendFrames(int fd, double seconds, Sender& sender)
{
    double frame = Now();
    double end = frame + seconds;
    double more = NEVER;

    while (Now() < end)
    {
        if (Wait(fd, std::min(frame, more)))
        {
            sender.TakeFeedback();
        }
        if (Now() >= frame)
        {
            sender.MakeFrame(Now());
            frame += FRAME_S;
        }
        more = sender.Transmit();
    }
    return 0;
}

/* `recv NEAR PORT`, `send FAR PORT SECONDS LEAST_BPS MOST_BPS` or `version`;
 * LIBRARY is for whoever builds this to say what it was built with. */
inline int
Main(int argc, char** argv, int (*receive)(int fd), int (*send)(int fd, const Options&))
{
    Options o = {};
    bool receives = argc == 4 && strcmp(argv[1], "recv") == 0;

#ifdef LIBRARY
    if (argc == 2 && strcmp(argv[1], "version") == 0)
    {
        std::cout << LIBRARY << std::endl;
        return 0;
    }
#endif
    if (!receives && (argc != 7 || strcmp(argv[1], "send") != 0))
    {
        return 2;
    }
    o.address.sin_family = AF_INET;
    o.address.sin_port = htons(static_cast<uint16_t>(atoi(argv[3])));
    if (receives)
    {
        return receive(Socket(o.address, true));
    }
    inet_pton(AF_INET, argv[2], &o.address.sin_addr);
    o.seconds = atof(argv[4]);
    o.leastBps = static_cast<float>(atof(argv[5]));
    o.mostBps = static_cast<float>(atof(argv[6]));
    return send(Socket(o.address, false), o);
}

} // namespace peer

#endif
