/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_G711_H
#define FMX_G711_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ITU-T G.711, 8-bit companded audio; 16-bit linear on the other side. */
void fmx_g711_ulaw_decode (int16_t * out, const uint8_t * in, size_t n);
void fmx_g711_ulaw_encode (uint8_t * out, const int16_t * in, size_t n);
void fmx_g711_alaw_decode (int16_t * out, const uint8_t * in, size_t n);
void fmx_g711_alaw_encode (uint8_t * out, const int16_t * in, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* FMX_G711_H */
