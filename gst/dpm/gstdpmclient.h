/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_CLIENT_H__
#define __GST_DPM_CLIENT_H__

#include "gstdpmnode.h"

G_BEGIN_DECLS

#define GST_TYPE_DPM_CLIENT (gst_dpm_client_get_type ())
G_DECLARE_FINAL_TYPE (GstDpmClient, gst_dpm_client, GST, DPM_CLIENT, GstDpmNode)

GST_ELEMENT_REGISTER_DECLARE (dpmclient);

G_END_DECLS

#endif /* __GST_DPM_CLIENT_H__ */
