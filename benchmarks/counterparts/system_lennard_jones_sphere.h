/* Lennard-Jones potential of the chord. ORDER 0: for each two sources all targets, as in the core. ORDER 1: each pair once. ORDER 2:
   row sums, one target after the other, bit for bit the same forces as order 0. ORDER 3: each pair once, rows (n, 3) throughout. */
#include "vectors.h"

#ifndef ORDER
#define ORDER 0
#endif

typedef struct { double epsilon, sigma, own; double *x, *y, *z, *gx, *gy, *gz; } system_t;
static system_t system_from(double *const *data, int64_t n)
{
    (void)n;
    return (system_t){data[0][0], data[1][0], data[2][0], data[3], data[4], data[5], data[6], data[7], data[8]};
}

static inline void load(system_t s, const double *restrict q, int64_t n)
{
    const double unit = 1.0/s.sigma;
    for (int64_t i = 0; i < n; i++) {
        s.x[i] = unit*q[3*i];
        s.y[i] = unit*q[3*i + 1];
        s.z[i] = unit*q[3*i + 2];
        s.gx[i] = s.gy[i] = s.gz[i] = 0.0;
    }
}

/* Parameters of functions, because gcc believes `restrict` only there. */
static double energies(const double *restrict px, const double *restrict py, const double *restrict pz, double *restrict e, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = px[i], y = py[i], z = pz[i];
        for (int64_t j = 0; j < n; j++) {
            const double dx = x - px[j], dy = y - py[j], dz = z - pz[j], r2 = dx*dx + dy*dy + dz*dz;
            const double a = i != j ? 1.0/r2 : 0.0, a3 = a*a*a;
            e[j] += a3*(a3 - 1.0);
        }
    }
    double total = 0.0;
    for (int64_t j = 0; j < n; j++) total += e[j];
    return total;
}

static void pairs(const double *restrict px, const double *restrict py, const double *restrict pz, double *restrict gx,
                  double *restrict gy, double *restrict gz, double own, int64_t n)
{
#if ORDER == 0
    for (int64_t i = 0; i < n; i += 2) {
        const vec first = {px[i], py[i], pz[i]}, second = {px[i + 1], py[i + 1], pz[i + 1]};
        for (int64_t j = 0; j < n; j++) {
            const vec target = {-px[j], -py[j], -pz[j]}, d = add(first, target), e = add(second, target);
            const double a = 1.0/(dot(d, d) + own), a3 = a*a*a, f = a*a3*(a3 - 0.5);
            const double b = 1.0/(dot(e, e) + own), b3 = b*b*b, g = b*b3*(b3 - 0.5);
            gx[j] = gx[j] + f*d.x + g*e.x;
            gy[j] = gy[j] + f*d.y + g*e.y;
            gz[j] = gz[j] + f*d.z + g*e.z;
        }
    }
#else
    for (int64_t i = 0; i < n; i++) {
        const double x = px[i], y = py[i], z = pz[i];
#if ORDER == 1
        double sx = gx[i], sy = gy[i], sz = gz[i];
        for (int64_t j = i + 1; j < n; j++) {
            const double dx = x - px[j], dy = y - py[j], dz = z - pz[j];
            const double a = 1.0/(dx*dx + dy*dy + dz*dz), a3 = a*a*a, f = a*a3*(a3 - 0.5);
            gx[j] += f*dx;
            gy[j] += f*dy;
            gz[j] += f*dz;
            sx -= f*dx;
            sy -= f*dy;
            sz -= f*dz;
        }
        gx[i] = sx;
        gy[i] = sy;
        gz[i] = sz;
#else
        double sx = 0.0, sy = 0.0, sz = 0.0;
        for (int64_t j = 0; j < n; j++) {
            const double dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            const double a = 1.0/(dx*dx + dy*dy + dz*dz + own), a3 = a*a*a, f = a*a3*(a3 - 0.5);
            sx += f*dx;
            sy += f*dy;
            sz += f*dz;
        }
        gx[i] = sx;
        gy[i] = sy;
        gz[i] = sz;
#endif
    }
#endif
}

/* Each pair once, on the rows as they come: what one writes first. */
static void pairs_of_rows(const double *restrict q, double *restrict g, double unit, int64_t n)
{
    memset(g, 0, 3*n*sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        vec total = row(g, i);
        for (int64_t j = i + 1; j < n; j++) {
            const vec d = scale(unit, add(row(q, i), scale(-1.0, row(q, j))));
            const double a = 1.0/dot(d, d), a3 = a*a*a, f = a*a3*(a3 - 0.5);
            put(g, j, axpy(f, d, row(g, j)));
            total = axpy(-f, d, total);
        }
        put(g, i, total);
    }
}

static inline double potential(system_t s, const double *restrict q, int64_t n)
{
    load(s, q, n);
    return 2.0*s.epsilon*energies(s.x, s.y, s.z, s.gx, n);
}

static inline void gradient(system_t s, const double *restrict q, double *restrict out, int64_t n)
{
    const double strength = 48.0*s.epsilon/s.sigma;
#if ORDER == 3
    pairs_of_rows(q, out, 1.0/s.sigma, n);
    for (int64_t j = 0; j < 3*n; j++) out[j] *= strength;
    return;
#endif
    load(s, q, n);
    pairs(s.x, s.y, s.z, s.gx, s.gy, s.gz, s.own, n);
    for (int64_t j = 0; j < n; j++) put(out, j, (vec){strength*s.gx[j], strength*s.gy[j], strength*s.gz[j]});
}
