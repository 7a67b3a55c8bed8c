/* Vectors of R^3 by value, rows of arrays (m, 3); the C counterpart of liestep/core/rows.py. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double x, y, z; } vec;

static inline vec row(const double *a, int64_t i) { return (vec){a[3*i], a[3*i + 1], a[3*i + 2]}; }
static inline void put(double *a, int64_t i, vec u) { a[3*i] = u.x; a[3*i + 1] = u.y; a[3*i + 2] = u.z; }
static inline vec cross(vec u, vec v) { return (vec){u.y*v.z - u.z*v.y, u.z*v.x - u.x*v.z, u.x*v.y - u.y*v.x}; }
static inline double dot(vec u, vec v) { return u.x*v.x + u.y*v.y + u.z*v.z; }
static inline vec add(vec u, vec v) { return (vec){u.x + v.x, u.y + v.y, u.z + v.z}; }
static inline vec sub(vec u, vec v) { return (vec){u.x - v.x, u.y - v.y, u.z - v.z}; }
static inline vec scale(double s, vec u) { return (vec){s*u.x, s*u.y, s*u.z}; }
static inline vec axpy(double s, vec u, vec v) { return (vec){s*u.x + v.x, s*u.y + v.y, s*u.z + v.z}; }
/* q.q - 1, rounded like the core's length_defect */
static inline double length_defect(vec q) { return ((q.x*q.x - 1.0) + q.y*q.y) + q.z*q.z; }
static inline double component(vec u, int k) { return k == 0 ? u.x : k == 1 ? u.y : u.z; }

/* Work memory of one run: zeroed, given back together at its end. */
static void *kept[32];
static int kept_count;

static void *memory(int64_t bytes) { return kept[kept_count++] = calloc(1, bytes); }
static double *rows(int64_t n) { return memory(3*n*sizeof(double)); }
static void release(void) { while (kept_count > 0) free(kept[--kept_count]); }
