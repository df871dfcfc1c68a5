/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TFMCC as NORM has it (RFC 4654, RFC 5740), a peer for tests/experiments/run.py:
 *
 *   g++ -O2 -o norm-tfmcc tests/peers/norm-tfmcc.cc -lnorm      (libnorm-dev)
 *   run.py --runner netns asmp-norm --peer norm-tfmcc=./norm-tfmcc
 *
 * norm-tfmcc recv NEAR PORT; norm-tfmcc send FAR PORT SECONDS LEAST_BPS MOST_BPS:
 * a stream that is always full, of which nothing is sent again. */
#include <normApi.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

namespace
{

constexpr UINT16 SEGMENT_BYTES = 1400;
constexpr UINT32 BUFFER_BYTES = 1 << 20;

double
Now()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* An acknowledgement that nobody asks for would be a repair: there is none. */
int
Receive(NormInstanceHandle instance, const char* far, UINT16 port)
{
    NormSessionHandle session = NormCreateSession(instance, far, port, 2);
    NormEvent event;

    NormSetDefaultUnicastNack(session, true);
    NormSetDefaultNackingMode(session, NORM_NACK_NONE);
    if (!NormStartReceiver(session, BUFFER_BYTES))
    {
        return 1;
    }
    while (NormGetNextEvent(instance, &event))
    {
        char data[65536];
        unsigned int size = sizeof data;

        if (event.type == NORM_RX_OBJECT_UPDATED)
        {
            while (NormStreamRead(event.object, data, &size) && size > 0)
            {
                size = sizeof data;
            }
        }
    }
    return 0;
}

void
Fill(NormObjectHandle stream)
{
    static const char data[SEGMENT_BYTES] = {};

    while (NormStreamWrite(stream, data, sizeof data) > 0)
    {
    }
}

int
Send(NormInstanceHandle instance, char** argv)
{
    NormSessionHandle session =
        NormCreateSession(instance, argv[2], static_cast<UINT16>(atoi(argv[3])), 1);
    double end = Now() + atof(argv[4]);
    NormObjectHandle stream;
    NormEvent event;

    NormSetTxRate(session, 64000);
    NormSetTxRateBounds(session, atof(argv[5]), atof(argv[6]));
    NormSetCongestionControl(session, true);
    if (!NormStartSender(session, 1, BUFFER_BYTES, SEGMENT_BYTES, 64, 0))
    {
        return 1;
    }
    stream = NormStreamOpen(session, BUFFER_BYTES);
    NormStreamSetPushEnable(stream, true);
    Fill(stream);
    while (Now() < end && NormGetNextEvent(instance, &event))
    {
        if (event.type == NORM_TX_QUEUE_VACANCY || event.type == NORM_TX_QUEUE_EMPTY)
        {
            Fill(stream);
        }
    }
    NormStopSender(session);
    return 0;
}

} // namespace

int
main(int argc, char** argv)
{
    NormInstanceHandle instance = NormCreateInstance();

    if (argc == 4 && strcmp(argv[1], "recv") == 0)
    {
        return Receive(instance, argv[2], static_cast<UINT16>(atoi(argv[3])));
    }
    return argc == 7 ? Send(instance, argv) : 2;
}
