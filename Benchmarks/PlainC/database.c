// The connection and the measured region of the plain C program.
#include "database.h"

#include <stdio.h>
#include <stdlib.h>

#include "CYardstick.h"

static sqlite3 *database;
int row_total;
int is_counted;
int is_wall_clock;
static int64_t region_start;
double region_seconds;
int64_t region_bytes;

void stop(const char *doing) {
    fprintf(stderr, "plainc: %s: %s\n", doing, database ? sqlite3_errmsg(database) : "no database");
    exit(1);
}

static int64_t now(void) { return is_wall_clock ? yardstick_wall_time() : yardstick_cpu_time(); }

void begin_region(void) {
    region_start = now();
    if (is_counted) yardstick_count_begin();
}

void end_region(void) {
    if (is_counted) yardstick_count_end();
    region_seconds = (double)(now() - region_start) / 1e9;
}

void execute(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) stop(sql);
}

sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK) stop(sql);
    return statement;
}

int step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) stop(sqlite3_sql(statement));
    return code == SQLITE_ROW;
}

void run_once(sqlite3_stmt *statement) {
    step(statement);
    sqlite3_reset(statement);
}

void open_database(const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK) stop(path);
    execute(yardstick_connection_pragmas());
}

void open_new_database(const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK) stop(path);
    execute(yardstick_creation_pragmas());
    execute(yardstick_connection_pragmas());
}

void create_tables(const char *path) {
    open_new_database(path);
    execute("CREATE TABLE injury(id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
    execute("CREATE TABLE patient(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL,"
            " admitted REAL NOT NULL, weight REAL NOT NULL, note TEXT, photo BLOB, injury INTEGER)");
    execute("CREATE INDEX patient_injury ON patient(injury)");
    execute("BEGIN IMMEDIATE");
    sqlite3_stmt *insert = prepare("INSERT INTO injury(id,name) VALUES(?,?)");
    for (int id = 1; id <= injury_count(row_total); id++) {
        char name[64];
        int length = snprintf(name, sizeof name, "Injury number %d", id);
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_text(insert, 2, name, length, SQLITE_STATIC);
        run_once(insert);
    }
    sqlite3_finalize(insert);
    execute("COMMIT");
}

void close_database(void) {
    if (sqlite3_close(database) != SQLITE_OK) stop("close");
    database = NULL;
}
