/* Bodies with spherical joints in positions and unit quaternions: rows q, v, p, multipliers and the work of the load, as
   liestep/formulations/constrained/quaternion_bodies.py; n bodies. system: fields of Bodies; mass: number of joints. */
#include "spin.h"

enum { WIDTH = 14, BODY = 7 };

typedef struct {
    const double *mass, *inertia;
    const int64_t *first, *second;
    const double *arm, *other, *gravity;
    double peak;
    int64_t bodies, joints, size, bonds, row;
} problem_t;

static problem_t problem_from(double *const *system, double *const *mass, double *const *generator, int64_t n)
{
    (void)generator;
    const int64_t joints = (int64_t)mass[0][0], size = BODY*n, bonds = n + 3*joints;
    return (problem_t){system[0], system[1], (const int64_t *)system[2], (const int64_t *)system[3], system[4], system[5],
                       system[6], system[7][0], n, joints, size, bonds, size > bonds ? size : bonds};
}

static inline double load_at(double peak, double t)
{
    return t <= 0.5 ? 2.0*peak*t : t < 1.0 ? 2.0*peak*(1.0 - t) : 0.0;
}

static inline vec rate(quat x, quat v, vec arm) { return space_part(x, from_body(v, arm)); }
static inline vec speed(const double *v, quat x, vec arm)
{
    const vec u = rate(x, quaternion(v + 3), arm);
    return (vec){v[0] + 2.0*u.x, v[1] + 2.0*u.y, v[2] + 2.0*u.z};
}
static inline vec end_of(const double *q, vec arm) { return add(row(q, 0), turned_by(quaternion(q + 3), arm)); }
static inline double larger(double a, double b) { return a > b ? a : b; }

/* As the core: energy, angular and linear momentum, constraints, (74), (80), |Dg v|, |q.p|, work, (74) less work */
static inline void observe(problem_t c, const double *restrict y, double *restrict out, int64_t n)
{
    const double *q = y, *v = y + c.row, *p = y + 2*c.row;
    double slip = 0.0, radial = 0.0, gap = 0.0, defect = 0.0;
    for (int k = 0; k < WIDTH; k++) out[k] = 0.0;
    for (int64_t b = 0; b < n; b++) {
        const int64_t i = BODY*b;
        const quat x = quaternion(q + i + 3), u = quaternion(v + i + 3), m = quaternion(p + i + 3);
        const vec one = turned_by(x, (vec){1, 0, 0}), two = turned_by(x, (vec){0, 1, 0}), three = turned_by(x, (vec){0, 0, 1});
        const vec place = row(q + i, 0), push = row(p + i, 0), velocity = row(v + i, 0);
        const vec spin = scale(0.5, space_part(x, m)), w = body_part(x, u), turn = add(cross(place, push), spin);
        const double *j = c.inertia + 3*b, height = -c.mass[b]*dot(row(c.gravity, 0), place);
        const vec own = {dot(one, spin), dot(two, spin), dot(three, spin)};
        out[0] += 0.5*dot(push, push)/c.mass[b] + 0.5*(own.x*own.x/j[0] + own.y*own.y/j[1] + own.z*own.z/j[2]) + height;
        put(out + 1, 0, add(row(out + 1, 0), turn));
        put(out + 4, 0, add(row(out + 4, 0), push));
        const double kinetic = 0.5*c.mass[b]*dot(velocity, velocity) + 2.0*(j[0]*w.x*w.x + j[1]*w.y*w.y + j[2]*w.z*w.z);
        out[8] += dot(push, velocity) + inner(m, u) - kinetic + height;
        out[9] += kinetic + height;
        defect = larger(defect, fabs(unit_defect(x)));
        slip = larger(slip, fabs(inner(x, u)));
        radial = larger(radial, fabs(inner(x, m)));
    }
    for (int64_t k = 0; k < c.joints; k++) {
        const int64_t one = BODY*c.first[k], two = BODY*c.second[k];
        vec fast = speed(v + one, quaternion(q + one + 3), row(c.arm, k)), open = end_of(q + one, row(c.arm, k));
        fast = two < 0 ? fast : sub(fast, speed(v + two, quaternion(q + two + 3), row(c.other, k)));
        open = sub(open, two < 0 ? row(c.other, k) : end_of(q + two, row(c.other, k)));
        slip = larger(slip, larger(fabs(fast.x), larger(fabs(fast.y), fabs(fast.z))));
        gap = larger(gap, larger(fabs(open.x), larger(fabs(open.y), fabs(open.z))));
    }
    out[7] = larger(gap, defect);
    out[10] = slip;
    out[11] = radial;
    out[12] = y[4*c.row];
    out[13] = out[8] - y[4*c.row];
}
