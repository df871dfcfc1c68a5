/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_WARPED_PLANE_H
#define FMX_WARPED_PLANE_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxVector:
 * @x, @y: along the surface
 * @z: up, away from it
 *
 * A place, or a displacement, in whatever unit of length the caller uses.
 */
typedef struct
{
  double x, y, z;
} FmxVector;

/**
 * FmxPlane:
 * @point: a place on it
 * @slope_x, @slope_y: how much it rises for each unit along x and y
 *
 * What a hand feels of a surface until the next measurement comes:
 * z = point.z + slope_x (x - point.x) + slope_y (y - point.y).
 */
typedef struct
{
  FmxVector point;
  double slope_x, slope_y;
} FmxPlane;

/**
 * fmx_plane_from_points:
 * @previous: the measurement before
 * @latest: the newest one, which is on the plane
 * @max_slope: steeper is not felt, > 0; two measurements of nearly one place
 *     say little about the slope
 *
 * The plane through both that is level across the way from one to the other:
 * "each new measurement from the microscope is combined with the previous
 * measurement to determine a plane that approximates the shape of the surface
 * near the two measurements".
 *
 * Source: nanoManipulator 2002, section 3.1.
 */
FmxPlane fmx_plane_from_points (FmxVector previous, FmxVector latest,
    double max_slope);

/**
 * fmx_plane_warp:
 * @displacement: of the hand, while the newest measurement was on its way
 *
 * The plane, moved along the surface with the hand: what the hand felt would be
 * under it then is under it now.  A surface that comes late is felt as late,
 * and as it is; unmoved, it is continued in a straight line to where the hand
 * has got meanwhile.  Only x and y of @displacement count: to move the plane
 * up with a hand that is lifted would make it follow the hand.
 *
 * Source: nanoManipulator 2002, section 3.1: "measures network latency and
 * determines the displacement of the user's hand that occurred while the
 * current tip position data was traveling over the network.  This same
 * displacement is then applied to the current plane approximation".
 */
FmxPlane fmx_plane_warp (const FmxPlane * plane, FmxVector displacement);

/** Returns: the plane's height at @place, whatever that one's z is */
double fmx_plane_height (const FmxPlane * plane, FmxVector place);

/**
 * fmx_plane_force:
 * @hand: where it is
 * @stiffness: force for each unit of length that the hand is inside, >= 0
 *
 * Returns: the force that pushes the hand out, along the plane's normal; none
 *     while the hand is above it
 */
FmxVector fmx_plane_force (const FmxPlane * plane, FmxVector hand,
    double stiffness);

#ifdef __cplusplus
}
#endif

#endif /* FMX_WARPED_PLANE_H */
