/* The calls that disk-shim.c replaces. */

#define FAIL(value) do { unlock(); errno = failed; return value; } while (0)

static int opened(int folder, const char *path, int flags, mode_t mode) {
  REAL(int, "openat64", int, const char *, int, ...);
  char buffer[PATH_MAX];
  const char *name = of_path(folder, path, buffer);
  if (!name || lock()) return real(folder, path, flags, mode);
  struct stat before, after;
  int existed = !fstatat(folder, path, &before, 0);
  int failed = fault(!existed && (flags & O_CREAT) ? CREATE : OPEN, name);
  if (failed > 0) FAIL(-1);
  int fd = real(folder, path, flags, mode), error = errno;
  if (fd >= 0 && !existed && (flags & O_CREAT) && !fstat(fd, &after))
    put((struct record){.op = O_CREATED, .inode = after.st_ino}, name, NULL, NULL, 0, 0);
  if (fd >= 0 && existed && (flags & O_TRUNC) && before.st_size > 0)
    put((struct record){.op = O_TRUNCATED, .inode = before.st_ino}, name, NULL, NULL, 0, 0);
  unlock();
  errno = error;
  return fd;
}
#define MODE mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE return opened(folder, path, flags | O_LARGEFILE, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

static ssize_t written(int fd, const struct iovec *parts, int count, off64_t offset) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  static ssize_t (*append)(int, const struct iovec *, int);
  if (!append) append = (ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
  char buffer[PATH_MAX];
  struct stat found;
  const char *name = of_fd(fd, buffer, &found);
  if (!name || lock()) return offset < 0 ? append(fd, parts, count) : real(fd, parts, count, offset);
  int failed = fault(WRITE, name);
  if (failed > 0) FAIL(-1);
  struct iovec half;
  if (failed == SHORT) {
    half = (struct iovec){parts[0].iov_base, parts[0].iov_len > 1 ? parts[0].iov_len / 2 : parts[0].iov_len};
    parts = &half;
    count = 1;
  }
  ssize_t bytes = offset < 0 ? append(fd, parts, count) : real(fd, parts, count, offset);
  int error = errno;
  if (bytes > 0) {
    off64_t at = offset < 0 ? lseek64(fd, 0, SEEK_CUR) - bytes : offset;
    put((struct record){.op = O_WRITTEN, .inode = found.st_ino, .offset = at, .length = bytes}, name, NULL, parts, count, bytes);
  }
  unlock();
  errno = error;
  return bytes;
}
#define ONE (&(struct iovec){(void *)data, size})
ssize_t write(int fd, const void *data, size_t size) { return written(fd, ONE, 1, -1); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return written(fd, ONE, 1, offset); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) { return written(fd, ONE, 1, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return written(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { return written(fd, parts, count, offset); }

/* @returns whether the read fails (errno is set); a short one has `size` halved. */
static int read_fails(int fd, size_t *size) {
  char buffer[PATH_MAX];
  struct stat found;
  const char *name = of_fd(fd, buffer, &found);
  if (!name || lock()) return 0;
  int failed = fault(READ, name);
  unlock();
  if (failed == SHORT && size && *size > 1) *size /= 2;
  if (failed > 0) errno = failed;
  return failed > 0;
}
#define READER(name, symbol, size, parameters, types, arguments) \
  ssize_t name parameters { REAL(ssize_t, symbol, types); return read_fails(fd, size) ? -1 : real arguments; }
#define TYPES(...) __VA_ARGS__
READER(read, "read", &size, (int fd, void *data, size_t size), TYPES(int, void *, size_t), (fd, data, size))
READER(pread, "pread64", &size, (int fd, void *data, size_t size, off_t at), TYPES(int, void *, size_t, off_t), (fd, data, size, at))
READER(pread64, "pread64", &size, (int fd, void *data, size_t size, off64_t at), TYPES(int, void *, size_t, off64_t), (fd, data, size, at))
READER(readv, "readv", NULL, (int fd, const struct iovec *parts, int count), TYPES(int, const struct iovec *, int), (fd, parts, count))
READER(preadv, "preadv64", NULL, (int fd, const struct iovec *parts, int count, off_t at), TYPES(int, const struct iovec *, int, off_t), (fd, parts, count, at))

static int truncated(int fd, off64_t length, enum call call, int (*act)(int, off64_t)) {
  char buffer[PATH_MAX];
  struct stat found;
  const char *name = of_fd(fd, buffer, &found);
  if (!name || lock()) return act(fd, length);
  int failed = fault(call, name);
  if (failed > 0) FAIL(-1);
  int result = act(fd, length), error = errno;
  if (!result) put((struct record){.op = O_TRUNCATED, .inode = found.st_ino, .length = length}, name, NULL, NULL, 0, 0);
  unlock();
  errno = error;
  return result;
}
static int real_truncate(int fd, off64_t length) {
  REAL(int, "ftruncate64", int, off64_t);
  return real(fd, length);
}
int ftruncate64(int fd, off64_t length) { return truncated(fd, length, TRUNCATE, real_truncate); }
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
int truncate64(const char *path, off64_t length) {
  int fd = open64(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = ftruncate64(fd, length), error = errno;
  close(fd);
  errno = error;
  return result;
}
int truncate(const char *path, off_t length) { return truncate64(path, length); }

/* Room that is asked for in advance only makes a file longer: callers get ENOTSUP otherwise. */
int posix_fallocate64(int fd, off64_t offset, off64_t length) {
  REAL(int, "posix_fallocate64", int, off64_t, off64_t);
  char buffer[PATH_MAX];
  struct stat found;
  const char *name = of_fd(fd, buffer, &found);
  if (!name) return real(fd, offset, length);
  return offset + length <= found.st_size ? 0 : truncated(fd, offset + length, ALLOCATE, real_truncate) ? errno : 0;
}
int posix_fallocate(int fd, off_t offset, off_t length) { return posix_fallocate64(fd, offset, length); }
int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  REAL(int, "fallocate64", int, int, off64_t, off64_t);
  char buffer[PATH_MAX];
  struct stat found;
  if (!of_fd(fd, buffer, &found)) return real(fd, mode, offset, length);
  if (mode != 0) { errno = EOPNOTSUPP; return -1; }
  return (errno = posix_fallocate64(fd, offset, length)) ? -1 : 0;
}
int fallocate(int fd, int mode, off_t offset, off_t length) { return fallocate64(fd, mode, offset, length); }

/* Copies in the kernel are refused below the folder: their callers then read and write. */
#define REFUSED(type, name, out, parameters, types, arguments) \
  type name parameters { \
    REAL(type, #name, types); \
    char buffer[PATH_MAX]; struct stat found; \
    if (!of_fd(out, buffer, &found)) return real arguments; \
    errno = ENOSYS; return -1; }
REFUSED(ssize_t, copy_file_range, out, (int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags), TYPES(int, off64_t *, int, off64_t *, size_t, unsigned), (in, from, out, to, size, flags))
REFUSED(ssize_t, sendfile, out, (int out, int in, off_t *from, size_t size), TYPES(int, int, off_t *, size_t), (out, in, from, size))
REFUSED(ssize_t, sendfile64, out, (int out, int in, off64_t *from, size_t size), TYPES(int, int, off64_t *, size_t), (out, in, from, size))

static int moved(int a, const char *from, int b, const char *to, enum call call, enum op op, int flags) {
  static int (*rename_)(int, const char *, int, const char *), (*link_)(int, const char *, int, const char *, int);
  if (!rename_) rename_ = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
  if (!link_) link_ = (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
  char one[PATH_MAX], two[PATH_MAX];
  const char *old = of_path(a, from, one), *new = of_path(b, to, two);
  int recorded = old && new && !lock();
  int failed = recorded ? fault(call, new) : 0;
  if (failed > 0) FAIL(-1);
  int result = call == RENAME ? rename_(a, from, b, to) : link_(a, from, b, to, flags), error = errno;
  if (recorded && !result) put((struct record){.op = op}, old, new, NULL, 0, 0);
  if (!recorded && (old || new) && !result && !inside && !lock()) {
    put((struct record){.op = O_UNSEEN}, old ? old : new, NULL, NULL, 0, 0);
    unlock();
  }
  if (recorded) unlock();
  errno = error;
  return result;
}
int rename(const char *from, const char *to) { return moved(AT_FDCWD, from, AT_FDCWD, to, RENAME, O_RENAMED, 0); }
int renameat(int a, const char *from, int b, const char *to) { return moved(a, from, b, to, RENAME, O_RENAMED, 0); }
int link(const char *from, const char *to) { return moved(AT_FDCWD, from, AT_FDCWD, to, LINK, O_LINKED, 0); }
int linkat(int a, const char *from, int b, const char *to, int flags) { return moved(a, from, b, to, LINK, O_LINKED, flags); }

static int removed(int folder, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  char buffer[PATH_MAX];
  const char *name = of_path(folder, path, buffer);
  if (!name || lock()) return real(folder, path, flags);
  int failed = fault(flags & AT_REMOVEDIR ? RMDIR : UNLINK, name);
  if (failed > 0) FAIL(-1);
  int result = real(folder, path, flags), error = errno;
  if (!result) put((struct record){.op = flags & AT_REMOVEDIR ? O_REMOVED : O_UNLINKED}, name, NULL, NULL, 0, 0);
  unlock();
  errno = error;
  return result;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  int result = removed(AT_FDCWD, path, 0);
  return result && (errno == EISDIR || errno == EPERM) ? rmdir(path) : result;
}

int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(int, "mkdirat", int, const char *, mode_t);
  char buffer[PATH_MAX];
  const char *name = of_path(folder, path, buffer);
  if (!name || lock()) return real(folder, path, mode);
  int failed = fault(MKDIR, name);
  if (failed > 0) FAIL(-1);
  int result = real(folder, path, mode), error = errno;
  struct stat found;
  if (!result && !fstatat(folder, path, &found, 0))
    put((struct record){.op = O_MADE, .inode = found.st_ino}, name, NULL, NULL, 0, 0);
  unlock();
  errno = error;
  return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int symlink(const char *target, const char *path) {
  REAL(int, "symlink", const char *, const char *);
  char buffer[PATH_MAX];
  const char *name = of_path(AT_FDCWD, path, buffer);
  if (!name || lock()) return real(target, path);
  int failed = fault(LINK, name);
  if (failed > 0) FAIL(-1);
  int result = real(target, path), error = errno;
  if (!result) put((struct record){.op = O_SYMLINKED}, name, target, NULL, 0, 0);
  unlock();
  errno = error;
  return result;
}

static int synced(int fd, const char *symbol) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, symbol);
  char buffer[PATH_MAX];
  struct stat found;
  const char *name = of_fd(fd, buffer, &found);
  if (!name || lock()) return real(fd);
  int failed = fault(SYNC, name);
  if (failed > 0) FAIL(-1);
  put((struct record){.op = O_BEGUN, .result = gettid(), .inode = found.st_ino}, name, NULL, NULL, 0, 0);
  unlock();
  int result = real(fd), error = errno;
  if (!result && !lock()) {
    put((struct record){.op = O_ENDED, .result = gettid(), .inode = found.st_ino}, name, NULL, NULL, 0, 0);
    unlock();
  }
  errno = error;
  return result;
}
int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

/* Writes through a shared mapping would not be seen: the log says so, and the replay refuses it. */
void *mmap64(void *at, size_t size, int access, int flags, int fd, off64_t offset) {
  REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
  char buffer[PATH_MAX];
  struct stat found;
  const char *name = fd >= 0 && (flags & MAP_SHARED) && (access & PROT_WRITE) ? of_fd(fd, buffer, &found) : NULL;
  if (name && !lock()) {
    put((struct record){.op = O_UNSEEN}, name, NULL, NULL, 0, 0);
    unlock();
  }
  return real(at, size, access, flags, fd, offset);
}
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset) {
  return mmap64(at, size, access, flags, fd, offset);
}

/* The C library writes streams without calling `write`: what a stream wrote is logged whole when it is closed. */
FILE *fopen64(const char *path, const char *mode) {
  REAL(FILE *, "fopen64", const char *, const char *);
  char buffer[PATH_MAX];
  const char *name = strpbrk(mode, "wa+") ? of_path(AT_FDCWD, path, buffer) : NULL;
  if (!name || lock()) return real(path, mode);
  struct stat before, after;
  int existed = !stat(path, &before);
  int failed = fault(existed ? OPEN : CREATE, name);
  if (failed > 0) FAIL(NULL);
  FILE *stream = real(path, mode);
  int error = errno;
  if (stream && !existed && !fstat(fileno(stream), &after))
    put((struct record){.op = O_CREATED, .inode = after.st_ino}, name, NULL, NULL, 0, 0);
  if (stream && existed && *mode == 'w')
    put((struct record){.op = O_TRUNCATED, .inode = before.st_ino}, name, NULL, NULL, 0, 0);
  unlock();
  errno = error;
  return stream;
}
FILE *fopen(const char *path, const char *mode) { return fopen64(path, mode); }
int fclose(FILE *stream) {
  REAL(int, "fclose", FILE *);
  char buffer[PATH_MAX];
  struct stat found;
  int fd = fileno(stream);
  const char *name = fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY ? of_fd(fd, buffer, &found) : NULL;
  if (!name || fflush(stream) || fstat(fd, &found)) return real(stream);
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int own = real_open(link, O_RDONLY | O_CLOEXEC, 0);
  void *data = mmap64(NULL, found.st_size ? found.st_size : 1, PROT_READ, MAP_PRIVATE, own, 0);
  if (own >= 0) close(own);
  struct iovec all = {data, found.st_size};
  if (found.st_size && !lock()) {
    enum op seen = data == MAP_FAILED ? O_UNSEEN : O_WRITTEN;
    put((struct record){.op = seen, .inode = found.st_ino, .length = found.st_size}, name, NULL, &all, 1, seen == O_WRITTEN ? found.st_size : 0);
    unlock();
  }
  if (data != MAP_FAILED) munmap(data, found.st_size ? found.st_size : 1);
  return real(stream);
}
