/* The same map for all 13 unknowns d, v_1, p_1, lambda, as FullStep of liestep/integrators/_livens_steps.py.
   method: rule (0 midpoint), tolerance, iterations. */
#include "linalg.h"

enum { UNKNOWNS = 13 };

typedef struct {
    double r[UNKNOWNS], a[UNKNOWNS*UNKNOWNS], d[4], q1[4], v1[4], p1[4], lambda, tolerance;
    int64_t pivots[UNKNOWNS], iterations;
    bool energetic;
} step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes; (void)n;
    step_t s = {.energetic = method[0][0] > 0.0, .tolerance = method[1][0], .iterations = (int64_t)method[2][0]};
    return s;
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline void equations(step_t *s, problem_t p, const double *restrict y, double h)
{
    double *restrict r = s->r, *restrict a = s->a, x[4], b[16];
    for (int i = 0; i < UNKNOWNS*UNKNOWNS; i++) a[i] = 0.0;
    for (int part = 0; part < 4; part++) { /* 2 pbar - h dT and 2 pbar, with derivatives by q_1 and by v_1 */
        const bool whole = part < 2;
        const int first = whole ? 0 : 8, column = 4*(part%2);
        spin_residual(p.inertia, s->energetic, whole ? h : 0.0, quaternion(y), quaternion(y + 4), quaternion(s->q1),
                      quaternion(s->v1), 1.0 - part%2, part%2, x, b);
        for (int i = 0; i < 4; i++) {
            r[first + i] = x[i];
            for (int k = 0; k < 4; k++) a[(first + i)*UNKNOWNS + column + k] = b[4*i + k];
        }
    }
    for (int i = 0; i < 4; i++) {
        r[i] -= 2.0*y[8 + i];
        r[4 + i] = s->d[i] - 0.5*h*(y[4 + i] + s->v1[i]);
        a[(4 + i)*UNKNOWNS + i] = 1.0;
        a[(4 + i)*UNKNOWNS + 4 + i] = -0.5*h;
        r[8 + i] -= y[8 + i] + s->p1[i];
        a[(8 + i)*UNKNOWNS + 8 + i] = -1.0;
    }
    bind(p, h, UNKNOWNS, 0, y, s->d, s->q1, s->lambda, r, a);
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    (void)n;
    guess(p, y, h, s->d);
    s->lambda = y[12];
    for (int i = 0; i < 4; i++) {
        s->q1[i] = y[i] + s->d[i];
        s->v1[i] = 2.0/h*s->d[i] - y[4 + i];
    }
    const quat q0 = quaternion(y), q1 = quaternion(s->q1);
    const quat x = from_body(middle(q0, q1), mean_spin(s->energetic, p.inertia, q0, quaternion(y + 4), q1, quaternion(s->v1)));
    put_quaternion(s->p1, (quat){4.0*x.a - y[8], 4.0*x.b - y[9], 4.0*x.c - y[10], 4.0*x.d - y[11]});
    double previous = largest(s->d, 4);
    for (int64_t k = 0; k < s->iterations; k++) {
        double change, size;
        for (int i = 0; i < 4; i++) s->q1[i] = y[i] + s->d[i];
        equations(s, p, y, h);
        if (!(largest(s->r, UNKNOWNS) < INFINITY)) return 2;
        if (!lu(s->a, s->pivots, UNKNOWNS)) return 3;
        lu_solve(s->a, s->pivots, s->r, UNKNOWNS);
        correct(s->d, s->r, &change, &size);
        for (int i = 0; i < 4; i++) {
            s->v1[i] -= s->r[4 + i];
            s->p1[i] -= s->r[8 + i];
        }
        s->lambda -= s->r[12];
        if (settled(change, previous, size, largest(s->q1, 4), s->tolerance)) {
            for (int i = 0; i < 4; i++) s->q1[i] = y[i] + s->d[i];
            const quat qm = middle(quaternion(y), quaternion(s->q1));
            if (!(inner(qm, qm) >= 0.05)) return 4;
            for (int i = 0; i < 4; i++) {
                y[i] = s->q1[i];
                y[4 + i] = s->v1[i];
                y[8 + i] = s->p1[i];
            }
            y[12] = s->lambda;
            return 0;
        }
        previous = change;
    }
    return 2;
}
