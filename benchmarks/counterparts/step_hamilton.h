/* Energy-momentum step emh for d, p_1, lambda, as HamiltonianStep of liestep/integrators/quaternion_hamiltonian.py.
   method: polar, tolerance, iterations. */
#include "linalg.h"

enum { UNKNOWNS = 9 };

typedef struct {
    double r[UNKNOWNS], a[UNKNOWNS*UNKNOWNS], d[4], q1[4], p1[4], lambda, polar, tolerance;
    int64_t pivots[UNKNOWNS], iterations;
} step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes; (void)n;
    step_t s = {.polar = method[0][0], .tolerance = method[1][0], .iterations = (int64_t)method[2][0]};
    return s;
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline quat mobility(double polar, const double *j)
{
    return (quat){0.25/(0.5*polar*(j[0] + j[1] + j[2])), 0.25/j[0], 0.25/j[1], 0.25/j[2]};
}

static inline void equations(step_t *s, problem_t p, const double *restrict y, double h)
{
    double *restrict r = s->r, *restrict a = s->a, turn[4], slant[4], by[4][4];
    for (int i = 0; i < UNKNOWNS*UNKNOWNS; i++) a[i] = 0.0;
    const quat k = mobility(s->polar, p.inertia), q0 = quaternion(y), p0 = quaternion(y + 8);
    const quat q1 = quaternion(s->q1), p1 = quaternion(s->p1), qm = middle(q0, q1), pm = middle(p0, p1);
    const quat w = times(k, middle(left_transposed(q0, p0), left_transposed(q1, p1)));
    double move[4], push[4];
    put_quaternion(move, left(qm, w));
    put_quaternion(push, right_transposed(w, pm));
    for (int c = 0; c < 4; c++) {
        r[c] = s->d[c] - h*move[c];
        r[4 + c] = (s->p1[c] - y[8 + c]) + h*push[c];
        a[c*(UNKNOWNS + 1)] = 1.0;
        a[(4 + c)*(UNKNOWNS + 1)] = 1.0;
    }
    for (int b = 0; b < 4; b++) {
        const quat e = unit(b), by_q = times(k, left_transposed(e, p1)), by_p = times(k, left_transposed(q1, e));
        put_quaternion(by[0], left(qm, by_q));
        put_quaternion(by[1], left(qm, by_p));
        put_quaternion(by[2], right_transposed(by_q, pm));
        put_quaternion(by[3], right_transposed(by_p, pm));
        put_quaternion(turn, left(e, w));
        put_quaternion(slant, right_transposed(w, e));
        for (int c = 0; c < 4; c++) {
            a[c*UNKNOWNS + b] -= 0.5*h*(turn[c] + by[0][c]);
            a[c*UNKNOWNS + 4 + b] -= 0.5*h*by[1][c];
            a[(4 + c)*UNKNOWNS + b] += 0.5*h*by[2][c];
            a[(4 + c)*UNKNOWNS + 4 + b] += 0.5*h*(slant[c] + by[3][c]);
        }
    }
    bind(p, h, UNKNOWNS, 4, y, s->d, s->q1, s->lambda, r, a);
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    (void)n;
    guess(p, y, h, s->d);
    s->lambda = y[12];
    for (int i = 0; i < 4; i++) s->p1[i] = y[8 + i];
    double previous = 1.0;
    for (int64_t k = 0; k < s->iterations; k++) {
        double change, size, push, momentum;
        for (int i = 0; i < 4; i++) s->q1[i] = y[i] + s->d[i];
        equations(s, p, y, h);
        if (!(largest(s->r, UNKNOWNS) < INFINITY)) return 2;
        if (!lu(s->a, s->pivots, UNKNOWNS)) return 3;
        lu_solve(s->a, s->pivots, s->r, UNKNOWNS);
        correct(s->d, s->r, &change, &size);
        correct(s->p1, s->r + 4, &push, &momentum);
        s->lambda -= s->r[8];
        const double share = fmax(size > 0.0 ? change/size : 0.0, momentum > 0.0 ? push/momentum : 0.0);
        if (settled(share, previous, 1.0, size > 0.0 ? largest(s->q1, 4)/size : 1.0, s->tolerance)) {
            for (int i = 0; i < 4; i++) s->q1[i] = y[i] + s->d[i];
            const quat q1 = quaternion(s->q1), qm = middle(quaternion(y), q1);
            if (!(inner(qm, qm) >= 0.05)) return 4;
            put_quaternion(y + 4, left(q1, times(mobility(s->polar, p.inertia), left_transposed(q1, quaternion(s->p1)))));
            for (int i = 0; i < 4; i++) {
                y[i] = s->q1[i];
                y[8 + i] = s->p1[i];
            }
            y[12] = s->lambda;
            return 0;
        }
        previous = share;
    }
    return 2;
}
