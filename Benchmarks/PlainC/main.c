// The yardstick: the program of plain C.
//
//     plainc TASK ROWS PATH…      one repetition for each path; the first warms up, the last is counted
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "queries.h"
#include "tasks.h"

static int is(const char *task, const char *name) { return strcmp(task, name) == 0; }

static Checksum run_on_open_database(const char *task) {
    warm_pages();
    if (is(task, "fetch") || is(task, "memory")) return task_fetch(0);
    if (is(task, "fetchRead")) return task_fetch(1);
    if (is(task, "filter")) return task_filter();
    if (is(task, "lookup")) return task_lookup();
    if (is(task, "update")) return task_change(1);
    if (is(task, "delete")) return task_change(0);
    if (is(task, "toOne")) return task_to_one();
    if (is(task, "toMany")) return task_to_many();
    if (is(task, "toManyPrefetch")) return task_to_many_prefetch();
    if (is(task, "faults")) return task_faults();
    if (is(task, "request")) return task_request();
    if (is(task, "saveDirty")) return task_save_dirty();
    if (is(task, "commit")) return task_commit();
    if (is(task, "free")) return task_free();
    if (is(task, "filterSort")) return task_filter_sort();
    if (is(task, "lookupIndexed")) return task_lookup_indexed();
    if (is(task, "aggregate")) return task_aggregate();
    if (is(task, "dictionary") || is(task, "swiftDictionary")) return task_dictionary();
    if (is(task, "columns")) return task_columns();
    if (is(task, "inList")) return task_in_list();
    if (is(task, "parse")) return task_parse();
    stop("no such task");
    return (Checksum){0, 0};
}

static Checksum run(const char *task, const char *path) {
    if (is(task, "insert") || is(task, "seed")) return task_insert(path, 1);
    if (is(task, "batchInsert")) return task_insert(path, 0);
    if (is(task, "join")) return task_join(path);
    if (is(task, "history")) return task_history(path);
    if (is(task, "historyRead")) return task_history_read(path);
    if (is(task, "migrateAdd")) return task_migrate_add(path);
    if (is(task, "migrateRename")) return task_migrate_rename(path);
    if (is(task, "open")) return task_open(path);
    open_database(path);
    return run_on_open_database(task);
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: plainc TASK ROWS PATH...\n");
        return 1;
    }
    const char *task = arguments[1];
    row_total = atoi(arguments[2]);
    is_wall_clock = is(task, "commit") || is(task, "open");
    for (int i = 3; i < count; i++) {
        is_counted = i == count - 1;
        region_bytes = 0;
        Checksum checksum = run(task, arguments[i]);
        close_database();
        printf("{\"seconds\": %.9f, \"bytes\": %lld, \"whole\": %lld, \"weight\": %.1f}\n", region_seconds,
               (long long)region_bytes, (long long)checksum.whole, checksum.weight);
    }
    return 0;
}
