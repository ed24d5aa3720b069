// The tasks of requests in plain C, as a careful programmer would write them.
#include "queries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "tasks.h"

#define LOOKUPS 1000
#define LISTED 10000
#define PARSED 1000
#define HOSPITALS 10

static char *copied_text(sqlite3_stmt *select, int column, int *length) {
    const void *bytes = sqlite3_column_text(select, column);
    *length = sqlite3_column_bytes(select, column);
    char *copy = malloc((size_t)*length + 1);
    memcpy(copy, bytes, (size_t)*length);
    copy[*length] = 0;
    return copy;
}

// Patients of one first name and some weight, the oldest first.
Checksum task_filter_sort(void) {
    Checksum checksum = {0};
    sqlite3_stmt *select =
        prepare("SELECT " ROW_COLUMNS " FROM patient WHERE name>=?1 AND name<?2 AND weight>?3"
                " ORDER BY age DESC, admitted LIMIT 100");
    begin_region();
    sqlite3_bind_text(select, 1, "Katarina", -1, SQLITE_STATIC);
    sqlite3_bind_text(select, 2, "Katarinb", -1, SQLITE_STATIC);
    sqlite3_bind_double(select, 3, 50.0);
    add_all(select, &checksum);
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

// One patient by an indexed name, again and again, with one statement.
Checksum task_lookup_indexed(void) {
    Checksum checksum = {0};
    char (*names)[64] = malloc(LOOKUPS * sizeof *names);
    for (int64_t i = 0; i < LOOKUPS; i++) make_name(names[i], sizeof names[i], i * 7919 % row_total);
    sqlite3_stmt *select = prepare("SELECT " ROW_COLUMNS " FROM patient WHERE name=?1 LIMIT 1");
    begin_region();
    for (int i = 0; i < LOOKUPS; i++) {
        sqlite3_bind_text(select, 1, names[i], -1, SQLITE_STATIC);
        add_all(select, &checksum);
    }
    end_region();
    free(names);
    sqlite3_finalize(select);
    return checksum;
}

// Number, sum and average by age, of the ten ages with the greatest sum.
Checksum task_aggregate(void) {
    Checksum checksum = {0};
    sqlite3_stmt *select =
        prepare("SELECT age,count(name),sum(weight),avg(weight) FROM patient GROUP BY age"
                " ORDER BY 3 DESC LIMIT 10");
    begin_region();
    while (step(select)) {
        checksum.whole += sqlite3_column_int64(select, 0) * sqlite3_column_int64(select, 1);
        checksum.weight += sqlite3_column_double(select, 2) + sqlite3_column_double(select, 3);
    }
    sqlite3_reset(select);
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

typedef struct {
    char *name;
    int name_length;
    int64_t age;
    double weight;
} Part;

// Three attributes of each patient, as structs.
Checksum task_dictionary(void) {
    Checksum checksum = {0};
    Part *parts = NULL;
    int count = 0, capacity = 0;
    sqlite3_stmt *select = prepare("SELECT name,age,weight FROM patient");
    begin_region();
    while (step(select)) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            parts = realloc(parts, sizeof(Part) * (size_t)capacity);
        }
        Part *part = &parts[count++];
        part->name = copied_text(select, 0, &part->name_length);
        part->age = sqlite3_column_int64(select, 1);
        part->weight = sqlite3_column_double(select, 2);
    }
    sqlite3_reset(select);
    for (int i = 0; i < count; i++) {
        checksum.whole += parts[i].name_length + parts[i].age;
        checksum.weight += parts[i].weight;
    }
    end_region();
    for (int i = 0; i < count; i++) free(parts[i].name);
    free(parts);
    sqlite3_finalize(select);
    return checksum;
}

// Keys, names and ages as three arrays, in the order of another attribute.
Checksum task_columns(void) {
    Checksum checksum = {0};
    int64_t *ids = NULL, *ages = NULL;
    char **names = NULL;
    int count = 0, capacity = 0;
    sqlite3_stmt *select = prepare("SELECT id,name,age FROM patient ORDER BY admitted");
    begin_region();
    while (step(select)) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            ids = realloc(ids, sizeof *ids * (size_t)capacity);
            names = realloc(names, sizeof *names * (size_t)capacity);
            ages = realloc(ages, sizeof *ages * (size_t)capacity);
        }
        int length;
        ids[count] = sqlite3_column_int64(select, 0);
        names[count] = copied_text(select, 1, &length);
        ages[count] = sqlite3_column_int64(select, 2);
        checksum.whole += length;
        count++;
    }
    sqlite3_reset(select);
    for (int i = 0; i < count; i++) checksum.whole += ages[i];
    end_region();
    checksum.weight = count;
    for (int i = 0; i < count; i++) free(names[i]);
    free(ids);
    free(names);
    free(ages);
    sqlite3_finalize(select);
    return checksum;
}

// A JSON array of texts: one statement serves lists of every length.
static char *json_list(char (*texts)[64], int count, int *length) {
    char *json = malloc((size_t)count * 131 + 3), *end = json;
    *end++ = '[';
    for (int i = 0; i < count; i++) {
        if (i) *end++ = ',';
        *end++ = '"';
        for (const char *c = texts[i]; *c; c++) {
            if (*c == '"' || *c == '\\') *end++ = '\\';
            *end++ = *c;
        }
        *end++ = '"';
    }
    *end++ = ']';
    *length = (int)(end - json);
    return json;
}

// Patients whose name is in a list of ten thousand, by json_each. No index: the list is sorted once and the table read through.
Checksum task_in_list(void) {
    Checksum checksum = {0};
    char (*names)[64] = malloc(LISTED * sizeof *names);
    for (int i = 0; i < LISTED; i++) {
        int length = make_name(names[i], sizeof names[i], i < 51 ? i * 10 : i);
        if (i >= 51) snprintf(names[i] + length, sizeof names[i] - (size_t)length, " %d", i);
    }
    sqlite3_stmt *select =
        prepare("SELECT " ROW_COLUMNS " FROM patient WHERE name IN (SELECT value FROM json_each(?1))");
    begin_region();
    int length;
    char *json = json_list(names, LISTED, &length);
    sqlite3_bind_text(select, 1, json, length, SQLITE_STATIC);
    add_all(select, &checksum);
    free(json);
    end_region();
    free(names);
    sqlite3_finalize(select);
    return checksum;
}

static void fill_wards(const char *path) {
    open_new_database(path);
    execute("CREATE TABLE hospital(id INTEGER PRIMARY KEY, city TEXT NOT NULL)");
    execute("CREATE TABLE ward(id INTEGER PRIMARY KEY, floor INTEGER NOT NULL, hospital INTEGER)");
    execute("CREATE TABLE visit(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, ward INTEGER)");
    execute("CREATE INDEX ward_hospital ON ward(hospital)");
    execute("CREATE INDEX visit_ward ON visit(ward)");
    execute("BEGIN IMMEDIATE");
    char text[256];
    for (int id = 1; id <= HOSPITALS; id++) {
        snprintf(text, sizeof text, "INSERT INTO hospital VALUES(%d,'City %d')", id, id % 5);
        execute(text);
    }
    int wards = injury_count(row_total);
    for (int id = 1; id <= wards; id++) {
        snprintf(text, sizeof text, "INSERT INTO ward VALUES(%d,%d,%d)", id, id / HOSPITALS % 10, 1 + id % HOSPITALS);
        execute(text);
    }
    for (int64_t i = 0; i < row_total; i++) {
        char name[64];
        make_name(name, sizeof name, i);
        snprintf(text, sizeof text, "INSERT INTO visit VALUES(%d,'%s',%d,%d)", (int)i + 1, name,
                 (int)(1 + i * 7919 % 90), (int)(1 + i % wards));
        execute(text);
    }
    execute("COMMIT");
    close_database();
}

// The visits to the upper floors of a city's hospitals.
Checksum task_join(const char *path) {
    Checksum checksum = {0};
    fill_wards(path);
    open_database(path);
    sqlite3_stmt *scan = prepare("SELECT count(*) FROM visit WHERE age > 0");
    run_once(scan);
    sqlite3_finalize(scan);
    sqlite3_stmt *select =
        prepare("SELECT v.id,v.name,v.age,v.ward FROM visit v JOIN ward w ON w.id=v.ward"
                " JOIN hospital h ON h.id=w.hospital WHERE h.city=?1 AND w.floor>=?2");
    begin_region();
    sqlite3_bind_text(select, 1, "City 2", -1, SQLITE_STATIC);
    sqlite3_bind_int64(select, 2, 3);
    while (step(select)) {
        int length;
        char *name = copied_text(select, 1, &length);
        checksum.whole += length + sqlite3_column_int64(select, 2);
        free(name);
    }
    sqlite3_reset(select);
    end_region();
    sqlite3_finalize(select);
    return checksum;
}

// Plain C has no language of predicates but SQL: what SQLite takes to prepare the same conditions.
Checksum task_parse(void) {
    static const char *const conditions[5] = {
        "age>=%d AND age<=60 AND weight>70.0",
        "name='Ada Berg' OR age=%d",
        "age IN (%d,1,2,3,5,8) AND note IS NOT NULL",
        "NOT (age BETWEEN %d AND 65) AND admitted>=?1",
        "instr(note,'stable')>0 AND (weight+age)/2>%d",
    };
    Checksum checksum = {0};
    begin_region();
    for (int i = 0; i < PARSED; i++) {
        char condition[128], sql[256];
        snprintf(condition, sizeof condition, conditions[i % 5], i);
        snprintf(sql, sizeof sql, "SELECT " ROW_COLUMNS " FROM patient WHERE %s", condition);
        sqlite3_finalize(prepare(sql));
        checksum.whole++;
    }
    end_region();
    return checksum;
}
