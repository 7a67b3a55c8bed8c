/* Coupled kinetic energy: M symmetric positive definite. */
#include "linalg.h"

typedef struct { const double *matrix, *inverse; double *a; int64_t *pivots; } mass_t;
static mass_t mass_from(double *const *data, int64_t n)
{
    (void)n;
    return (mass_t){data[0], data[1], data[2], (int64_t *)data[3]};
}

static inline double kinetic_energy(mass_t M, const double *restrict v, int64_t n)
{
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        vec p = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) p = axpy(M.matrix[i*n + j], row(v, j), p);
        total += dot(row(v, i), p);
    }
    return 0.5*total;
}

static inline vec momentum(mass_t M, const double *restrict q, const double *restrict v, int64_t n)
{
    vec total = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < n; i++) {
        vec p = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) p = axpy(M.matrix[i*n + j], row(v, j), p);
        total = add(total, cross(row(q, i), p));
    }
    return total;
}

static inline void assemble(mass_t M, const double *restrict q, int64_t n)
{
    double *restrict a = M.a;
    const int64_t size = 3*n;
    for (int64_t i = 0; i < n; i++) {
        const vec qi = row(q, i);
        for (int64_t j = 0; j < i; j++) {
            const vec qj = row(q, j);
            const double m = M.matrix[i*n + j], c = dot(qi, qj);
            for (int k = 0; k < 3; k++)
                for (int r = 0; r < 3; r++)
                    a[(3*i + k)*size + 3*j + r] = m*((k == r ? c : 0.0) - component(qj, k)*component(qi, r));
        }
        for (int k = 0; k < 3; k++)
            for (int r = 0; r <= k; r++) a[(3*i + k)*size + 3*i + r] = k == r ? M.matrix[i*n + i] : 0.0;
    }
}

static inline bool angular_acceleration(mass_t M, const double *restrict q, const double *restrict w, const double *restrict g,
                                        double *restrict out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        vec b = scale(-1.0, row(g, i));
        for (int64_t j = 0; j < n; j++)
            if (j != i) b = axpy(M.matrix[i*n + j]*dot(row(w, j), row(w, j)), row(q, j), b);
        put(out, i, cross(row(q, i), b));
    }
    assemble(M, q, n);
    if (!cholesky(M.a, 3*n)) return false;
    cholesky_solve(M.a, out, 3*n);
    return true;
}
