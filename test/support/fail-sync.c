/*
 * Preloaded into a service: once the file named by FAIL_SYNC_WHEN exists, the next fsync or fdatasync of a file whose path
 * ends with FAIL_SYNC_OF fails with EIO without being made, and the file named by FAIL_SYNC_WHEN is removed. When that
 * file holds a text, only a sync of a file that contains this text fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int contains(const char *path, const char *text, size_t length) {
  if (length == 0) return 1;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  int found = 0;
  if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
    void *bytes = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes != MAP_FAILED) {
      found = memmem(bytes, status.st_size, text, length) != NULL;
      munmap(bytes, status.st_size);
    }
  }
  if (fd >= 0) close(fd);
  return found;
}

/* Reads the text that the synced file must contain; -1 when no sync must fail. */
static ssize_t read_text(const char *when, char *text, size_t size) {
  int fd = open(when, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t length = read(fd, text, size);
  close(fd);
  return length;
}

static int must_fail(int fd) {
  const char *of = getenv("FAIL_SYNC_OF");
  const char *when = getenv("FAIL_SYNC_WHEN");
  char link[64], path[4096], text[256];
  if (of == NULL || when == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  size_t wanted = strlen(of);
  if (length < 0 || (size_t)length < wanted) return 0;
  path[length] = 0;
  if (strcmp(path + length - wanted, of) != 0) return 0;
  ssize_t of_text = read_text(when, text, sizeof text);
  return of_text >= 0 && contains(path, text, of_text) && unlink(when) == 0;
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
