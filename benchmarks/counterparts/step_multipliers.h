/* RATTLE with n x n Newton systems for the multipliers (increment form). method: tolerance, iterations. */

typedef struct { double *g, *v, *kick, *d, *target, *multiplier, *residual, *a, tolerance; int64_t *pivots, iterations; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes;
    return (step_t){rows(n), rows(n), rows(n), rows(n), rows(n), rows(n), rows(n), memory(n*n*sizeof(double)), method[0][0],
                    memory(n*sizeof(int64_t)), (int64_t)method[1][0]};
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { gradient(p.system, y, s->g, n); }

static inline void apply_inverse(const double *restrict inverse, const double *restrict g, double *restrict out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        vec total = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) total = axpy(inverse[i*n + j], row(g, j), total);
        put(out, i, total);
    }
}

static inline void increments(step_t *s, const double *restrict inverse, const double *restrict q, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        vec pull = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) pull = axpy(inverse[i*n + j]*s->multiplier[j], row(q, j), pull);
        put(s->d, i, add(row(s->target, i), pull));
    }
}

static inline int solve(step_t *s, const double *restrict inverse, const double *restrict q, int64_t n)
{
    double *restrict a = s->a, *restrict residual = s->residual, *restrict multiplier = s->multiplier;
    double previous = INFINITY;
    for (int64_t k = 0; k < s->iterations; k++) {
        increments(s, inverse, q, n);
        for (int64_t i = 0; i < n; i++) {
            const vec qi = row(q, i), d = row(s->d, i), new = add(qi, d);
            residual[i] = -(2.0*dot(qi, d) + dot(d, d) + length_defect(qi));
            for (int64_t j = 0; j < n; j++) a[i*n + j] = 2.0*inverse[i*n + j]*dot(new, row(q, j));
        }
        if (!lu(a, s->pivots, n)) return 2;
        lu_solve(a, s->pivots, residual, n);
        double update = 0.0, size = 0.0;
        for (int64_t i = 0; i < n; i++) {
            multiplier[i] += residual[i];
            if (fabs(residual[i]) > update) update = fabs(residual[i]);
            if (fabs(multiplier[i]) > size) size = fabs(multiplier[i]);
        }
        if (!(update < INFINITY)) return 2;
        if (update*update <= s->tolerance*size*size || (update <= 1e-12*size && update > 0.5*previous)) {
            increments(s, inverse, q, n);
            return 0;
        }
        previous = update;
    }
    return 2;
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    double *restrict q = y, *restrict w = y + 3*n, *restrict v = s->v, *restrict kick = s->kick, *restrict target = s->target;
    const double *restrict inverse = p.mass.inverse;
    apply_inverse(inverse, s->g, kick, n);
    for (int64_t i = 0; i < n; i++) {
        const vec u = cross(row(w, i), row(q, i));
        put(v, i, u);
        put(target, i, axpy(-0.5*h*h, row(kick, i), scale(h, u)));
        s->multiplier[i] = -0.5*h*h*dot(u, u)/inverse[i*n + i];
    }
    if (solve(s, inverse, q, n)) return 2;
    for (int64_t i = 0; i < n; i++) {
        const vec d = row(s->d, i), pull = axpy(-1.0, row(target, i), d);
        put(v, i, axpy(1.0/h, pull, axpy(-0.5*h, row(kick, i), row(v, i))));
        put(q, i, add(row(q, i), d));
    }
    gradient(p.system, q, s->g, n);
    apply_inverse(inverse, s->g, kick, n);
    for (int64_t i = 0; i < n; i++) {
        put(v, i, axpy(-0.5*h, row(kick, i), row(v, i)));
        const vec qi = row(q, i);
        s->residual[i] = -dot(qi, row(v, i));
        for (int64_t j = 0; j <= i; j++) s->a[i*n + j] = inverse[i*n + j]*dot(qi, row(q, j));
    }
    if (!cholesky(s->a, n)) return 3;
    cholesky_solve(s->a, s->residual, n);
    for (int64_t i = 0; i < n; i++) {
        vec u = row(v, i);
        for (int64_t j = 0; j < n; j++) u = axpy(inverse[i*n + j]*s->residual[j], row(q, j), u);
        put(w, i, cross(row(q, i), u));
    }
    return 0;
}
