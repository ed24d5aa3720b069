// Each task in plain C, one row a statement, as a careful programmer would write it.
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "CYardstick.h"
#include "database.h"

#define COMMITS 500
#define REQUESTS 1000

// Brings the table's pages into SQLite's cache without making a row.
void warm_pages(void) {
    sqlite3_stmt *scan = prepare("SELECT count(*) FROM patient WHERE weight > 0");
    run_once(scan);
    sqlite3_finalize(scan);
}

static void read_all(sqlite3_stmt *statement, Rows *rows, Checksum *checksum) {
    while (step(statement)) {
        Row *row = next_row(rows);
        read_row(statement, row);
        if (checksum) add_row(checksum, row);
    }
    sqlite3_reset(statement);
}

Checksum task_insert(const char *path, int has_injuries) {
    Row *rows = malloc(sizeof(Row) * (size_t)row_total);
    for (int i = 0; i < row_total; i++) {
        make_row(&rows[i], i, row_total);
        if (!has_injuries) rows[i].injury = 0;
    }
    create_tables(path);
    sqlite3_stmt *insert = prepare("INSERT INTO patient(" ROW_COLUMNS ") VALUES(?,?,?,?,?,?,?,?)");
    begin_region();
    execute("BEGIN IMMEDIATE");
    for (int i = 0; i < row_total; i++) {
        bind_row(insert, &rows[i]);
        run_once(insert);
    }
    execute("COMMIT");
    end_region();
    Rows all = {rows, row_total, row_total};
    free_rows(&all);
    sqlite3_finalize(insert);
    return (Checksum){row_total, 0};
}

Checksum task_fetch(int is_read) {
    Rows rows = {0};
    Checksum checksum = {0};
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient");
    int64_t heap = yardstick_heap_bytes();
    begin_region();
    read_all(select, &rows, &checksum);
    end_region();
    region_bytes = yardstick_heap_bytes() - heap;
    if (!is_read) checksum = (Checksum){rows.count, 0};
    free_rows(&rows);
    sqlite3_finalize(select);
    return checksum;
}

Checksum task_free(void) {
    Rows rows = {0};
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient");
    read_all(select, &rows, NULL);
    Checksum checksum = {rows.count, 0};
    begin_region();
    free_rows(&rows);
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

void add_all(sqlite3_stmt *select, Checksum *checksum) {
    while (step(select)) {
        Row row;
        read_row(select, &row);
        add_row(checksum, &row);
        free_row(&row);
    }
    sqlite3_reset(select);
}

Checksum task_filter(void) {
    Checksum checksum = {0};
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient"
                                   " WHERE age>=?1 AND age<=?2 AND weight>?3 ORDER BY admitted DESC LIMIT 100");
    begin_region();
    sqlite3_bind_int64(select, 1, 40);
    sqlite3_bind_int64(select, 2, 60);
    sqlite3_bind_double(select, 3, 70.0);
    add_all(select, &checksum);
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

static void look_up(sqlite3_stmt *select, const int64_t *keys, int count, Checksum *checksum) {
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(select, 1, keys[i]);
        if (step(select)) {
            Row row;
            read_row(select, &row);
            add_row(checksum, &row);
            free_row(&row);
        }
        sqlite3_reset(select);
    }
}

Checksum task_lookup(void) {
    Checksum checksum = {0}, warming = {0};
    int64_t *keys = shuffled_keys(row_total);
    int half = row_total / 2;
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient WHERE id=?1");
    look_up(select, keys + half, row_total - half, &warming);
    begin_region();
    look_up(select, keys, half, &checksum);
    end_region();
    free(keys);
    sqlite3_finalize(select);
    return checksum;
}

Checksum task_change(int is_update) {
    Rows rows = {0};
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient WHERE id % 10 = 3");
    sqlite3_stmt *change =
        prepare(is_update ? "UPDATE patient SET weight=?2 WHERE id=?1" : "DELETE FROM patient WHERE id=?1");
    read_all(select, &rows, NULL);
    begin_region();
    execute("BEGIN IMMEDIATE");
    for (int i = 0; i < rows.count; i++) {
        sqlite3_bind_int64(change, 1, rows.rows[i].id);
        if (is_update) sqlite3_bind_double(change, 2, rows.rows[i].weight + 1);
        run_once(change);
    }
    execute("COMMIT");
    end_region();
    Checksum checksum = {rows.count, 0};
    free_rows(&rows);
    sqlite3_finalize(select);
    sqlite3_finalize(change);
    return checksum;
}

Checksum task_to_one(void) {
    Checksum checksum = {0};
    Rows rows = {0};
    int injuries = injury_count(row_total);
    sqlite3_stmt *patients = prepare("SELECT " ROW_COLUMNS " FROM patient");
    sqlite3_stmt *names = prepare("SELECT id,name FROM injury");
    begin_region();
    read_all(patients, &rows, NULL);
    char **by_id = calloc((size_t)injuries + 1, sizeof(char *));
    while (step(names)) {
        int64_t id = sqlite3_column_int64(names, 0);
        if (id >= 1 && id <= injuries) by_id[id] = strdup((const char *)sqlite3_column_text(names, 1));
    }
    sqlite3_reset(names);
    for (int i = 0; i < rows.count; i++) checksum.whole += (int64_t)strlen(by_id[rows.rows[i].injury]);
    end_region();
    for (int id = 1; id <= injuries; id++) free(by_id[id]);
    free(by_id);
    free_rows(&rows);
    sqlite3_finalize(patients);
    sqlite3_finalize(names);
    return checksum;
}

Checksum task_to_many(void) {
    Checksum checksum = {0};
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient WHERE injury=?1");
    begin_region();
    for (int id = 1; id <= injury_count(row_total); id++) {
        sqlite3_bind_int64(select, 1, id);
        add_all(select, &checksum);
    }
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

// The injuries, and for each of them its patients: what a prefetch replaces.
Checksum task_to_many_prefetch(void) {
    Checksum checksum = {0};
    sqlite3_stmt *injuries = prepare("SELECT id,name FROM injury");
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient WHERE injury=?1");
    begin_region();
    while (step(injuries)) {
        sqlite3_bind_int64(select, 1, sqlite3_column_int64(injuries, 0));
        add_all(select, &checksum);
    }
    sqlite3_reset(injuries);
    end_region();
    sqlite3_finalize(injuries);
    sqlite3_finalize(select);
    return checksum;
}

// The first tenth of the rows, looked up one by one.
Checksum task_faults(void) {
    Checksum checksum = {0};
    int count = row_total / 10;
    int64_t *keys = malloc(sizeof(int64_t) * (size_t)count);
    for (int i = 0; i < count; i++) keys[i] = i + 1;
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient WHERE id=?1");
    begin_region();
    look_up(select, keys, count, &checksum);
    end_region();
    free(keys);
    sqlite3_finalize(select);
    return checksum;
}

// Twenty patients by an indexed column, from another place each time. The connection and the statement are kept.
Checksum task_request(void) {
    Checksum checksum = {0};
    sqlite3_stmt *select =
        prepare("SELECT " ROW_COLUMNS " FROM patient WHERE admitted>=?1 ORDER BY admitted LIMIT 20");
    begin_region();
    for (int64_t number = 0; number < REQUESTS; number++) {
        sqlite3_bind_double(select, 1, 700000000.0 + (double)((number * 7919 * 3600) % 31000000));
        add_all(select, &checksum);
    }
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

// Every hundredth row gets another weight.
Checksum task_save_dirty(void) {
    sqlite3_stmt *change = prepare("UPDATE patient SET weight=?2 WHERE id=?1");
    int64_t count = 0;
    begin_region();
    execute("BEGIN IMMEDIATE");
    for (int i = 0; i < row_total; i += 100) {
        sqlite3_bind_int64(change, 1, i + 1);
        sqlite3_bind_double(change, 2, i);
        run_once(change);
        count++;
    }
    execute("COMMIT");
    end_region();
    sqlite3_finalize(change);
    return (Checksum){count, 0};
}

Checksum task_commit(void) {
    Row row;
    make_row(&row, 1, row_total);
    sqlite3_stmt *insert = prepare("INSERT INTO patient(" ROW_COLUMNS ") VALUES(?,?,?,?,?,?,?,?)");
    begin_region();
    for (int i = 0; i < COMMITS; i++) {
        row.id = row_total + 1 + i;
        execute("BEGIN IMMEDIATE");
        bind_row(insert, &row);
        run_once(insert);
        execute("COMMIT");
    }
    end_region();
    free_row(&row);
    sqlite3_finalize(insert);
    return (Checksum){COMMITS, 0};
}

Checksum task_open(const char *path) {
    Checksum checksum = {0};
    Row row;
    begin_region();
    open_database(path);
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient LIMIT 1");
    if (!step(select)) stop("open");
    read_row(select, &row);
    add_row(&checksum, &row);
    sqlite3_reset(select);
    end_region();
    free_row(&row);
    sqlite3_finalize(select);
    return checksum;
}
