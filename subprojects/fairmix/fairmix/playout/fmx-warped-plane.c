/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/playout/fmx-warped-plane.h"

#include <assert.h>
#include <math.h>

FmxPlane
fmx_plane_from_points (FmxVector previous, FmxVector latest, double max_slope)
{
  double dx = latest.x - previous.x, dy = latest.y - previous.y;
  double way = sqrt (dx * dx + dy * dy);
  FmxPlane plane = {.point = latest };
  double slope;

  assert (max_slope > 0.0);

  if (way <= 0.0)
    return plane;
  slope = (latest.z - previous.z) / way;
  slope = fmax (-max_slope, fmin (max_slope, slope));
  plane.slope_x = slope * dx / way;
  plane.slope_y = slope * dy / way;
  return plane;
}

FmxPlane
fmx_plane_warp (const FmxPlane *plane, FmxVector displacement)
{
  FmxPlane warped = *plane;

  warped.point.x += displacement.x;
  warped.point.y += displacement.y;
  return warped;
}

double
fmx_plane_height (const FmxPlane *plane, FmxVector place)
{
  return plane->point.z + plane->slope_x * (place.x - plane->point.x)
      + plane->slope_y * (place.y - plane->point.y);
}

FmxVector
fmx_plane_force (const FmxPlane *plane, FmxVector hand, double stiffness)
{
  /* how far it is inside, at right angles to the plane */
  double length = sqrt (1.0 + plane->slope_x * plane->slope_x
      + plane->slope_y * plane->slope_y);
  double depth = (fmx_plane_height (plane, hand) - hand.z) / length;
  FmxVector force = { 0.0, 0.0, 0.0 };

  assert (stiffness >= 0.0);

  if (!(depth > 0.0))
    return force;
  force.x = -plane->slope_x / length * depth * stiffness;
  force.y = -plane->slope_y / length * depth * stiffness;
  force.z = depth / length * stiffness;
  return force;
}
