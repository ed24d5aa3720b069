#ifndef CCOREDATA_LOG_H
#define CCOREDATA_LOG_H

/// The name, for `sqlite3_open_v2`, of a VFS that is the platform's but for write-ahead logs: what a transaction appends to its log
/// is written at once. Null if it could not be registered; SQLite then takes the platform's.
///
/// SQLite writes each page of a log in two parts, 24 bytes of header and the page, so that a small transaction spends more
/// time in these calls than in all else that it does. Readers look at pages only after the transaction's last page was written, so
/// nobody can see that the earlier ones came later. The first call initialises SQLite.
///
/// After any error inside a transaction that writes, a failed read among them, the whole transaction must be rolled back: a read may be
/// what learns that held pages could not be written.
const char *_Nullable coredata_log_vfs(void);

#endif
