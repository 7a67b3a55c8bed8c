/* In-place Cholesky and LU with partial pivoting, in the elimination order of liestep/geometry/linalg.py. */
#pragma once
#include "vectors.h"

static bool cholesky(double *restrict a, int64_t n)
{
    for (int64_t k = n - 1; k >= 0; k--) {
        double *restrict ak = a + k*n;
        if (!(0.0 < ak[k] && ak[k] < INFINITY)) return false;
        const double pivot = sqrt(ak[k]), inverse = 1.0/pivot;
        ak[k] = pivot;
        for (int64_t i = 0; i < k; i++) {
            const double factor = ak[i]*inverse;
            ak[i] = factor;
            a[i*n + k] = factor;
            for (int64_t j = 0; j <= i; j++) a[i*n + j] -= factor*ak[j];
        }
    }
    return true;
}

static void cholesky_solve(const double *restrict a, double *restrict x, int64_t n)
{
    for (int64_t k = n - 1; k >= 0; k--) {
        x[k] /= a[k*n + k];
        for (int64_t i = 0; i < k; i++) x[i] -= x[k]*a[k*n + i];
    }
    for (int64_t k = 0; k < n; k++) {
        x[k] /= a[k*n + k];
        for (int64_t i = k + 1; i < n; i++) x[i] -= x[k]*a[k*n + i];
    }
}

static bool lu(double *restrict a, int64_t *restrict pivots, int64_t n)
{
    for (int64_t k = n - 1; k >= 0; k--) {
        double best = fabs(a[k*n + k]);
        int64_t p = k;
        for (int64_t i = 0; i < k; i++)
            if (fabs(a[i*n + k]) > best) { best = fabs(a[i*n + k]); p = i; }
        if (!(0.0 < best && best < INFINITY)) return false;
        pivots[k] = p;
        double *ak = a + k*n;
        if (p != k)
            for (int64_t j = 0; j < n; j++) { const double t = ak[j]; ak[j] = a[p*n + j]; a[p*n + j] = t; }
        const double inverse = 1.0/ak[k];
        for (int64_t i = 0; i < k; i++) {
            double *restrict ai = a + i*n;
            const double factor = ai[k]*inverse;
            ai[k] = factor;
            for (int64_t j = 0; j < k; j++) ai[j] -= factor*ak[j];
        }
    }
    return true;
}

static void lu_solve(const double *restrict a, const int64_t *restrict pivots, double *restrict x, int64_t n)
{
    for (int64_t k = n - 1; k >= 0; k--) { const double t = x[k]; x[k] = x[pivots[k]]; x[pivots[k]] = t; }
    for (int64_t k = n - 1; k >= 0; k--)
        for (int64_t i = 0; i < k; i++) x[i] -= x[k]*a[i*n + k];
    for (int64_t k = 0; k < n; k++) {
        x[k] /= a[k*n + k];
        for (int64_t i = k + 1; i < n; i++) x[i] -= x[k]*a[i*n + k];
    }
}
