/* Livens' energy-momentum step or midpoint rule for d and lambda, as ReducedStep of liestep/integrators/_livens_steps.py.
   method: rule (0 midpoint), tolerance, iterations. */
#include "linalg.h"

typedef struct { double r[5], a[25], d[4], q1[4], v1[4], lambda, tolerance; int64_t pivots[5], iterations; bool energetic; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes; (void)n;
    step_t s = {.energetic = method[0][0] > 0.0, .tolerance = method[1][0], .iterations = (int64_t)method[2][0]};
    return s;
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline void guess(step_t *s, problem_t p, quat q, quat v, double h)
{
    const double *j = p.inertia, k = 0.5*h;
    const vec g = body_part(q, v), w = scale(2.0, g);
    const vec f = body_part(q, (quat){pull(p, q, 0), pull(p, q, 1), pull(p, q, 2), pull(p, q, 3)});
    const vec turn = {h*(w.x + k*((j[1] - j[2])*w.y*w.z - 0.5*f.x)/j[0]), h*(w.y + k*((j[2] - j[0])*w.z*w.x - 0.5*f.y)/j[1]),
                      h*(w.z + k*((j[0] - j[1])*w.x*w.y - 0.5*f.z)/j[2])};
    const quat e = exponential(turn), x = from_body(q, (vec){e.b, e.c, e.d});
    s->d[0] = e.a*q.a + x.a; s->d[1] = e.a*q.b + x.b; s->d[2] = e.a*q.c + x.c; s->d[3] = e.a*q.d + x.d;
}

static inline vec mean_spin(bool energetic, problem_t p, quat q0, quat v0, quat q1, quat v1)
{
    const double *j = p.inertia;
    if (energetic) {
        const vec x = body_part(q0, v0), y = body_part(q1, v1);
        return (vec){j[0]*(x.x + y.x), j[1]*(x.y + y.y), j[2]*(x.z + y.z)};
    }
    const vec x = body_part(middle(q0, q1), middle(v0, v1));
    return (vec){2.0*j[0]*x.x, 2.0*j[1]*x.y, 2.0*j[2]*x.z};
}

static inline void equations(step_t *s, problem_t p, const double *restrict y, double h)
{
    double *restrict r = s->r, *restrict a = s->a;
    const double *j = p.inertia, alpha = 1.0, beta = 2.0/h;
    for (int i = 0; i < 25; i++) a[i] = 0.0;
    for (int i = 0; i < 4; i++) {
        s->q1[i] = y[i] + s->d[i];
        s->v1[i] = 2.0/h*s->d[i] - y[4 + i];
    }
    const quat q0 = quaternion(y), v0 = quaternion(y + 4), q1 = quaternion(s->q1), v1 = quaternion(s->v1);
    const quat qm = middle(q0, q1), vm = middle(v0, v1), c = combine(4.0, qm, 2.0*h, vm);
    const vec w = mean_spin(s->energetic, p, q0, v0, q1, v1);
    const quat x = from_body(c, w), d = s->energetic ? combine(beta, q1, -alpha, v1) : combine(beta, qm, -alpha, vm);
    const double xs[4] = {x.a, x.b, x.c, x.d}, half = 2.0*alpha + beta*h, w0 = half*w.x, w1 = half*w.y, w2 = half*w.z;
    const quat x0 = from_body(c, (vec){-j[0]*d.b, -j[1]*d.c, -j[2]*d.d}), x1 = from_body(c, (vec){j[0]*d.a, -j[1]*d.d, j[2]*d.c});
    const quat x2 = from_body(c, (vec){j[0]*d.d, j[1]*d.a, -j[2]*d.b}), x3 = from_body(c, (vec){-j[0]*d.c, j[1]*d.b, j[2]*d.a});
    a[0] = x0.a; a[1] = x1.a - w0; a[2] = x2.a - w1; a[3] = x3.a - w2;
    a[5] = x0.b + w0; a[6] = x1.b; a[7] = x2.b + w2; a[8] = x3.b - w1;
    a[10] = x0.c + w1; a[11] = x1.c - w2; a[12] = x2.c; a[13] = x3.c + w0;
    a[15] = x0.d + w2; a[16] = x1.d + w1; a[17] = x2.d - w0; a[18] = x3.d;
    for (int i = 0; i < 4; i++) {
        r[i] = xs[i] - 2.0*y[8 + i];
        for (int k = 0; k < 4; k++) {
            const double t = 0.5*h*p.stiffness[4*i + k];
            r[i] += t*(y[k] + s->q1[k]);
            a[5*i + k] += t;
        }
        a[6*i] += 0.5*h*s->lambda;
        const double slope = h*(y[i] + 0.5*s->d[i]);
        r[i] += slope*s->lambda;
        a[5*i + 4] = slope;
        a[20 + i] = s->q1[i];
    }
    r[4] = unit_defect(q1);
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    (void)n;
    guess(s, p, quaternion(y), quaternion(y + 4), h);
    s->lambda = y[12];
    double previous = 0.0;
    for (int i = 0; i < 4; i++) previous = fmax(previous, fabs(s->d[i]));
    for (int64_t k = 0; k < s->iterations; k++) {
        equations(s, p, y, h);
        for (int i = 0; i < 5; i++)
            if (!(fabs(s->r[i]) < INFINITY)) return 2;
        if (!lu(s->a, s->pivots, 5)) return 3;
        lu_solve(s->a, s->pivots, s->r, 5);
        double change = 0.0, size = 0.0, reach = 0.0;
        for (int i = 0; i < 4; i++) {
            s->d[i] -= s->r[i];
            change = fmax(change, fabs(s->r[i]));
            size = fmax(size, fabs(s->d[i]));
            reach = fmax(reach, fabs(s->q1[i]));
        }
        s->lambda -= s->r[4];
        if (change*change <= s->tolerance*size*previous || (change <= 1e-12*fmax(size, reach) && change > 0.5*previous)) {
            double q[4];
            for (int i = 0; i < 4; i++) {
                q[i] = y[i] + s->d[i];
                s->v1[i] = 2.0/h*s->d[i] - y[4 + i];
            }
            const quat q0 = quaternion(y), v0 = quaternion(y + 4), q1 = quaternion(q), v1 = quaternion(s->v1), qm = middle(q0, q1);
            if (!(inner(qm, qm) >= 0.05)) return 4;
            const quat x = from_body(qm, mean_spin(s->energetic, p, q0, v0, q1, v1));
            const double push[4] = {4.0*x.a, 4.0*x.b, 4.0*x.c, 4.0*x.d};
            for (int i = 0; i < 4; i++) {
                y[i] = q[i];
                y[4 + i] = s->v1[i];
                y[8 + i] = push[i] - y[8 + i];
            }
            y[12] = s->lambda;
            return 0;
        }
        previous = change;
    }
    return 2;
}
