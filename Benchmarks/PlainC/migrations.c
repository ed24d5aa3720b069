// The statements that a migration comes to, on a file of Core Data's layout.
#include "database.h"
#include "tasks.h"

static void run_bound(const char *sql, int64_t value) {
    sqlite3_stmt *statement = prepare(sql);
    sqlite3_bind_int64(statement, 1, value);
    run_once(statement);
    sqlite3_finalize(statement);
}

/// A further attribute, and its default value in every row.
Checksum task_migrate_add(const char *path) {
    begin_region();
    open_database(path);
    execute("BEGIN IMMEDIATE");
    execute("ALTER TABLE ZPATIENT ADD COLUMN ZWARD INTEGER");
    run_bound("UPDATE ZPATIENT SET ZWARD = ?", 4);
    execute("COMMIT");
    end_region();
    return (Checksum){0, 0};
}

/// An entity and an attribute of it get other names. Entities are numbered by their names: so the rows of both get other numbers.
Checksum task_migrate_rename(const char *path) {
    begin_region();
    open_database(path);
    execute("BEGIN IMMEDIATE");
    execute("ALTER TABLE ZPATIENT RENAME COLUMN ZWEIGHT TO ZMASS");
    run_bound("UPDATE ZPATIENT SET Z_ENT = ?", 1);
    run_bound("UPDATE ZINJURY SET Z_ENT = ?", 2);
    execute("ALTER TABLE ZPATIENT RENAME TO ZCASUALTY");
    // As Core Data's own files have it, beside the one of the former name.
    execute("CREATE INDEX ZCASUALTY_ZINJURY_INDEX ON ZCASUALTY (ZINJURY)");
    execute("COMMIT");
    end_region();
    return (Checksum){0, 0};
}
