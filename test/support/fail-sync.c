/*
 * Preloaded into a service: once the file named by FAIL_SYNC_WHEN exists, the next fsync or fdatasync of a file whose path
 * ends with FAIL_SYNC_OF fails with EIO without being made, and the file named by FAIL_SYNC_WHEN is removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int must_fail(int fd) {
  const char *of = getenv("FAIL_SYNC_OF");
  const char *when = getenv("FAIL_SYNC_WHEN");
  char link[64], path[4096];
  if (of == NULL || when == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  size_t wanted = strlen(of);
  if (length < 0 || (size_t)length < wanted) return 0;
  path[length] = 0;
  if (strcmp(path + length - wanted, of) != 0) return 0;
  return unlink(when) == 0;
}

static int pass_on(const char *name, int fd) {
  if (must_fail(fd)) {
    errno = EIO;
    return -1;
  }
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return next(fd);
}

int fsync(int fd) { return pass_on("fsync", fd); }
int fdatasync(int fd) { return pass_on("fdatasync", fd); }
