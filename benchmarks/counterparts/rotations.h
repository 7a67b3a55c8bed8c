/* Rotations and rigid motions; the C counterpart of liestep/geometry/so3.py, se3.py and attitude.py. */
#pragma once
#include "vectors.h"

static inline vec quadratic(double x, double y, vec a, vec v)
{
    const vec first = cross(a, v), second = cross(a, first);
    return (vec){v.x + x*first.x + y*second.x, v.y + x*first.y + y*second.y, v.z + x*first.z + y*second.z};
}

static inline void coefficients(double z2, double *s, double *c, double *d)
{
    if (z2 < 0.25) {
        *s = 1.0 + z2*(-1.0/6.0 + z2*(1.0/120.0 + z2*(-1.0/5040.0 + z2*(1.0/362880.0 + z2*(-1.0/39916800.0
            + z2*(1.0/6227020800.0 - z2/1307674368000.0))))));
        *c = 0.5 + z2*(-1.0/24.0 + z2*(1.0/720.0 + z2*(-1.0/40320.0 + z2*(1.0/3628800.0 + z2*(-1.0/479001600.0
            + z2/87178291200.0)))));
        *d = 1.0/6.0 + z2*(-1.0/120.0 + z2*(1.0/5040.0 + z2*(-1.0/362880.0 + z2*(1.0/39916800.0 + z2*(-1.0/6227020800.0
            + z2/1307674368000.0)))));
    } else {
        const double z = sqrt(z2), half = sin(0.5*z);
        *s = sin(z)/z;
        *c = 2.0*half*half/z2;
        *d = (1.0 - *s)/z2;
    }
}

static inline void dexpinv_coefficients(double z2, double *g, double *slope)
{
    if (z2 < 0.5) {
        *g = 1.0/12.0 + z2*(1.0/720.0 + z2*(1.0/30240.0 + z2*(1.0/1209600.0 + z2*(1.0/47900160.0 + z2*(691.0/1307674368000.0
            + z2*(1.0/74724249600.0 + z2*(3617.0/10670622842880000.0 + z2*43867.0/5109094217170944000.0)))))));
        *slope = 1.0/360.0 + z2*(1.0/7560.0 + z2*(1.0/201600.0 + z2*(1.0/5987520.0 + z2*(691.0/130767436800.0
            + z2*(1.0/6227020800.0 + z2*(3617.0/762187345920000.0 + z2*(43867.0/319318388573184000.0
            + z2*(174611.0/44603203483238400000.0 + z2*77683.0/705055001969590272000.0))))))));
    } else {
        const double half = 0.5*sqrt(z2), sine = sin(half), cotangent = half*cos(half)/sine, ratio = half/sine;
        *g = (1.0 - cotangent)/z2;
        *slope = (ratio*ratio + cotangent - 2.0)/(z2*z2);
    }
}

/* (B, b) = dexpinv_(A, a) (B, b); false at a rotation by 2 pi */
static inline bool motion_dexpinv(vec A, vec a, vec *B, vec *b)
{
    double g, slope;
    dexpinv_coefficients(dot(A, A), &g, &slope);
    const vec rotation = cross(A, *B), translation = add(cross(A, *b), cross(a, *B)), x = cross(A, rotation);
    const vec y = add(cross(a, rotation), cross(A, translation));
    const double k = dot(A, a)*slope;
    *B = (vec){B->x - 0.5*rotation.x + g*x.x, B->y - 0.5*rotation.y + g*x.y, B->z - 0.5*rotation.z + g*x.z};
    *b = (vec){b->x - 0.5*translation.x + k*x.x + g*y.x, b->y - 0.5*translation.y + k*x.y + g*y.y,
               b->z - 0.5*translation.z + k*x.z + g*y.z};
    return dot(A, A) < 4.0*M_PI*M_PI;
}

/* Q^T u and Q v of an attitude whose rows are the body's axes in space */
static inline vec to_body(const double *q, vec u) { return (vec){dot(row(q, 0), u), dot(row(q, 1), u), dot(row(q, 2), u)}; }
static inline vec to_space(const double *q, vec v) { return axpy(v.x, row(q, 0), axpy(v.y, row(q, 1), scale(v.z, row(q, 2)))); }
