/* Livens' energy-momentum step of jointed bodies for d and lambda, as ReducedStep of liestep/integrators/_livens_steps.py.
   method: rule (0 midpoint), tolerance, iterations. */
#include "linalg.h"

typedef struct {
    double *r, *a, *d, *q1, *v1, *qm, *near, *end, *lambda, tolerance;
    int64_t *pivots, iterations, done;
    bool energetic;
} step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes; (void)n;
    step_t s = {.energetic = method[0][0] > 0.0, .tolerance = method[1][0], .iterations = (int64_t)method[2][0]};
    return s;
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n)
{
    const int64_t u = p.size + p.bonds;
    (void)y; (void)n;
    s->r = memory(u*sizeof(double));
    s->a = memory(u*u*sizeof(double));
    s->pivots = memory(u*sizeof(int64_t));
    double **parts[4] = {&s->d, &s->q1, &s->v1, &s->qm};
    for (int k = 0; k < 4; k++) *parts[k] = memory(p.size*sizeof(double));
    s->near = memory(p.bonds*p.size*sizeof(double));
    s->end = memory(p.bonds*p.size*sizeof(double));
    s->lambda = memory(p.bonds*sizeof(double));
}

/* [1, 2 E(q) X^-] times the sign */
static inline void end_slopes(const double *q, vec x, double sign, int64_t n, double *restrict out)
{
    const quat a = quaternion(q + 3);
    for (int k = 0; k < 3; k++) out[k*n + k] += sign;
    for (int k = 0; k < 4; k++) {
        const vec column = space_part(a, from_body(unit(k), x));
        out[3 + k] += 2.0*sign*column.x;
        out[n + 3 + k] += 2.0*sign*column.y;
        out[2*n + 3 + k] += 2.0*sign*column.z;
    }
}

static inline void slopes(problem_t p, const double *q, double *restrict out)
{
    const int64_t n = p.size;
    for (int64_t k = 0; k < p.bonds*n; k++) out[k] = 0.0;
    for (int64_t b = 0; b < p.bodies; b++)
        for (int64_t k = BODY*b + 3; k < BODY*b + 7; k++) out[b*n + k] = q[k];
    for (int64_t j = 0; j < p.joints; j++) {
        const int64_t one = BODY*p.first[j], two = BODY*p.second[j];
        double *place = out + (p.bodies + 3*j)*n;
        end_slopes(q + one, row(p.arm, j), 1.0, n, place + one);
        if (two >= 0) end_slopes(q + two, row(p.other, j), -1.0, n, place + two);
    }
}

static inline void end_bend(vec x, vec mu, int64_t u, double *restrict a)
{
    for (int k = 0; k < 4; k++) {
        const quat column = from_body(from_space(unit(k), mu), x);
        a[k] -= 2.0*column.a;
        a[u + k] -= 2.0*column.b;
        a[2*u + k] -= 2.0*column.c;
        a[3*u + k] -= 2.0*column.d;
    }
}

static inline void constraints(problem_t p, const double *q, double *restrict out)
{
    for (int64_t b = 0; b < p.bodies; b++) out[b] = unit_defect(quaternion(q + BODY*b + 3));
    for (int64_t j = 0; j < p.joints; j++) {
        const int64_t one = BODY*p.first[j], two = BODY*p.second[j];
        vec gap = end_of(q + one, row(p.arm, j)), x = row(p.other, j);
        if (two >= 0) {
            x = turned_by(quaternion(q + two + 3), x);
            gap = sub(gap, row(q + two, 0));
        }
        put(out + p.bodies, j, sub(gap, x));
    }
}

static inline void move(step_t *s, problem_t p, const double *restrict y)
{
    for (int64_t i = 0; i < p.size; i++) {
        s->q1[i] = y[i] + s->d[i];
        s->qm[i] = y[i] + 0.5*s->d[i];
    }
}

static inline void equations(step_t *s, problem_t p, const double *restrict y, double t, double h)
{
    const int64_t n = p.size, m = p.bonds, u = n + m;
    double *restrict r = s->r, *restrict a = s->a, x[4], b[16];
    const double *v = y + p.row, beta = 2.0/h;
    for (int64_t i = 0; i < u; i++) r[i] = 0.0;
    for (int64_t i = 0; i < u*u; i++) a[i] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        s->v1[i] = 2.0/h*s->d[i] - v[i];
        r[i] = -2.0*y[2*p.row + i];
    }
    for (int64_t body = 0; body < p.bodies; body++) {
        const int64_t i = BODY*body;
        for (int64_t k = i; k < i + 3; k++) {
            r[k] += p.mass[body]*(v[k] + s->v1[k]);
            a[k*u + k] += beta*p.mass[body];
        }
        spin_residual(p.inertia + 3*body, s->energetic, h, quaternion(y + i + 3), quaternion(v + i + 3),
                      quaternion(s->q1 + i + 3), quaternion(s->v1 + i + 3), 1.0, beta, x, b);
        for (int k = 0; k < 4; k++) {
            r[i + 3 + k] += x[k];
            for (int c = 0; c < 4; c++) a[(i + 3 + k)*u + i + 3 + c] += b[4*k + c];
        }
    }
    for (int64_t body = 0; body < p.bodies; body++)
        for (int k = 0; k < 3; k++) r[BODY*body + k] -= h*p.mass[body]*p.gravity[k];
    const double f = load_at(p.peak, t + 0.5*h);
    if (f > 0.0) {
        const vec torque = {6.0*f, 0.0, 0.0};
        r[0] -= h*8.0*f;
        put_quaternion(x, from_space(middle(quaternion(y + 3), quaternion(s->q1 + 3)), torque));
        for (int k = 0; k < 4; k++) {
            r[3 + k] -= 2.0*h*x[k];
            put_quaternion(b, from_space(unit(k), torque));
            for (int i = 0; i < 4; i++) a[(3 + i)*u + 3 + k] -= h*b[i];
        }
    }
    for (int64_t body = 0; body < p.bodies; body++)
        for (int64_t k = BODY*body + 3; k < BODY*body + 7; k++) a[k*u + k] += 0.5*h*s->lambda[body];
    for (int64_t j = 0; j < p.joints; j++) {
        const int64_t one = BODY*p.first[j] + 3, two = BODY*p.second[j] + 3;
        const vec mu = scale(0.5*h, row(s->lambda + p.bodies, j));
        end_bend(row(p.arm, j), mu, u, a + one*u + one);
        if (two >= 3) end_bend(row(p.other, j), scale(-1.0, mu), u, a + two*u + two);
    }
    slopes(p, s->qm, s->near);
    slopes(p, s->q1, s->end);
    constraints(p, s->q1, r + n);
    for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < n; i++) {
            const double slope = h*s->near[k*n + i];
            r[i] += slope*s->lambda[k];
            a[i*u + n + k] = slope;
            a[(n + k)*u + i] = s->end[k*n + i];
        }
}

static inline int finish(step_t *s, problem_t p, double *restrict y, double t, double h)
{
    double *v = y + p.row, *push = y + 2*p.row;
    for (int64_t body = 0; body < p.bodies; body++) {
        const quat qm = middle(quaternion(y + BODY*body + 3), quaternion(s->q1 + BODY*body + 3));
        if (!(inner(qm, qm) >= 0.05)) return 4;
    }
    for (int64_t i = 0; i < p.size; i++) s->v1[i] = 2.0/h*s->d[i] - v[i];
    const double f = load_at(p.peak, t + 0.5*h);
    const quat a = quaternion(y + 3), b = quaternion(s->q1 + 3), pull = from_space(middle(a, b), (vec){6.0*f, 0.0, 0.0});
    y[4*p.row] += 8.0*f*(s->q1[0] - y[0]) + 2.0*(inner(pull, b) - inner(pull, a));
    for (int64_t body = 0; body < p.bodies; body++) {
        const int64_t i = BODY*body;
        const quat q0 = quaternion(y + i + 3), q1 = quaternion(s->q1 + i + 3);
        const quat x = from_body(middle(q0, q1), mean_spin(s->energetic, p.inertia + 3*body, q0, quaternion(v + i + 3), q1,
                                                           quaternion(s->v1 + i + 3)));
        double spin[4];
        put_quaternion(spin, x);
        for (int k = 0; k < 3; k++) push[i + k] = p.mass[body]*(v[i + k] + s->v1[i + k]) - push[i + k];
        for (int k = 0; k < 4; k++) push[i + 3 + k] = 4.0*spin[k] - push[i + 3 + k];
    }
    memcpy(y, s->q1, p.size*sizeof(double));
    memcpy(v, s->v1, p.size*sizeof(double));
    memcpy(y + 3*p.row, s->lambda, p.bonds*sizeof(double));
    return 0;
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    const int64_t size = p.size, u = size + p.bonds;
    const double t = (double)s->done++*h;
    for (int64_t b = 0; b < n; b++) {
        const int64_t i = BODY*b;
        const quat q = quaternion(y + i + 3), v = quaternion(y + p.row + i + 3);
        const quat e = exponential(scale(2.0*h, body_part(q, v))), x = from_body(q, (vec){e.b, e.c, e.d});
        for (int k = 0; k < 3; k++) s->d[i + k] = h*y[p.row + i + k];
        put_quaternion(s->d + i + 3, (quat){e.a*q.a + x.a, e.a*q.b + x.b, e.a*q.c + x.c, e.a*q.d + x.d});
    }
    memcpy(s->lambda, y + 3*p.row, p.bonds*sizeof(double));
    double previous = largest(s->d, (int)size);
    for (int64_t k = 0; k < s->iterations; k++) {
        double change = 0.0, extent = 0.0;
        move(s, p, y);
        equations(s, p, y, t, h);
        if (!(largest(s->r, (int)u) < INFINITY)) return 2;
        if (!lu(s->a, s->pivots, u)) return 3;
        lu_solve(s->a, s->pivots, s->r, u);
        for (int64_t i = 0; i < size; i++) {
            s->d[i] -= s->r[i];
            change = fmax(change, fabs(s->r[i]));
            extent = fmax(extent, fabs(s->d[i]));
        }
        for (int64_t i = 0; i < p.bonds; i++) s->lambda[i] -= s->r[size + i];
        if (settled(change, previous, extent, largest(s->q1, (int)size), s->tolerance)) {
            move(s, p, y);
            return finish(s, p, y, t, h);
        }
        previous = change;
    }
    return 2;
}
