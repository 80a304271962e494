/*
 * Records what a process does to the files below one folder, and makes chosen calls fail. Loaded with LD_PRELOAD.
 *
 * Each call is made and logged under one lock that all processes share, so the log has the exact order of effects.
 * A sync is logged when it begins and when it has ended: only what was written before its beginning is durable after
 * its end. The control file (layout: control.ts) counts calls and holds the faults; the driver changes it at any time.
 *
 * PROOF_ROOT: the folder. PROOF_LOG: the log, created by the driver. PROOF_CONTROL: the control file.
 * PROOF_CLASSES: "glob;glob;…", matched against paths relative to the folder; the index of the first match is the class.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { OPEN, CREATE, READ, WRITE, TRUNCATE, ALLOCATE, RENAME, UNLINK, LINK, MKDIR, RMDIR, SYNC, CALLS };
enum op { O_CREATED = 1, O_WRITTEN, O_TRUNCATED, O_RENAMED, O_UNLINKED, O_LINKED, O_MADE, O_REMOVED, O_BEGUN, O_ENDED,
          O_SYMLINKED, O_MARK, O_FAULT, O_UNSEEN };
enum { CLASSES = 16, PLANS = 4, SHORT = -1, PERSISTENT_EINTR = 20 };

struct plan { int32_t call, class, nth, persistent, error, seen, hits, pad; };
struct control {
  char lock[64];
  uint32_t ready, recording, plans, fired;
  struct plan plan[PLANS];
  uint64_t count[CALLS][CLASSES];
};
struct record {
  uint32_t size; uint8_t op, class; uint16_t from, to, pad; int32_t result; uint64_t inode; int64_t offset, length;
};

static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
static struct control *control;
static char *globs[CLASSES];
static int glob_count;
static __thread int inside;

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int real_open(const char *path, int flags, mode_t mode) {
  REAL(int, "open64", const char *, int, ...);
  return real(path, flags, mode);
}

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("PROOF_ROOT"), *log = getenv("PROOF_LOG"), *shared = getenv("PROOF_CONTROL");
  const char *classes = getenv("PROOF_CLASSES");
  if (!folder || !log || !shared || !classes || !realpath(folder, root)) return;
  root_length = strlen(root);
  for (char *glob = strtok(strdup(classes), ";"); glob && glob_count < CLASSES; glob = strtok(NULL, ";"))
    globs[glob_count++] = glob;
  int fd = real_open(shared, O_RDWR | O_CLOEXEC, 0);
  log_fd = real_open(log, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  if (fd < 0 || log_fd < 0) return;
  flock(fd, LOCK_EX);
  struct control *mapped = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) {
    if (!mapped->ready) {
      pthread_mutexattr_t kind;
      pthread_mutexattr_init(&kind);
      pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
      pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
      pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
      pthread_mutex_init((pthread_mutex_t *)mapped->lock, &kind);
      mapped->ready = 1;
    }
    control = mapped;
  }
  flock(fd, LOCK_UN);
  close(fd);
}

static int lock(void) {
  int failed = pthread_mutex_lock((pthread_mutex_t *)control->lock);
  if (failed == EOWNERDEAD) failed = pthread_mutex_consistent((pthread_mutex_t *)control->lock);
  if (!failed) inside = 1;
  return failed;
}

static void unlock(void) {
  inside = 0;
  pthread_mutex_unlock((pthread_mutex_t *)control->lock);
}

/* The part of an absolute path below the folder; NULL for any other path. */
static const char *below(const char *path) {
  if (strncmp(path, root, root_length) || (path[root_length] != '/' && path[root_length])) return NULL;
  return path[root_length] ? path + root_length + 1 : "";
}

static const char *of_path(int folder, const char *path, char *buffer) {
  if (!control || inside || !path) return NULL;
  if (path[0] != '/') {
    char link[40];
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, buffer, PATH_MAX - 1);
    if (length < 0 || length + strlen(path) + 2 > PATH_MAX) return NULL;
    buffer[length] = '/';
    strcpy(buffer + length + 1, path[0] == '.' && path[1] == '/' ? path + 2 : path);
    if (!strcmp(path, ".")) buffer[length] = 0;
    return below(buffer);
  }
  /* The folder may be named through a symbolic link; its parents are resolved, the last name is not. */
  snprintf(buffer, PATH_MAX, "%s", path);
  const char *direct = below(buffer);
  if (direct) return direct;
  char parent[PATH_MAX], resolved[PATH_MAX];
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  if (!slash || slash == parent) return NULL;
  *slash = 0;
  if (!realpath(parent, resolved)) return NULL;
  snprintf(buffer, PATH_MAX, "%.*s/%.*s", PATH_MAX - 300, resolved, 255, slash + 1);
  return below(buffer);
}

static const char *of_fd(int fd, char *buffer, struct stat *found) {
  if (!control || inside || fstat(fd, found) || !(S_ISREG(found->st_mode) || S_ISDIR(found->st_mode))) return NULL;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, buffer, PATH_MAX - 1);
  if (length < 0) return NULL;
  buffer[length] = 0;
  return below(buffer);
}

static int class_of(const char *path) {
  for (int i = 0; i < glob_count; i++)
    if (!fnmatch(globs[i], path, 0)) return i;
  return glob_count;
}

static void put(struct record head, const char *from, const char *to, const struct iovec *data, int parts, size_t bytes) {
  if (!control->recording) return;
  struct iovec all[4 + IOV_MAX];
  head.from = strlen(from);
  head.to = to ? strlen(to) : 0;
  head.size = sizeof head + head.from + head.to + bytes;
  all[0] = (struct iovec){&head, sizeof head};
  all[1] = (struct iovec){(void *)from, head.from};
  all[2] = (struct iovec){(void *)(to ? to : ""), head.to};
  int used = 3;
  for (int i = 0; i < parts && bytes > 0 && used < IOV_MAX; i++) {
    size_t part = data[i].iov_len < bytes ? data[i].iov_len : bytes;
    all[used++] = (struct iovec){data[i].iov_base, part};
    bytes -= part;
  }
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  if (real(log_fd, all, used) < 0) control->recording = 0;
}

/* Counts a call. @returns 0, an errno to fail with, or SHORT */
static int fault(enum call call, const char *path) {
  int class = class_of(path);
  control->count[call][class]++;
  for (uint32_t i = 0; i < control->plans && i < PLANS; i++) {
    struct plan *plan = &control->plan[i];
    if (plan->call != (int)call || plan->class != class) continue;
    plan->seen++;
    if (plan->seen < plan->nth || (!plan->persistent && plan->hits > 0)) continue;
    if (plan->error == EINTR && plan->hits >= PERSISTENT_EINTR) continue;
    plan->hits++;
    control->fired++;
    put((struct record){.op = O_FAULT, .class = call, .result = plan->error}, path, NULL, NULL, 0, 0);
    return plan->error;
  }
  return 0;
}

#include "disk-shim-calls.h"
