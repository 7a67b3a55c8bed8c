/* The rotation of one body in a unit quaternion, as liestep/formulations/constrained/spin.py; and when Newton's method stops. */
#pragma once
#include "quaternions.h"

static inline vec mean_spin(bool energetic, const double *j, quat q0, quat v0, quat q1, quat v1)
{
    if (energetic) {
        const vec x = body_part(q0, v0), y = body_part(q1, v1);
        return (vec){j[0]*(x.x + y.x), j[1]*(x.y + y.y), j[2]*(x.z + y.z)};
    }
    const vec x = body_part(middle(q0, q1), middle(v0, v1));
    return (vec){2.0*j[0]*x.x, 2.0*j[1]*x.y, 2.0*j[2]*x.z};
}

/* x = 2 pbar - h dT and its derivative b (4, 4), alpha d/dq_1 + beta d/dv_1 */
static inline void spin_residual(const double *j, bool energetic, double h, quat q0, quat v0, quat q1, quat v1, double alpha,
                                 double beta, double *restrict x, double *restrict b)
{
    const quat qm = middle(q0, q1), vm = middle(v0, v1), c = combine(4.0, qm, 2.0*h, vm);
    const vec w = mean_spin(energetic, j, q0, v0, q1, v1);
    const quat d = energetic ? combine(beta, q1, -alpha, v1) : combine(beta, qm, -alpha, vm);
    const double half = 2.0*alpha + beta*h, w0 = half*w.x, w1 = half*w.y, w2 = half*w.z;
    const quat x0 = from_body(c, (vec){-j[0]*d.b, -j[1]*d.c, -j[2]*d.d}), x1 = from_body(c, (vec){j[0]*d.a, -j[1]*d.d, j[2]*d.c});
    const quat x2 = from_body(c, (vec){j[0]*d.d, j[1]*d.a, -j[2]*d.b}), x3 = from_body(c, (vec){-j[0]*d.c, j[1]*d.b, j[2]*d.a});
    put_quaternion(x, from_body(c, w));
    b[0] = x0.a; b[1] = x1.a - w0; b[2] = x2.a - w1; b[3] = x3.a - w2;
    b[4] = x0.b + w0; b[5] = x1.b; b[6] = x2.b + w2; b[7] = x3.b - w1;
    b[8] = x0.c + w1; b[9] = x1.c - w2; b[10] = x2.c; b[11] = x3.c + w0;
    b[12] = x0.d + w2; b[13] = x1.d + w1; b[14] = x2.d - w0; b[15] = x3.d;
}

static inline bool settled(double change, double previous, double size, double reach, double tolerance)
{
    return change*change <= tolerance*size*previous || (change <= 1e-12*fmax(size, reach) && change > 0.5*previous);
}

/* take u off x (4,); the largest of both */
static inline void correct(double *restrict x, const double *restrict u, double *change, double *size)
{
    *change = *size = 0.0;
    for (int i = 0; i < 4; i++) {
        x[i] -= u[i];
        *change = fmax(*change, fabs(u[i]));
        *size = fmax(*size, fabs(x[i]));
    }
}

static inline double largest(const double *x, int n)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) size = fabs(x[i]) > size || x[i] != x[i] ? fabs(x[i]) : size;
    return size;
}
