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

static inline void move(step_t *s, const double *restrict y, double h)
{
    for (int i = 0; i < 4; i++) {
        s->q1[i] = y[i] + s->d[i];
        s->v1[i] = 2.0/h*s->d[i] - y[4 + i];
    }
}

static inline void equations(step_t *s, problem_t p, const double *restrict y, double h)
{
    double x[4], b[16];
    for (int i = 0; i < 25; i++) s->a[i] = 0.0;
    move(s, y, h);
    spin_residual(p.inertia, s->energetic, h, quaternion(y), quaternion(y + 4), quaternion(s->q1), quaternion(s->v1), 1.0, 2.0/h, x, b);
    for (int i = 0; i < 4; i++) {
        s->r[i] = x[i] - 2.0*y[8 + i];
        for (int k = 0; k < 4; k++) s->a[5*i + k] = b[4*i + k];
    }
    bind(p, h, 5, 0, y, s->d, s->q1, s->lambda, s->r, s->a);
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    (void)n;
    guess(p, y, h, s->d);
    s->lambda = y[12];
    double previous = largest(s->d, 4);
    for (int64_t k = 0; k < s->iterations; k++) {
        double change, size;
        equations(s, p, y, h);
        if (!(largest(s->r, 5) < INFINITY)) return 2;
        if (!lu(s->a, s->pivots, 5)) return 3;
        lu_solve(s->a, s->pivots, s->r, 5);
        correct(s->d, s->r, &change, &size);
        s->lambda -= s->r[4];
        if (settled(change, previous, size, largest(s->q1, 4), s->tolerance)) {
            move(s, y, h);
            const quat q0 = quaternion(y), v0 = quaternion(y + 4), q1 = quaternion(s->q1), v1 = quaternion(s->v1);
            const quat qm = middle(q0, q1), x = from_body(qm, mean_spin(s->energetic, p.inertia, q0, v0, q1, v1));
            if (!(inner(qm, qm) >= 0.05)) return 4;
            const double push[4] = {4.0*x.a, 4.0*x.b, 4.0*x.c, 4.0*x.d};
            for (int i = 0; i < 4; i++) {
                y[i] = s->q1[i];
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
