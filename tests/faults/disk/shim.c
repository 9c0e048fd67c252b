/* Put in front of libc with LD_PRELOAD: fails the n-th write, sync or read on one database file, and logs what changes it.

   A fault point is a write, truncation or sync on <db>, <db>-wal, <db>-journal or <db>-shm. The log holds what really
   reached the file, in order, so that a test can say what a power cut at any moment would have left behind. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WRITE = 'w', TRUNCATE = 't', SYNC = 's', UNLINK = 'u', MARK = 'm' };
enum { MAIN = 0, WAL = 1, JOURNAL = 2, SHM = 3, NONE = 9 };
enum { WRITES = 1, SYNCS = 2, READS = 4 };

static char db[4096];
static int log_fd = -1;
static int at = -1, counted, for_good, error_number, is_short, kinds;

/* Begin to count, and to log. `which`: 1 writes and truncations, 2 syncs, 4 reads, or a sum. n < 0 fails nothing. */
void fault_arm(const char *path, const char *log, int n, int which, int good, int number, int half) {
  snprintf(db, sizeof db, "%s", path);
  if (log_fd < 0 && log[0]) log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  at = n; counted = 0; kinds = which; for_good = good; error_number = number; is_short = half;
}

/* The fault is over; go on logging. */
void fault_over(void) { at = -1; }

int fault_counted(void) { return counted; }

static void record(int op, int file, int ok, int64_t offset, const void *data, uint32_t length) {
  unsigned char head[16] = {op, file, ok, 0};
  uint32_t held = op == WRITE ? length : 0;
  if (log_fd < 0) return;
  memcpy(head + 4, &offset, 8);
  memcpy(head + 12, &held, 4);
  if (write(log_fd, head, sizeof head) != sizeof head) abort();
  if (held && write(log_fd, data, held) != (ssize_t)held) abort();
}

/* A moment that a test wants to find again in the log. */
void fault_mark(int number) { record(MARK, NONE, 1, number, 0, 0); }

static int named(const char *path) {
  static const char *suffix[] = {"", "-wal", "-journal", "-shm"};
  size_t length = strlen(db);
  if (!length || strncmp(path, db, length)) return NONE;
  for (int i = 0; i < 4; i++) if (!strcmp(path + length, suffix[i])) return i;
  return NONE;
}

static int file_of(int fd) {
  char link[64], path[4200];
  if (!db[0] || fd == log_fd) return NONE;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NONE;
  path[length] = 0;
  return named(path);
}

static int fails(int which) {
  if (!(kinds & which)) return 0;
  int now = counted++;
  return at >= 0 && (now == at || (for_good && now > at));
}

#define NEXT(name, type, ...) static type (*next)(__VA_ARGS__); if (!next) next = dlsym(RTLD_NEXT, #name)

static ssize_t written(int fd, const void *data, size_t length, int64_t offset, ssize_t (*pwriter)(int, const void *, size_t, off_t)) {
  int file = file_of(fd);
  if (file != NONE && fails(WRITES)) {
    size_t half = length / 2;
    if (is_short && half) {
      ssize_t n = pwriter(fd, data, half, offset);
      if (n > 0) record(WRITE, file, 1, offset, data, n);
      is_short = 0;          /* SQLite asks for the rest: that is what fails then, for want of room */
      at = counted;
      return n;
    }
    errno = error_number;
    return -1;
  }
  ssize_t n = pwriter(fd, data, length, offset);
  if (file != NONE && n > 0) record(WRITE, file, 1, offset, data, n);
  return n;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  NEXT(pwrite64, ssize_t, int, const void *, size_t, off_t);
  return written(fd, data, length, offset, next);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  NEXT(pwrite, ssize_t, int, const void *, size_t, off_t);
  return written(fd, data, length, offset, next);
}

static ssize_t got(int fd, void *data, size_t length, off_t offset, ssize_t (*preader)(int, void *, size_t, off_t)) {
  if (file_of(fd) != NONE && fails(READS)) { errno = error_number; return -1; }
  return preader(fd, data, length, offset);
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset) {
  NEXT(pread64, ssize_t, int, void *, size_t, off_t);
  return got(fd, data, length, offset, next);
}

ssize_t pread(int fd, void *data, size_t length, off_t offset) {
  NEXT(pread, ssize_t, int, void *, size_t, off_t);
  return got(fd, data, length, offset, next);
}

static int truncated(int fd, off_t length, int (*next)(int, off_t)) {
  int file = file_of(fd);
  if (file != NONE && fails(WRITES)) { errno = error_number; return -1; }
  int rc = next(fd, length);
  if (file != NONE && rc == 0) record(TRUNCATE, file, 1, length, 0, 0);
  return rc;
}

int ftruncate64(int fd, off64_t length) { NEXT(ftruncate64, int, int, off_t); return truncated(fd, length, next); }
int ftruncate(int fd, off_t length) { NEXT(ftruncate, int, int, off_t); return truncated(fd, length, next); }

static int synced(int fd, int (*next)(int)) {
  int file = file_of(fd);
  if (file == NONE) return db[0] ? 0 : next(fd);  /* a folder */
  if (fails(SYNCS)) { record(SYNC, file, 0, 0, 0, 0); errno = error_number; return -1; }
  record(SYNC, file, 1, 0, 0, 0);
  return 0;  /* the disk is the log's business: no test waits for a real one */
}

int fdatasync(int fd) { NEXT(fdatasync, int, int); return synced(fd, next); }
int fsync(int fd) { NEXT(fsync, int, int); return synced(fd, next); }

int unlink(const char *path) {
  NEXT(unlink, int, const char *);
  int file = named(path), rc = next(path);
  if (rc == 0 && file != NONE) record(UNLINK, file, 1, 0, 0, 0);
  return rc;
}
