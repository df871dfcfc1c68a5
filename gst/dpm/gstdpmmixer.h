/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_MIXER_H__
#define __GST_DPM_MIXER_H__

#include "gstdpmnode.h"

G_BEGIN_DECLS

#define GST_TYPE_DPM_MIXER (gst_dpm_mixer_get_type ())
G_DECLARE_FINAL_TYPE (GstDpmMixer, gst_dpm_mixer, GST, DPM_MIXER, GstDpmNode)

GST_ELEMENT_REGISTER_DECLARE (dpmmixer);

G_END_DECLS

#endif /* __GST_DPM_MIXER_H__ */
