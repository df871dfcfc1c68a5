/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_MIXER_PRIVATE_H
#define FMX_JOIN_MIXER_PRIVATE_H

#include "fairmix/join/fmx-join-mixer.h"

/* The mixer's end of the join protocol, among its files. */

/* fmx-join-mixer.c */
void fmx_join_mixer_clear (FmxJoinMixerResult * result);

/* fmx-join-mixer-hello.c: who comes */
bool fmx_join_mixer_is_full (FmxJoinMixer * mixer,
    const FmxJoinSession * session);
void fmx_join_mixer_refuse (FmxJoinMixerResult * result, const uint8_t * nonce,
    FmxJoinReason reason);
void fmx_join_mixer_on_hello (FmxJoinMixer * mixer, const FmxJoinAddress * from,
    const FmxJoinHello * hello, FmxJoinMixerResult * result, FmxTime now);
void fmx_join_mixer_on_join (FmxJoinMixer * mixer, const FmxJoinAddress * from,
    const FmxJoinJoin * join, FmxJoinMixerResult * result, FmxTime now);

/* fmx-join-mixer-control.c: who is there */
void fmx_join_mixer_free (FmxJoinMixer * mixer, FmxJoinSession * session);
void fmx_join_mixer_on_control (FmxJoinMixer * mixer,
    const FmxJoinAddress * from, const FmxJoinMessage * message,
    FmxJoinMixerResult * result, FmxTime now);

#endif /* FMX_JOIN_MIXER_PRIVATE_H */
