/* The FAULT-th system call that writes below FAULT_FOLDER fails once with FAULT_ERROR ("short": half is written). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static long done;

static int below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    char full[4096];
    if (folder == NULL || path == NULL) return 0;
    if (path[0] != '/') { if (getcwd(full, 2000) == NULL) return 0; strcat(full, "/"); strncat(full, path, 2000); path = full; }
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int open_below(int file) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t n = readlink(name, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}

/* 1: fail now, 2: a short write */
static int fault(int counts) {
    const char *at = getenv("FAULT"), *error = getenv("FAULT_ERROR"), *log = getenv("FAULT_LOG");
    if (!counts) return 0;
    done++;
    if (log != NULL) {
        int saved = errno, (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        ssize_t (*put)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
        int file = real(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
        if (file >= 0) { put(file, ".", 1); close(file); }
        errno = saved;
    }
    if (at == NULL || atol(at) != done) return 0;
    if (strcmp(error, "short") == 0) return 2;
    errno = strcmp(error, "EIO") == 0 ? EIO : strcmp(error, "ENOSPC") == 0 ? ENOSPC : EINTR;
    return 1;
}

#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, #name)
#define WRITES(name, more_types, more) \
    ssize_t name(int file, const void *data, size_t n more_types) { \
        REAL(ssize_t, name, int, const void *, size_t more_types); \
        int found = fault(open_below(file)); \
        if (found == 1) return -1; \
        return real(file, data, found == 2 && n > 1 ? n/2 : n more); \
    }
#define COMMA_OFFSET , off_t at
#define COMMA_AT , at
WRITES(write, , )
WRITES(pwrite, COMMA_OFFSET, COMMA_AT)
WRITES(pwrite64, COMMA_OFFSET, COMMA_AT)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    return fault(below(to)) ? -1 : real(from, to);
}
int fsync(int file) { REAL(int, fsync, int); return fault(open_below(file)) ? -1 : real(file); }
int ftruncate(int file, off_t n) { REAL(int, ftruncate, int, off_t); return fault(open_below(file)) ? -1 : real(file, n); }
int ftruncate64(int file, off_t n) { REAL(int, ftruncate64, int, off_t); return fault(open_below(file)) ? -1 : real(file, n); }
int mkdir(const char *path, mode_t mode) { REAL(int, mkdir, const char *, mode_t); return fault(below(path)) ? -1 : real(path, mode); }
int link(const char *from, const char *to) { REAL(int, link, const char *, const char *); return fault(below(to)) ? -1 : real(from, to); }
