/* Explicit variational step, diagonal mass (increment form). */

typedef struct { double *g; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n) { (void)method; (void)sizes; return (step_t){rows(n)}; }
static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { gradient(p.system, y, s->g, n); }

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    double *restrict q = y, *restrict w = y + 3*n, *restrict g = s->g;
    for (int64_t i = 0; i < n; i++) {
        const vec qi = row(q, i), a = axpy(-0.5*h/p.mass.m[i], cross(qi, row(g, i)), row(w, i)), d = scale(h, a);
        const double e = dot(d, d) + length_defect(qi);
        if (!(e < 1.0)) return 1;
        const double root = sqrt(1.0 - e);
        put(q, i, add(qi, axpy(-e/(1.0 + root), qi, cross(d, qi))));
        put(w, i, a);
    }
    gradient(p.system, q, g, n);
    for (int64_t i = 0; i < n; i++) put(w, i, axpy(-0.5*h/p.mass.m[i], cross(row(q, i), row(g, i)), row(w, i)));
    return 0;
}
