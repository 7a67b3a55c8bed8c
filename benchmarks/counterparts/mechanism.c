/* Classical Runge-Kutta steps of a mechanism in local coordinates, quaternions, exponential chart: the C counterpart of
   liestep/formulations/multibody and geometry/groups/poses.py for joints of points and directions, native velocities. With
   -DSE3=1 on SE(3)^n, else on (SO(3) x R^3)^n. With -DDENSE=1 accelerations come from the whole system of size 6n + m by
   elimination with pivoting instead of range space. Arrays are those of `Mechanism`; state rows have four numbers. -DALPHA=1 makes the steps of
   generalized_alpha.h instead. */
#include "rotations.h"

enum { BODY = 8, GROUP = 7, MOVING = 9, PLACE = 3, RATE = 4, TURN = 5, VELOCITY = 6, SPIN = 7, PUSH = 8, DIRECTION = 1 };

typedef struct { double w, x, y, z; } quaternion;
typedef struct {
    int64_t n, groups, rows, width;
    const double *c;
    const int64_t *table, *first, *place;
    double *s, *band, *vectors, *column, *dense;
} mechanism;

static inline vec row4(const double *y, int64_t i) { return (vec){y[4*i], y[4*i + 1], y[4*i + 2]}; }
static inline void put4(double *y, int64_t i, vec v) { y[4*i] = v.x; y[4*i + 1] = v.y; y[4*i + 2] = v.z; }
static inline vec times(const double *a, int64_t i, vec v) { return (vec){dot(row(a, i), v), dot(row(a, i + 1), v), dot(row(a, i + 2), v)}; }
static inline vec across(const double *a, int64_t i, vec v) { return to_space(a + 3*i, v); }

static inline quaternion multiply(quaternion p, quaternion q)
{
    return (quaternion){p.w*q.w - p.x*q.x - p.y*q.y - p.z*q.z, p.w*q.x + p.x*q.w + p.y*q.z - p.z*q.y,
                        p.w*q.y - p.x*q.z + p.y*q.w + p.z*q.x, p.w*q.z + p.x*q.y - p.y*q.x + p.z*q.w};
}

static inline vec rotate(quaternion q, vec v)
{
    const vec p = {q.x, q.y, q.z}, t = scale(2.0, cross(p, v));
    return add(axpy(q.w, t, v), cross(p, t));
}

static inline quaternion rotation(vec x)
{
    const double z2 = dot(x, x);
    double c, s;
    if (z2 < 0.25) {
        const double q = 0.25*z2;
        c = 1.0 + q*(-0.5 + q*(1.0/24.0 + q*(-1.0/720.0 + q*(1.0/40320.0 + q*(-1.0/3628800.0 + q/479001600.0)))));
        s = 0.5 + q*(-1.0/12.0 + q*(1.0/240.0 + q*(-1.0/10080.0 + q*(1.0/725760.0 - q/79833600.0))));
    } else {
        const double z = sqrt(z2);
        c = cos(0.5*z);
        s = sin(0.5*z)/z;
    }
    return (quaternion){c, s*x.x, s*x.y, s*x.z};
}

static void read(const mechanism *m, const double *y)
{
    for (int64_t i = 0; i < m->n; i++) {
        const double *q = y + 16*i;
        const double w = q[0], x = q[1], v = q[2], z = q[3];
        double *s = m->s + 3*MOVING*i;
        put(s, 0, (vec){1.0 - 2.0*(v*v + z*z), 2.0*(x*v + w*z), 2.0*(x*z - w*v)});
        put(s, 1, (vec){2.0*(x*v - w*z), 1.0 - 2.0*(x*x + z*z), 2.0*(v*z + w*x)});
        put(s, 2, (vec){2.0*(x*z + w*v), 2.0*(v*z - w*x), 1.0 - 2.0*(x*x + v*v)});
        const vec centre = row(m->c, BODY*i + 7), rate = row4(y, 4*i + 2);
        vec velocity = row4(y, 4*i + 3);
#if SE3
        velocity = across(s, 0, velocity);
#endif
        put(s, PLACE, add(row4(y, 4*i + 1), across(s, 0, centre)));
        put(s, RATE, rate);
        put(s, TURN, across(s, 0, rate));
        put(s, VELOCITY, add(velocity, across(s, 0, cross(rate, centre))));
    }
}

static void joints(const mechanism *m)
{
    double *s = m->s;
    const int64_t base = MOVING*(m->n + 1);
    for (int64_t j = 0; j < m->groups; j++) {
        const int64_t *t = m->table + 6*j, start = t[3];
        const double *c = m->c + 3*(BODY*m->n + 1 + GROUP*j);
        if (t[0] == DIRECTION) {
            const int64_t a = MOVING*t[1], b = MOVING*t[2];
            const vec u = across(s, a, row(c, 2)), v = across(s, b, row(c, 3)), wa = row(s, a + TURN), wb = row(s, b + TURN);
            const vec normal = cross(u, v);
            m->vectors[start] = dot(sub(wa, wb), add(cross(cross(wa, u), v), cross(u, cross(wb, v))));
            const int64_t here = base + 3*t[4], there = base + 3*t[5];
            put(s, here, (vec){0.0, 0.0, 0.0});
            put(s, here + 1, times(s, a, normal));
            put(s, there, (vec){0.0, 0.0, 0.0});
            put(s, there + 1, times(s, b, scale(-1.0, normal)));
            continue;
        }
        vec bent = {0.0, 0.0, 0.0};
        for (int side = 0; side < 2; side++) {
            const int64_t i = MOVING*t[1 + side], at = base + 3*t[4 + side];
            const double sign = 1.0 - 2.0*side;
            const vec arm = row(c, side), w = row(s, i + RATE);
            bent = axpy(sign, across(s, i, cross(w, cross(w, arm))), bent);
            for (int k = 0; k < 3; k++) {
                const vec axis = {s[3*i + k], s[3*i + 3 + k], s[3*i + 6 + k]};
                put(s, at + 3*k, (vec){k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0});
                put(s, at + 3*k + 1, scale(sign, cross(arm, axis)));
            }
        }
        for (int k = 0; k < 3; k++) m->vectors[start + k] = component(bent, k);
    }
}

static bool in_range_space(const mechanism *m)
{
    double *s = m->s, *b = m->vectors;
    const int64_t base = MOVING*(m->n + 1), size = m->rows, width = m->width;
    memset(m->band, 0, size*(width + 1)*sizeof(double));
    for (int64_t i = 0; i < m->n; i++) {
        const double *c = m->c + 3*BODY*i;
        const int64_t start = m->first[i], end = m->first[i + 1];
        for (int64_t k = start; k < end; k++) {
            const int64_t at = base + 3*k, p = m->place[k];
            const vec force = row(s, at), torque = row(s, at + 1);
            b[p] += dot(torque, row(s, MOVING*i + SPIN)) + dot(force, row(s, MOVING*i + PUSH));
            const vec turned = times(c, 4, torque), weighed = scale(c[1], force);
            put(s, at + 2, turned);
            for (int64_t q = start; q < end; q++) {
                const int64_t o = m->place[q], to = base + 3*q;
                if (o <= p) m->band[p*(width + 1) + o - p + width] += dot(turned, row(s, to + 1)) + dot(weighed, row(s, to));
            }
        }
    }
    for (int64_t k = 0; k < size; k++) {
        double *pivot = m->band + k*(width + 1) + width;
        if (*pivot <= 0.0) return false;
        const double inverse = 1.0/ *pivot;
        const int64_t last = size < k + width + 1 ? size : k + width + 1;
        for (int64_t i = k + 1; i < last; i++) m->column[i] = m->band[i*(width + 1) + k - i + width];
        for (int64_t i = k + 1; i < last; i++) {
            const double ratio = m->column[i]*inverse;
            double *line = m->band + i*(width + 1) + width - i;
            for (int64_t j = k + 1; j <= i; j++) line[j] -= ratio*m->column[j];
            line[k] = ratio;
        }
    }
    for (int64_t i = 0; i < size; i++) {
        const double *line = m->band + i*(width + 1) + width - i;
        double value = b[i];
        for (int64_t j = i > width ? i - width : 0; j < i; j++) value -= line[j]*b[j];
        b[i] = value;
    }
    for (int64_t i = 0; i < size; i++) b[i] /= m->band[i*(width + 1) + width];
    for (int64_t i = size - 1; i >= 0; i--) {
        const double *line = m->band + i*(width + 1) + width - i;
        for (int64_t j = i > width ? i - width : 0; j < i; j++) b[j] -= line[j]*b[i];
    }
    for (int64_t i = 0; i < m->n; i++) {
        vec spin = row(s, MOVING*i + SPIN), push = {0.0, 0.0, 0.0};
        for (int64_t k = m->first[i]; k < m->first[i + 1]; k++) {
            const double value = -b[m->place[k]];
            spin = axpy(value, row(s, base + 3*k + 2), spin);
            push = axpy(value, row(s, base + 3*k), push);
        }
        put(s, MOVING*i + SPIN, spin);
        put(s, MOVING*i + PUSH, axpy(m->c[3*BODY*i + 1], push, row(s, MOVING*i + PUSH)));
    }
    return true;
}

/* [M, A^T; A, 0] (dV/dt, lambda) = (f, -gamma), about the centres of mass, by elimination with partial pivoting */
static bool by_elimination(const mechanism *m)
{
    double *s = m->s, *a = m->dense;
    const int64_t base = MOVING*(m->n + 1), n = 6*m->n, size = n + m->rows, wide = size + 1;
    memset(a, 0, size*wide*sizeof(double));
    for (int64_t i = 0; i < m->n; i++) {
        const double *c = m->c + 3*BODY*i;
        const vec spin = times(c, 1, row(s, MOVING*i + SPIN)), push = scale(c[0], row(s, MOVING*i + PUSH));
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++) a[(6*i + k)*wide + 6*i + j] = c[3*(1 + k) + j];
            a[(6*i + 3 + k)*wide + 6*i + 3 + k] = c[0];
            a[(6*i + k)*wide + size] = component(spin, k);
            a[(6*i + 3 + k)*wide + size] = component(push, k);
        }
        for (int64_t k = m->first[i]; k < m->first[i + 1]; k++) {
            const int64_t p = n + m->place[k];
            for (int j = 0; j < 3; j++) {
                a[p*wide + 6*i + j] = a[(6*i + j)*wide + p] = component(row(s, base + 3*k + 1), j);
                a[p*wide + 6*i + 3 + j] = a[(6*i + 3 + j)*wide + p] = component(row(s, base + 3*k), j);
            }
        }
    }
    for (int64_t k = 0; k < m->rows; k++) a[(n + k)*wide + size] = -m->vectors[k];
    for (int64_t k = 0; k < size; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < size; i++) if (fabs(a[i*wide + k]) > fabs(a[best*wide + k])) best = i;
        if (a[best*wide + k] == 0.0) return false;
        if (best != k) for (int64_t j = k; j <= size; j++) {
            const double kept = a[k*wide + j];
            a[k*wide + j] = a[best*wide + j];
            a[best*wide + j] = kept;
        }
        for (int64_t i = k + 1; i < size; i++) {
            const double ratio = a[i*wide + k]/a[k*wide + k];
            for (int64_t j = k + 1; j <= size; j++) a[i*wide + j] -= ratio*a[k*wide + j];
        }
    }
    for (int64_t k = size - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < size; j++) a[k*wide + size] -= a[k*wide + j]*a[j*wide + size];
        a[k*wide + size] /= a[k*wide + k];
    }
    for (int64_t i = 0; i < m->n; i++) {
        const double *x = a + size;
        put(s, MOVING*i + SPIN, (vec){x[(6*i)*wide], x[(6*i + 1)*wide], x[(6*i + 2)*wide]});
        put(s, MOVING*i + PUSH, (vec){x[(6*i + 3)*wide], x[(6*i + 4)*wide], x[(6*i + 5)*wide]});
    }
    return true;
}

static bool algebra(const mechanism *m, const double *y, double *out)
{
    double *s = m->s;
    read(m, y);
    for (int64_t i = 0; i < m->n; i++) {
        const double *c = m->c + 3*BODY*i;
        const vec w = row(s, MOVING*i + RATE);
        put(s, MOVING*i + SPIN, times(c, 4, cross(times(c, 1, w), w)));
        put(s, MOVING*i + PUSH, row(m->c, BODY*m->n));
    }
    for (int64_t k = 0; k < m->rows; k++) m->vectors[k] = 0.0;
    if (m->rows > 0) {
        joints(m);
        if (!(DENSE ? by_elimination(m) : in_range_space(m))) return false;
    }
    for (int64_t i = 0; i < m->n; i++) {
        const vec w = row(s, MOVING*i + RATE), u = row4(y, 4*i + 3), centre = row(m->c, BODY*i + 7);
        const vec spin = row(s, MOVING*i + SPIN), push = row(s, MOVING*i + PUSH);
        const vec far = add(cross(spin, centre), cross(w, cross(w, centre)));
        put(out, 4*i, w);
        put(out, 4*i + 1, u);
        put(out, 4*i + 2, spin);
        put(out, 4*i + 3, SE3 ? sub(sub(times(s, MOVING*i, push), far), cross(w, u)) : sub(push, across(s, MOVING*i, far)));
    }
    return true;
}

static void act(int64_t n, const double *xi, const double *y, double *out)
{
    for (int64_t i = 0; i < n; i++) {
        const vec x = row(xi, 4*i);
        vec move = row(xi, 4*i + 1);
        const quaternion q = rotation(x), old = {y[16*i], y[16*i + 1], y[16*i + 2], y[16*i + 3]};
#if SE3
        double s, c, d;
        coefficients(dot(x, x), &s, &c, &d);
        move = rotate(old, quadratic(c, d, x, move));
#endif
        const quaternion new = multiply(old, q);
        out[16*i] = new.w; out[16*i + 1] = new.x; out[16*i + 2] = new.y; out[16*i + 3] = new.z;
        put4(out, 4*i + 1, add(row4(y, 4*i + 1), move));
        put4(out, 4*i + 2, add(row4(y, 4*i + 2), row(xi, 4*i + 2)));
        put4(out, 4*i + 3, add(row4(y, 4*i + 3), row(xi, 4*i + 3)));
    }
}

static bool dexpinv(int64_t n, const double *sigma, double *v)
{
    bool ok = true;
    for (int64_t i = 0; i < n; i++) {
        vec B = row(v, 4*i), b = SE3 ? row(v, 4*i + 1) : (vec){0.0, 0.0, 0.0};
        ok = motion_dexpinv(scale(-1.0, row(sigma, 4*i)), SE3 ? scale(-1.0, row(sigma, 4*i + 1)) : b, &B, &b) && ok;
        put(v, 4*i, B);
        if (SE3) put(v, 4*i + 1, b);
    }
    return ok;
}

#if ALPHA
#include "generalized_alpha.h"
#else
/* `steps` steps on y; dense: (6n + m)(6n + m + 1) numbers of scratch. Returns 0 or a status. */
int run(int64_t n, int64_t groups, int64_t size, int64_t width, const double *c, const int64_t *table, const int64_t *first,
        const int64_t *place, double *s, double *band, double *vectors, double *column, double *dense, double *y, double h,
        int64_t steps)
{
    const mechanism m = {n, groups, size, width, c, table, first, place, s, band, vectors, column, dense};
    double *k[4], *sigma = rows(4*n), *state = memory(16*n*sizeof(double));
    for (int i = 0; i < 4; i++) k[i] = rows(4*n);
    int status = 0;
    for (int64_t step = 0; step < steps && !status; step++) {
        if (!algebra(&m, y, k[0])) status = 1;
        for (int i = 1; i < 4 && !status; i++) {
            const double share = i < 3 ? 0.5*h : h;
            for (int64_t j = 0; j < 12*n; j++) sigma[j] = share*k[i - 1][j];
            act(n, sigma, y, state);
            if (!algebra(&m, state, k[i]) || !dexpinv(n, sigma, k[i])) status = 1;
        }
        for (int64_t j = 0; j < 12*n; j++) sigma[j] = h/6.0*(k[0][j] + 2.0*k[1][j] + 2.0*k[2][j] + k[3][j]);
        act(n, sigma, y, y);
    }
    release();
    return status;
}
#endif
