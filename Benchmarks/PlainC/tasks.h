// Each task of the plain C program; a task marks its own measured region.
#ifndef TASKS_H
#define TASKS_H

#include "rows.h"

/// Brings the table's pages into SQLite's cache without making a row.
void warm_pages(void);

/// Reads every row that is left of a statement and adds it up, one at a time.
void add_all(sqlite3_stmt *select, Checksum *checksum);

Checksum task_insert(const char *path, int has_injuries);
Checksum task_fetch(int is_read);
Checksum task_filter(void);
Checksum task_lookup(void);
Checksum task_change(int is_update);
Checksum task_to_one(void);
Checksum task_to_many(void);
Checksum task_to_many_prefetch(void);
Checksum task_faults(void);
Checksum task_save_dirty(void);
Checksum task_request(void);
Checksum task_commit(void);
Checksum task_open(const char *path);
Checksum task_free(void);
Checksum task_history(const char *path);
Checksum task_history_read(const char *path);
Checksum task_migrate_add(const char *path);
Checksum task_migrate_rename(const char *path);

#endif
