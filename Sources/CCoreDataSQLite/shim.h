// SQLite's C interface, with the macros and variadic functions that Swift cannot import.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#define SQLITE_ENABLE_SESSION 1
#include <sqlite3.h>

static inline int coredata_sqlite_bind_text_static(sqlite3_stmt *s, int i, const char *p, int n) {
    return sqlite3_bind_text(s, i, p, n, SQLITE_STATIC);
}
static inline int coredata_sqlite_bind_text_transient(sqlite3_stmt *s, int i, const char *p, int n) {
    return sqlite3_bind_text(s, i, p, n, SQLITE_TRANSIENT);
}
static inline int coredata_sqlite_bind_blob_static(sqlite3_stmt *s, int i, const void *p, int n) {
    return sqlite3_bind_blob(s, i, p, n, SQLITE_STATIC);
}
static inline int coredata_sqlite_bind_blob_transient(sqlite3_stmt *s, int i, const void *p, int n) {
    return sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT);
}
static inline int coredata_sqlite_config_memstatus(int on) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on);
}
static inline int coredata_sqlite_defensive(sqlite3 *db, int on) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}
static inline int coredata_sqlite_trusted_schema(sqlite3 *db, int on) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, (int *)0);
}
static inline int coredata_sqlite_checkpoint_on_close(sqlite3 *db, int on) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !on, (int *)0);
}
static inline int coredata_sqlite_reset(sqlite3 *db, int on) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_RESET_DATABASE, on, (int *)0);
}
static inline void coredata_sqlite_result_blob(sqlite3_context *c, const void *p, int n) {
    sqlite3_result_blob(c, p, n, SQLITE_TRANSIENT);
}
static inline void coredata_sqlite_result_text(sqlite3_context *c, const char *p, int n) {
    sqlite3_result_text(c, p, n, SQLITE_TRANSIENT);
}

/* The header of the write-ahead log's index (sqlite.org/walformat.html, "The WAL-Index Header"): commits, whoever made them, frames in
   the log, and a number that is another one each time the log is overwritten from its start. */
typedef struct {
    unsigned commits, frames, generation;
} coredata_sqlite_log_header;

/* Read in the memory that the connection shares with all others; 0 where there is none. The connection must have read before. */
static inline int coredata_sqlite_read_log_header(sqlite3 *db, coredata_sqlite_log_header *header) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods) return 0;
    if (file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    void volatile *region = 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &region) != SQLITE_OK || !region) return 0;
    volatile unsigned *first = (volatile unsigned *)region, *second = first + 12;
    for (int attempt = 0; attempt < 100; attempt++) {
        header->commits = __atomic_load_n(first + 2, __ATOMIC_ACQUIRE);
        header->frames = __atomic_load_n(first + 4, __ATOMIC_ACQUIRE);
        header->generation = __atomic_load_n(first + 8, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(second + 2, __ATOMIC_ACQUIRE) == header->commits
            && __atomic_load_n(second + 4, __ATOMIC_ACQUIRE) == header->frames
            && __atomic_load_n(second + 8, __ATOMIC_ACQUIRE) == header->generation) return 1;
    }
    return 0;
}
