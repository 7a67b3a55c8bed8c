/* Preloaded: one call of writing on a file below a folder fails, the one with a given number. `fault_arm` begins to
 * count. Kinds: 1 EIO, 2 ENOSPC, 3 EINTR, 4 half of the bytes (EINTR where there are none). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long count, at;
static int kind;
static char below[PATH_MAX];

void fault_arm(const char *folder, long number, int what) {
    count = 0, at = number, kind = what;
    snprintf(below, sizeof below, "%s", folder);
}
long fault_count(void) { return count; }

static int hit(const char *path) { /* whether this call fails: the kind, else 0 */
    if (!below[0] || !path || !strstr(path, below) || ++count != at) return 0;
    errno = kind == 1 ? EIO : kind == 2 ? ENOSPC : EINTR;
    return kind;
}
static int hit_fd(int fd) {
    char name[64], path[PATH_MAX];
    if (!below[0]) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return hit(path);
}
static const char *full(const char *path) { /* of a relative path */
    static __thread char found[2*PATH_MAX];
    if (!path || path[0] == '/' || !getcwd(found, PATH_MAX)) return path;
    size_t length = strlen(found);
    snprintf(found + length, sizeof found - length, "/%s", path);
    return found;
}
#define REAL(name, type, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *data, size_t size) {
    REAL("write", ssize_t, int, const void *, size_t);
    int found = hit_fd(fd);
    return found == 4 && size > 1 ? real(fd, data, size/2) : found ? -1 : real(fd, data, size);
}
#define PWRITE(name) ssize_t name(int fd, const void *data, size_t size, off_t place) { \
    REAL(#name, ssize_t, int, const void *, size_t, off_t); \
    int found = hit_fd(fd); \
    return found == 4 && size > 1 ? real(fd, data, size/2, place) : found ? -1 : real(fd, data, size, place); }
PWRITE(pwrite)
PWRITE(pwrite64)
#define OPEN(name) int name(const char *path, int flags, ...) { \
    REAL(#name, int, const char *, int, ...); \
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
    return (flags & (O_WRONLY | O_RDWR)) && hit(full(path)) ? -1 : real(path, flags, mode); }
OPEN(open)
OPEN(open64)
#define ON_FD(name) int name(int fd) { REAL(#name, int, int); return hit_fd(fd) ? -1 : real(fd); }
ON_FD(fsync)
#define SIZE(name) int name(int fd, off_t size) { REAL(#name, int, int, off_t); return hit_fd(fd) ? -1 : real(fd, size); }
SIZE(ftruncate)
SIZE(ftruncate64)
#define TWO(name) int name(const char *from, const char *to) { \
    REAL(#name, int, const char *, const char *); return hit(full(to)) ? -1 : real(from, to); }
TWO(rename)
TWO(link)
int mkdir(const char *path, mode_t mode) {
    REAL("mkdir", int, const char *, mode_t);
    return hit(full(path)) ? -1 : real(path, mode);
}
