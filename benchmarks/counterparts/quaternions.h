/* Quaternions by value, scalar part first; the C counterpart of liestep/geometry/quaternion.py. */
#pragma once
#include "rotations.h"

typedef struct { double a, b, c, d; } quat;

static inline quat quaternion(const double *x) { return (quat){x[0], x[1], x[2], x[3]}; }
static inline double inner(quat p, quat q) { return p.a*q.a + p.b*q.b + p.c*q.c + p.d*q.d; }
static inline quat middle(quat p, quat q) { return (quat){0.5*(p.a + q.a), 0.5*(p.b + q.b), 0.5*(p.c + q.c), 0.5*(p.d + q.d)}; }
static inline quat combine(double s, quat p, double t, quat q)
{
    return (quat){s*p.a + t*q.a, s*p.b + t*q.b, s*p.c + t*q.c, s*p.d + t*q.d};
}
static inline vec body_part(quat p, quat q)
{
    return (vec){-p.b*q.a + p.a*q.b + p.d*q.c - p.c*q.d, -p.c*q.a - p.d*q.b + p.a*q.c + p.b*q.d,
                 -p.d*q.a + p.c*q.b - p.b*q.c + p.a*q.d};
}
static inline quat from_body(quat p, vec w)
{
    return (quat){-p.b*w.x - p.c*w.y - p.d*w.z, p.a*w.x - p.d*w.y + p.c*w.z, p.d*w.x + p.a*w.y - p.b*w.z,
                  -p.c*w.x + p.b*w.y + p.a*w.z};
}
static inline vec space_part(quat p, quat q)
{
    return (vec){-p.b*q.a + p.a*q.b - p.d*q.c + p.c*q.d, -p.c*q.a + p.d*q.b + p.a*q.c - p.b*q.d,
                 -p.d*q.a - p.c*q.b + p.b*q.c + p.a*q.d};
}
static inline quat from_space(quat p, vec w)
{
    return (quat){-p.b*w.x - p.c*w.y - p.d*w.z, p.a*w.x + p.d*w.y - p.c*w.z, -p.d*w.x + p.a*w.y + p.b*w.z,
                  p.c*w.x - p.b*w.y + p.a*w.z};
}
static inline vec turned_by(quat q, vec x) { return space_part(q, from_body(q, x)); }
/* quaternion of the rotation vector u less one */
static inline quat exponential(vec u)
{
    double s, c, d;
    const double z2 = 0.25*dot(u, u);
    coefficients(z2, &s, &c, &d);
    return (quat){-c*z2, 0.5*s*u.x, 0.5*s*u.y, 0.5*s*u.z};
}
static inline double unit_defect(quat q) { return 0.5*(((q.a*q.a - 1.0) + q.b*q.b) + q.c*q.c + q.d*q.d); }
static inline quat left(quat p, quat q)
{
    const vec u = {p.b, p.c, p.d}, v = {q.b, q.c, q.d}, w = axpy(p.a, v, axpy(q.a, u, cross(u, v)));
    return (quat){p.a*q.a - dot(u, v), w.x, w.y, w.z};
}
static inline quat left_transposed(quat q, quat p)
{
    const vec g = body_part(q, p);
    return (quat){inner(q, p), g.x, g.y, g.z};
}
static inline quat right_transposed(quat y, quat p)
{
    const quat x = from_body(p, (vec){y.b, y.c, y.d});
    return (quat){y.a*p.a - x.a, y.a*p.b - x.b, y.a*p.c - x.c, y.a*p.d - x.d};
}
static inline quat times(quat k, quat x) { return (quat){k.a*x.a, k.b*x.b, k.c*x.c, k.d*x.d}; }
static inline quat unit(int k) { return (quat){k == 0, k == 1, k == 2, k == 3}; }
static inline void put_quaternion(double *x, quat q) { x[0] = q.a; x[1] = q.b; x[2] = q.c; x[3] = q.d; }
