#include "CCoreDataLog.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum {
    /// Bytes that are held at most: sixteen pages of the usual size.
    CAPACITY = 16 * (4096 + 24),
    /// What SQLite writes before each page: its number, the size of the database if the page ends a transaction, check sums.
    HEADER = 24,
    /// By how much a log grows beyond its last page. A file system takes less time for many new pages at once than for few at a time.
    STEP = 16 * 4096,
};

/// A file as SQLite sees it, and the platform's own, which lies behind it in the same block.
struct file {
    sqlite3_file base;
    sqlite3_file *real;
};

struct database {
    struct file file;
    /// Its log, while that is open.
    struct log *log;
};

struct log {
    struct file file;
    struct database *database;
    /// Where in the file the held bytes belong, or where the last write ended; -1 for nowhere.
    sqlite3_int64 start;
    int count;
    /// Whether the last header was that of a page that ends a transaction.
    int ends;
    /// How long the file is at least, as far as it was asked for.
    sqlite3_int64 size;
    char *bytes;
};

static sqlite3_vfs *platform;

static sqlite3_file *real(sqlite3_file *file) { return ((struct file *)file)->real; }

// MARK: Logs

/// Writes what is held. After a failure it is forgotten: the transaction that it belongs to has failed.
///
/// The call that learns of the failure may be a read: a transaction that outgrew its cache reads a page back from the log while pages
/// before it are held. To SQLite that is a failed read, after which it may let the transaction go on, although pages that it has
/// counted as written are lost. So whoever writes through this VFS rolls the whole transaction back after any error, as
/// `Connection.transaction` does; rolling back to a savepoint is not enough.
static int flush(sqlite3_file *file) {
    struct log *log = (struct log *)file;
    if (!log->count) return SQLITE_OK;
    int code = real(file)->pMethods->xWrite(real(file), log->bytes, log->count, log->start);
    log->start = code == SQLITE_OK ? log->start + log->count : -1;
    log->count = 0;
    return code;
}

/// Writes the last page of a transaction and, if it lies at the end of the file, zeros after it for the next ones. Who reads a log
/// stops where the check sums end. That the zeros find no room is not an error: nothing was promised about them.
static int flushTransaction(sqlite3_file *file) {
    static const char zeros[STEP];
    struct log *log = (struct log *)file;
    int code = flush(file);
    if (code != SQLITE_OK || log->start <= log->size) return code;
    sqlite3_int64 size;
    if (real(file)->pMethods->xFileSize(real(file), &size) != SQLITE_OK) return SQLITE_OK;
    if (size <= log->start && real(file)->pMethods->xWrite(real(file), zeros, STEP, log->start) == SQLITE_OK)
        size = log->start + STEP;
    log->size = size;
    return SQLITE_OK;
}

/// Holds what continues the last write until the last page of a transaction, and writes everything else through. A header that is
/// written anew in its place never continues anything, so that none is held without its page.
static int logWrite(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct log *log = (struct log *)file;
    // Nobody would tell of the end of its transactions.
    if (!log->database) return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (count == HEADER) {
        static const char none[4];
        log->ends = memcmp((const char *)bytes + 4, none, sizeof none) != 0;
    }
    if (offset != log->start + log->count || log->count + count > CAPACITY) {
        int code = flush(file);
        if (code != SQLITE_OK) return code;
    }
    if (!log->bytes) log->bytes = malloc(CAPACITY);
    if (offset == log->start + log->count && count <= CAPACITY && log->bytes) {
        memcpy(log->bytes + log->count, bytes, count);
        log->count += count;
        return log->ends && count != HEADER ? flushTransaction(file) : SQLITE_OK;
    }
    int code = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    log->start = code == SQLITE_OK ? offset + count : -1;
    return code;
}

/// Forgets what is held when its writer gives up the right to write: its transaction was rolled back, and the next one, maybe of
/// another process, writes to the same place.
static void endTransaction(struct log *log) {
    if (!log || !log->count) return;
    log->count = 0;
    log->start = -1;
}

static int logClose(sqlite3_file *file) {
    struct log *log = (struct log *)file;
    if (log->database) log->database->log = NULL;
    free(log->bytes);
    return real(file)->pMethods->xClose(real(file));
}

/// Calls the platform's method of the same name after what is held has been written. If that fails, the answer is the write's error,
/// and the transaction must be rolled back (see `flush`).
#define AFTER_FLUSH(call)               \
    int code = flush(file);             \
    if (code != SQLITE_OK) return code; \
    return real(file)->pMethods->call

static int logRead(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    AFTER_FLUSH(xRead(real(file), bytes, count, offset));
}
static int logTruncate(sqlite3_file *file, sqlite3_int64 size) {
    ((struct log *)file)->size = size;
    AFTER_FLUSH(xTruncate(real(file), size));
}
static int logSync(sqlite3_file *file, int flags) { AFTER_FLUSH(xSync(real(file), flags)); }
static int logFileSize(sqlite3_file *file, sqlite3_int64 *size) { AFTER_FLUSH(xFileSize(real(file), size)); }
static int logFileControl(sqlite3_file *file, int operation, void *argument) {
    AFTER_FLUSH(xFileControl(real(file), operation, argument));
}

// MARK: Databases

/// Lock 0 is held by who writes (https://www.sqlite.org/walformat.html).
static int databaseShmLock(sqlite3_file *file, int first, int count, int flags) {
    if (first == 0 && flags & SQLITE_SHM_UNLOCK) endTransaction(((struct database *)file)->log);
    return real(file)->pMethods->xShmLock(real(file), first, count, flags);
}

// MARK: The platform's own

static int fileClose(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }
static int fileRead(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}
static int fileWrite(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}
static int fileTruncate(sqlite3_file *file, sqlite3_int64 size) { return real(file)->pMethods->xTruncate(real(file), size); }
static int fileSync(sqlite3_file *file, int flags) { return real(file)->pMethods->xSync(real(file), flags); }
static int fileFileSize(sqlite3_file *file, sqlite3_int64 *size) { return real(file)->pMethods->xFileSize(real(file), size); }
static int fileLock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int fileUnlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int fileCheckReservedLock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int fileFileControl(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int fileSectorSize(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int fileDeviceCharacteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
static int fileShmMap(sqlite3_file *file, int page, int size, int extends, void volatile **memory) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extends, memory);
}
static void fileShmBarrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int fileShmUnmap(sqlite3_file *file, int deletes) { return real(file)->pMethods->xShmUnmap(real(file), deletes); }
static int fileFetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **memory) {
    return real(file)->pMethods->xFetch(real(file), offset, count, memory);
}
static int fileUnfetch(sqlite3_file *file, sqlite3_int64 offset, void *memory) {
    return real(file)->pMethods->xUnfetch(real(file), offset, memory);
}

static const sqlite3_io_methods logMethods = {
    .iVersion = 1,
    .xClose = logClose,
    .xRead = logRead,
    .xWrite = logWrite,
    .xTruncate = logTruncate,
    .xSync = logSync,
    .xFileSize = logFileSize,
    .xLock = fileLock,
    .xUnlock = fileUnlock,
    .xCheckReservedLock = fileCheckReservedLock,
    .xFileControl = logFileControl,
    .xSectorSize = fileSectorSize,
    .xDeviceCharacteristics = fileDeviceCharacteristics,
};

#define DATABASE_METHODS(version)                          \
    {                                                      \
        .iVersion = version,                               \
        .xClose = fileClose,                               \
        .xRead = fileRead,                                 \
        .xWrite = fileWrite,                               \
        .xTruncate = fileTruncate,                         \
        .xSync = fileSync,                                 \
        .xFileSize = fileFileSize,                         \
        .xLock = fileLock,                                 \
        .xUnlock = fileUnlock,                             \
        .xCheckReservedLock = fileCheckReservedLock,       \
        .xFileControl = fileFileControl,                   \
        .xSectorSize = fileSectorSize,                     \
        .xDeviceCharacteristics = fileDeviceCharacteristics, \
        .xShmMap = fileShmMap,                             \
        .xShmLock = databaseShmLock,                       \
        .xShmBarrier = fileShmBarrier,                     \
        .xShmUnmap = fileShmUnmap,                         \
        .xFetch = fileFetch,                               \
        .xUnfetch = fileUnfetch,                           \
    }

/// By how many methods the platform's file has.
static const sqlite3_io_methods databaseMethods[] = {DATABASE_METHODS(1), DATABASE_METHODS(2), DATABASE_METHODS(3)};

static const sqlite3_io_methods *methodsFor(const sqlite3_io_methods *own) {
    if (own->iVersion < 2 || !own->xShmMap) return &databaseMethods[0];
    return &databaseMethods[own->iVersion < 3 || !own->xFetch ? 1 : 2];
}

/// Files other than databases and logs are the platform's own.
static int vfsOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
    (void)vfs;
    int isLog = (flags & SQLITE_OPEN_WAL) != 0;
    if (!isLog && !(flags & SQLITE_OPEN_MAIN_DB)) return platform->xOpen(platform, name, file, flags, result);
    size_t size = isLog ? sizeof(struct log) : sizeof(struct database);
    memset(file, 0, size);
    ((struct file *)file)->real = (sqlite3_file *)((char *)file + size);
    int code = platform->xOpen(platform, name, real(file), flags, result);
    // SQLite closes a file whose opening failed if it has methods.
    if (!real(file)->pMethods) return code;
    if (!isLog) {
        file->pMethods = methodsFor(real(file)->pMethods);
        return code;
    }
    struct log *log = (struct log *)file;
    log->start = -1;
    file->pMethods = &logMethods;
    sqlite3_file *owner = sqlite3_database_file_object(name);
    if (owner && owner->pMethods && owner->pMethods->xClose == fileClose) {
        log->database = (struct database *)owner;
        log->database->log = log;
    }
    return code;
}

static int vfsDelete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    return platform->xDelete(platform, name, sync);
}
static int vfsAccess(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs;
    return platform->xAccess(platform, name, flags, result);
}
static int vfsFullPathname(sqlite3_vfs *vfs, const char *name, int count, char *result) {
    (void)vfs;
    return platform->xFullPathname(platform, name, count, result);
}
static void *vfsDlOpen(sqlite3_vfs *vfs, const char *name) {
    (void)vfs;
    return platform->xDlOpen(platform, name);
}
static void vfsDlError(sqlite3_vfs *vfs, int count, char *text) {
    (void)vfs;
    platform->xDlError(platform, count, text);
}
static void (*vfsDlSym(sqlite3_vfs *vfs, void *library, const char *name))(void) {
    (void)vfs;
    return platform->xDlSym(platform, library, name);
}
static void vfsDlClose(sqlite3_vfs *vfs, void *library) {
    (void)vfs;
    platform->xDlClose(platform, library);
}
static int vfsRandomness(sqlite3_vfs *vfs, int count, char *bytes) {
    (void)vfs;
    return platform->xRandomness(platform, count, bytes);
}
static int vfsSleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return platform->xSleep(platform, microseconds);
}
static int vfsCurrentTime(sqlite3_vfs *vfs, double *days) {
    (void)vfs;
    return platform->xCurrentTime(platform, days);
}
static int vfsGetLastError(sqlite3_vfs *vfs, int count, char *text) {
    (void)vfs;
    return platform->xGetLastError(platform, count, text);
}
static int vfsCurrentTimeInt64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    (void)vfs;
    return platform->xCurrentTimeInt64(platform, milliseconds);
}

static sqlite3_vfs vfs = {
    .iVersion = 1,
    .zName = "coredata-log",
    .xOpen = vfsOpen,
    .xDelete = vfsDelete,
    .xAccess = vfsAccess,
    .xFullPathname = vfsFullPathname,
    .xDlOpen = vfsDlOpen,
    .xDlError = vfsDlError,
    .xDlSym = vfsDlSym,
    .xDlClose = vfsDlClose,
    .xRandomness = vfsRandomness,
    .xSleep = vfsSleep,
    .xCurrentTime = vfsCurrentTime,
    .xGetLastError = vfsGetLastError,
};
static int isRegistered;

static void registerVFS(void) {
    platform = sqlite3_vfs_find(NULL);
    if (!platform) return;
    vfs.szOsFile = (int)sizeof(struct log) + platform->szOsFile;
    vfs.mxPathname = platform->mxPathname;
    if (platform->iVersion >= 2 && platform->xCurrentTimeInt64) {
        vfs.iVersion = 2;
        vfs.xCurrentTimeInt64 = vfsCurrentTimeInt64;
    }
    isRegistered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *coredata_log_vfs(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, registerVFS);
    return isRegistered ? vfs.zName : NULL;
}
