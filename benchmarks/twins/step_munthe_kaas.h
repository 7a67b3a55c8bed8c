/* Runge-Kutta-Munthe-Kaas method of any tableau for SE(3)^n on (TS^2)^n. method: a, b, c; sizes[0]: stages. */

typedef struct { double *k, *sigma, *z, *g, *dw; const double *a, *b; int64_t stages; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    return (step_t){rows(2*n*sizes[0]), rows(2*n), rows(2*n), rows(n), rows(n), method[0], method[1], sizes[0]};
}

static void step_start(step_t *s, system_t system, mass_t M, const double *y, int64_t n) { (void)s; (void)system; (void)M; (void)y; (void)n; }

static inline vec quadratic(double x, double y, vec a, vec v)
{
    const vec first = cross(a, v), second = cross(a, first);
    return (vec){v.x + x*first.x + y*second.x, v.y + x*first.y + y*second.y, v.z + x*first.z + y*second.z};
}

static inline void coefficients(double z2, double *s, double *c, double *d)
{
    if (z2 < 0.25) {
        *s = 1.0 + z2*(-1.0/6.0 + z2*(1.0/120.0 + z2*(-1.0/5040.0 + z2*(1.0/362880.0 + z2*(-1.0/39916800.0
            + z2*(1.0/6227020800.0 - z2/1307674368000.0))))));
        *c = 0.5 + z2*(-1.0/24.0 + z2*(1.0/720.0 + z2*(-1.0/40320.0 + z2*(1.0/3628800.0 + z2*(-1.0/479001600.0
            + z2/87178291200.0)))));
        *d = 1.0/6.0 + z2*(-1.0/120.0 + z2*(1.0/5040.0 + z2*(-1.0/362880.0 + z2*(1.0/39916800.0 + z2*(-1.0/6227020800.0
            + z2/1307674368000.0)))));
    } else {
        const double z = sqrt(z2), half = sin(0.5*z);
        *s = sin(z)/z;
        *c = 2.0*half*half/z2;
        *d = (1.0 - *s)/z2;
    }
}

static inline void dexpinv_coefficients(double z2, double *g, double *slope)
{
    if (z2 < 0.5) {
        *g = 1.0/12.0 + z2*(1.0/720.0 + z2*(1.0/30240.0 + z2*(1.0/1209600.0 + z2*(1.0/47900160.0 + z2*(691.0/1307674368000.0
            + z2*(1.0/74724249600.0 + z2*(3617.0/10670622842880000.0 + z2*43867.0/5109094217170944000.0)))))));
        *slope = 1.0/360.0 + z2*(1.0/7560.0 + z2*(1.0/201600.0 + z2*(1.0/5987520.0 + z2*(691.0/130767436800.0
            + z2*(1.0/6227020800.0 + z2*(3617.0/762187345920000.0 + z2*(43867.0/319318388573184000.0
            + z2*(174611.0/44603203483238400000.0 + z2*77683.0/705055001969590272000.0))))))));
    } else {
        const double half = 0.5*sqrt(z2), sine = sin(half), cotangent = half*cos(half)/sine, ratio = half/sine;
        *g = (1.0 - cotangent)/z2;
        *slope = (ratio*ratio + cotangent - 2.0)/(z2*z2);
    }
}

static inline bool algebra(step_t *s, system_t system, mass_t M, const double *restrict y, double *restrict out, int64_t n)
{
    const double *q = y, *w = y + 3*n;
    gradient(system, q, s->g, n);
    const bool ok = angular_acceleration(M, q, w, s->g, s->dw, n);
    for (int64_t i = 0; i < n; i++) {
        put(out, i, row(w, i));
        put(out, n + i, cross(row(q, i), row(s->dw, i)));
    }
    return ok;
}

static inline void act(const double *restrict xi, const double *y, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double s, c, d;
        const vec A = row(xi, i);
        coefficients(dot(A, A), &s, &c, &d);
        const vec r = quadratic(c, d, A, row(xi, n + i)), w = quadratic(s, c, A, row(y, n + i)), q = quadratic(s, c, A, row(y, i));
        put(out, i, q);
        put(out, n + i, add(w, cross(r, q)));
    }
}

static inline bool dexpinv(const double *restrict sigma, double *restrict v, int64_t n)
{
    bool ok = true;
    for (int64_t i = 0; i < n; i++) {
        double g, slope;
        const vec A = row(sigma, i), a = row(sigma, n + i), B = row(v, i), b = row(v, n + i);
        ok = ok && dot(A, A) < 4.0*M_PI*M_PI;
        dexpinv_coefficients(dot(A, A), &g, &slope);
        const vec rotation = cross(A, B), translation = add(cross(A, b), cross(a, B)), x = cross(A, rotation);
        const vec y = add(cross(a, rotation), cross(A, translation));
        const double k = dot(A, a)*slope;
        put(v, i, (vec){B.x - 0.5*rotation.x + g*x.x, B.y - 0.5*rotation.y + g*x.y, B.z - 0.5*rotation.z + g*x.z});
        put(v, n + i, (vec){b.x - 0.5*translation.x + k*x.x + g*y.x, b.y - 0.5*translation.y + k*x.y + g*y.y,
                            b.z - 0.5*translation.z + k*x.z + g*y.z});
    }
    return ok;
}

static inline int step(step_t *s, system_t system, mass_t M, double *restrict y, double h, int64_t n)
{
    const int64_t size = 6*n, stages = s->stages;
    double *restrict sigma = s->sigma, *restrict z = s->z;
    if (!algebra(s, system, M, y, s->k, n)) return 8;
    for (int64_t stage = 1; stage < stages; stage++) {
        const double *restrict a = s->a + stage*stages;
        for (int64_t i = 0; i < 2*n; i++) {
            vec total = scale(h*a[0], row(s->k, i));
            for (int64_t r = 1; r < stage; r++)
                if (a[r] != 0.0) total = axpy(h*a[r], row(s->k + r*size, i), total);
            put(sigma, i, total);
        }
        act(sigma, y, z, n);
        if (!algebra(s, system, M, z, s->k + stage*size, n)) return 8;
        if (!dexpinv(sigma, s->k + stage*size, n)) return 6;
    }
    for (int64_t i = 0; i < 2*n; i++) {
        vec total = scale(h*s->b[0], row(s->k, i));
        for (int64_t r = 1; r < stages; r++) total = axpy(h*s->b[r], row(s->k + r*size, i), total);
        put(sigma, i, total);
    }
    act(sigma, y, y, n);
    return 0;
}
