/* Energy-momentum step on rotations by the Cayley map, as CayleyStep of liestep/integrators/cotangent_rotation.py.
   method: tolerance, iterations. */
typedef struct { double fresh[9], mean[9], tolerance; int64_t iterations; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes; (void)n;
    return (step_t){.tolerance = method[0][0], .iterations = (int64_t)method[1][0]};
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline double greatest(vec u) { return fabs(u.x) + fabs(u.y) + fabs(u.z); }
static inline vec rate(problem_t p, const double *q, vec m) { return body_rate(p, to_body(q, m)); }
static inline vec torque(problem_t p, const double *q) { return cross(to_space(q, row(p.lever, 0)), row(p.gravity, 0)); }

static inline void turn(step_t *s, const double *restrict y, vec z)
{
    const vec w = to_space(y, z);
    const double share = 1.0/(1.0 + 0.25*dot(z, z));
    for (int i = 0; i < 3; i++) {
        const vec u = row(y, i), c = cross(w, u), d = scale(share, axpy(0.5, cross(w, c), c));
        put(s->fresh, i, add(u, d));
        put(s->mean, i, axpy(0.5, d, u));
    }
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    (void)n;
    const vec momentum = row(y, 3), begin = rate(p, y, momentum);
    vec z = scale(h, begin);
    double previous = greatest(z);
    for (int64_t k = 0; k < s->iterations; k++) {
        turn(s, y, z);
        const vec end = axpy(h, torque(p, s->mean), momentum);
        const vec target = scale(0.5*h, add(begin, rate(p, s->fresh, end)));
        const double change = greatest(sub(target, z)), size = greatest(target);
        if (!(change < INFINITY)) return 2;
        z = target;
        if (change*change <= s->tolerance*size*previous || (change <= 1e-12*size && change > 0.5*previous)) {
            turn(s, y, z);
            put(y, 3, axpy(h, torque(p, s->mean), momentum));
            memcpy(y, s->fresh, sizeof s->fresh);
            return 0;
        }
        previous = change;
    }
    return 2;
}
