// Rows that are written with a history of them, in Core Data's layout, and the reading of that history.
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "tasks.h"

#define SAVED 1000

static void create_history(void) {
    execute("CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,"
            " ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)");
    execute("CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER,"
            " ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR,"
            " ZPROCESSID VARCHAR, ZQUERYGEN BLOB)");
    execute("CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)");
    execute("CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)");
    execute("CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)");
    execute("CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)");
    execute("CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)");
    execute("CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)");
    execute("CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR)");
    execute("CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP)");
    execute("INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, NULL, 'plainc')");
}

static void add_change(sqlite3_stmt *change, int64_t number, int64_t transaction, int entity, int64_t row, const char *mask) {
    sqlite3_bind_int64(change, 1, number);
    sqlite3_bind_int64(change, 2, transaction);
    sqlite3_bind_int64(change, 3, mask ? 1 : 0);
    sqlite3_bind_int64(change, 4, entity);
    sqlite3_bind_int64(change, 5, row);
    if (mask) {
        sqlite3_bind_blob(change, 6, mask, 1, SQLITE_STATIC);
    } else {
        sqlite3_bind_null(change, 6);
    }
    run_once(change);
}

/// All patients in transactions of a thousand, each with its record: the patients that are new, and the injuries that have new ones.
static void save_all(const Row *rows) {
    sqlite3_stmt *insert = prepare("INSERT INTO patient(" ROW_COLUMNS ") VALUES(?,?,?,?,?,?,?,?)");
    sqlite3_stmt *transaction = prepare("INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZBUNDLEIDTS, ZPROCESSIDTS)"
                                        " VALUES (?, 16002, ?, 1, 1)");
    sqlite3_stmt *change = prepare("INSERT INTO ACHANGE (Z_PK, Z_ENT, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS)"
                                   " VALUES (?, 16001, ?, ?, ?, ?, ?)");
    int injuries = injury_count(row_total);
    char *has_new = malloc((size_t)injuries + 1);
    int64_t last = 0;
    for (int start = 0; start < row_total; start += SAVED) {
        int64_t number = start / SAVED + 1;
        execute("BEGIN IMMEDIATE");
        memset(has_new, 0, (size_t)injuries + 1);
        sqlite3_bind_int64(transaction, 1, number);
        sqlite3_bind_double(transaction, 2, 700000000.0 + (double)number);
        run_once(transaction);
        for (int i = start; i < start + SAVED && i < row_total; i++) {
            add_change(change, ++last, number, 2, rows[i].id, NULL);
            has_new[rows[i].injury] = 1;
        }
        for (int injury = 1; injury <= injuries; injury++) {
            if (has_new[injury]) add_change(change, ++last, number, 1, injury, "\x40");
        }
        for (int i = start; i < start + SAVED && i < row_total; i++) {
            bind_row(insert, &rows[i]);
            run_once(insert);
        }
        execute("COMMIT");
    }
    free(has_new);
    sqlite3_finalize(insert);
    sqlite3_finalize(transaction);
    sqlite3_finalize(change);
}

static Rows make_all(const char *path) {
    Row *rows = malloc(sizeof(Row) * (size_t)row_total);
    for (int i = 0; i < row_total; i++) make_row(&rows[i], i, row_total);
    create_tables(path);
    create_history();
    return (Rows){rows, row_total, row_total};
}

Checksum task_history(const char *path) {
    Rows rows = make_all(path);
    begin_region();
    save_all(rows.rows);
    end_region();
    free_rows(&rows);
    return (Checksum){row_total, 0};
}

typedef struct {
    int64_t number, kind, entity, row, transaction;
    void *mask;
    int mask_length;
} Change;

typedef struct {
    int64_t number;
    double time;
    char *texts[4];
} Transaction;

/// Copies transactions and changes, as a program that goes on with them would.
Checksum task_history_read(const char *path) {
    Rows rows = make_all(path);
    save_all(rows.rows);
    free_rows(&rows);
    int64_t sum = 0;
    sqlite3_stmt *transactions = prepare(
        "SELECT t.Z_PK, t.ZTIMESTAMP, a.ZNAME, b.ZNAME, c.ZNAME, p.ZNAME FROM ATRANSACTION t"
        " LEFT JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS LEFT JOIN ATRANSACTIONSTRING b ON b.Z_PK = t.ZBUNDLEIDTS"
        " LEFT JOIN ATRANSACTIONSTRING c ON c.Z_PK = t.ZCONTEXTNAMETS LEFT JOIN ATRANSACTIONSTRING p ON p.Z_PK = t.ZPROCESSIDTS"
        " ORDER BY t.Z_PK");
    sqlite3_stmt *changes = prepare("SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE"
                                    " WHERE ZTRANSACTIONID > 0 ORDER BY ZTRANSACTIONID, Z_PK");
    begin_region();
    Transaction *found = malloc(sizeof(Transaction) * (size_t)(row_total / SAVED + 1));
    Change *all = malloc(sizeof(Change) * 2 * (size_t)row_total);
    int transaction_count = 0, change_count = 0;
    while (step(transactions)) {
        Transaction *next = &found[transaction_count++];
        next->number = sqlite3_column_int64(transactions, 0);
        next->time = sqlite3_column_double(transactions, 1);
        for (int i = 0; i < 4; i++) {
            const char *text = (const char *)sqlite3_column_text(transactions, 2 + i);
            next->texts[i] = text ? strdup(text) : NULL;
        }
    }
    while (step(changes)) {
        Change *next = &all[change_count++];
        next->number = sqlite3_column_int64(changes, 0);
        next->kind = sqlite3_column_int64(changes, 1);
        next->entity = sqlite3_column_int64(changes, 2);
        next->row = sqlite3_column_int64(changes, 3);
        next->transaction = sqlite3_column_int64(changes, 4);
        next->mask_length = sqlite3_column_bytes(changes, 5);
        next->mask = NULL;
        if (next->mask_length > 0) {
            next->mask = malloc((size_t)next->mask_length);
            memcpy(next->mask, sqlite3_column_blob(changes, 5), (size_t)next->mask_length);
        }
        if (next->kind == 0) sum += next->number;
    }
    end_region();
    for (int i = 0; i < transaction_count; i++) {
        for (int k = 0; k < 4; k++) free(found[i].texts[k]);
    }
    for (int i = 0; i < change_count; i++) free(all[i].mask);
    free(found);
    free(all);
    sqlite3_finalize(transactions);
    sqlite3_finalize(changes);
    return (Checksum){sum, 0};
}
