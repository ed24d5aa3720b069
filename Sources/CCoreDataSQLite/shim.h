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
