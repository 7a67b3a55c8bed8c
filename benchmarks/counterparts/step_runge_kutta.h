/* Explicit Runge-Kutta method of any tableau on (q, omega). method: a, b, c; sizes[0]: stages. */

typedef struct { double *k, *z, *g; const double *a, *b; int64_t stages; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    return (step_t){rows(2*n*sizes[0]), rows(2*n), rows(n), method[0], method[1], sizes[0]};
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline bool rhs(step_t *s, problem_t p, const double *restrict y, double *restrict out, int64_t n)
{
    const double *q = y, *w = y + 3*n;
    gradient(p.system, q, s->g, n);
    for (int64_t i = 0; i < n; i++) put(out, i, cross(row(w, i), row(q, i)));
    return angular_acceleration(p.mass, q, w, s->g, out + 3*n, n);
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    const int64_t size = 6*n, stages = s->stages;
    double *restrict z = s->z;
    for (int64_t stage = 0; stage < stages; stage++) {
        const double *restrict a = s->a + stage*stages;
        for (int64_t i = 0; i < 2*n && stage > 0; i++) {
            vec slope = scale(a[0], row(s->k, i));
            for (int64_t r = 1; r < stage; r++)
                if (a[r] != 0.0) slope = axpy(a[r], row(s->k + r*size, i), slope);
            put(z, i, axpy(h, slope, row(y, i)));
        }
        if (!rhs(s, p, stage > 0 ? z : y, s->k + stage*size, n)) return 8;
    }
    for (int64_t i = 0; i < 2*n; i++) {
        vec slope = scale(s->b[0], row(s->k, i));
        for (int64_t r = 1; r < stages; r++) slope = axpy(s->b[r], row(s->k + r*size, i), slope);
        put(y, i, axpy(h, slope, row(y, i)));
    }
    return 0;
}
