/* SPDX-License-Identifier: GPL-2.0-only */
/* What each of these programs takes from ns-3, compiled once. */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
