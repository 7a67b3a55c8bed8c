/* Stoermer-Verlet: kick, drift, kick. */

typedef struct { double *v, *f; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n) { (void)method; (void)sizes; return (step_t){rows(n), rows(n)}; }
static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { force(p.system, y, s->f, n); }

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    double *restrict q = y, *restrict m = y + n;
    for (int64_t i = 0; i < n; i++) m[i] += 0.5*h*s->f[i];
    drift(p.system, m, s->v, n);
    for (int64_t i = 0; i < n; i++) q[i] += h*s->v[i];
    force(p.system, q, s->f, n);
    for (int64_t i = 0; i < n; i++) m[i] += 0.5*h*s->f[i];
    return 0;
}
