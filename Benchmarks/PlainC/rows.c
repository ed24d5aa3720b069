// Making, reading, binding and summing rows.
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *given[16] = {"Ada",     "Bo",  "Cecilia",  "David", "Eve",        "Fredrik",
                                "Gunhild", "Hal", "Ingegerd", "Jo",    "Katarina",   "Lars",
                                "Maximilian", "Nils", "Olof", "Per"};
static const char *family[32] = {
    "Lindqvist", "Berg",     "Ek",       "Andersson", "Sandstrom", "Holm",    "Ng",      "Wickramasinghe",
    "Olsen",     "Strand",   "Nyberg",   "Ahl",       "Forsberg",  "Kjellgren", "Lo",    "Dahl",
    "Engstrom",  "Hellman",  "Soderberg", "Bystrom",  "Falk",      "Grahn",   "Hedlund", "Isaksson",
    "Jonsson",   "Karlsson", "Ljung",    "Magnusson", "Norrby",    "Oberg",   "Palm",    "Rask"};

static const double epoch = 700000000.0;

int injury_count(int rows) { return rows / 100 < 10 ? 10 : rows / 100; }

int make_name(char *text, size_t size, int64_t index) {
    return snprintf(text, size, "%s %s", given[index & 15], family[(index >> 4) & 31]);
}

void make_row(Row *row, int index, int rows) {
    char text[128];
    int64_t i = index;
    memset(row, 0, sizeof *row);
    row->id = i + 1;
    row->name_length = make_name(text, sizeof text, i);
    row->name = strdup(text);
    row->age = 1 + i * 7919 % 90;
    row->admitted = epoch + (double)(i * 104729 % 31536000);
    row->weight = 40.0 + (double)(i * 37 % 800) / 10.0;
    if (i % 2 == 0) {
        row->note_length = snprintf(
            text, sizeof text, "Patient note %07d: stable, observe overnight and review at eight.", index);
        row->note = strdup(text);
    }
    if (i % 10 == 0) {
        row->photo_length = 1024;
        row->photo = malloc(1024);
        for (int k = 0; k < 1024; k++) row->photo[k] = (uint8_t)(index + k);
    }
    row->injury = 1 + i % injury_count(rows);
}

void free_row(Row *row) {
    free(row->name);
    free(row->note);
    free(row->photo);
}

void free_rows(Rows *rows) {
    for (int i = 0; i < rows->count; i++) free_row(&rows->rows[i]);
    free(rows->rows);
    memset(rows, 0, sizeof *rows);
}

int64_t *shuffled_keys(int rows) {
    int64_t *keys = malloc(sizeof(int64_t) * (size_t)rows);
    uint64_t state = 88172645463325252ULL;
    for (int i = 0; i < rows; i++) keys[i] = i + 1;
    for (int i = rows - 1; i > 0; i--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        int other = (int)(state % (uint64_t)(i + 1));
        int64_t key = keys[i];
        keys[i] = keys[other];
        keys[other] = key;
    }
    return keys;
}

static char *copy_text(const void *bytes, int length) {
    char *copy = malloc((size_t)length + 1);
    memcpy(copy, bytes, (size_t)length);
    copy[length] = 0;
    return copy;
}

void read_row(sqlite3_stmt *statement, Row *row) {
    row->id = sqlite3_column_int64(statement, 0);
    const void *bytes = sqlite3_column_text(statement, 1);
    row->name_length = sqlite3_column_bytes(statement, 1);
    row->name = copy_text(bytes, row->name_length);
    row->age = sqlite3_column_int64(statement, 2);
    row->admitted = sqlite3_column_double(statement, 3);
    row->weight = sqlite3_column_double(statement, 4);
    bytes = sqlite3_column_text(statement, 5);
    row->note_length = bytes ? sqlite3_column_bytes(statement, 5) : 0;
    row->note = bytes ? copy_text(bytes, row->note_length) : NULL;
    bytes = sqlite3_column_blob(statement, 6);
    row->photo_length = bytes ? sqlite3_column_bytes(statement, 6) : 0;
    row->photo = NULL;
    if (bytes) {
        row->photo = malloc((size_t)row->photo_length);
        memcpy(row->photo, bytes, (size_t)row->photo_length);
    }
    row->injury = sqlite3_column_int64(statement, 7);
}

void bind_row(sqlite3_stmt *statement, const Row *row) {
    sqlite3_bind_int64(statement, 1, row->id);
    sqlite3_bind_text(statement, 2, row->name, row->name_length, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, row->age);
    sqlite3_bind_double(statement, 4, row->admitted);
    sqlite3_bind_double(statement, 5, row->weight);
    if (row->note) {
        sqlite3_bind_text(statement, 6, row->note, row->note_length, SQLITE_STATIC);
    } else {
        sqlite3_bind_null(statement, 6);
    }
    if (row->photo) {
        sqlite3_bind_blob(statement, 7, row->photo, row->photo_length, SQLITE_STATIC);
    } else {
        sqlite3_bind_null(statement, 7);
    }
    if (row->injury) {
        sqlite3_bind_int64(statement, 8, row->injury);
    } else {
        sqlite3_bind_null(statement, 8);
    }
}

Row *next_row(Rows *rows) {
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? rows->capacity * 2 : 1024;
        rows->rows = realloc(rows->rows, sizeof(Row) * (size_t)rows->capacity);
    }
    return &rows->rows[rows->count++];
}

void add_row(Checksum *checksum, const Row *row) {
    checksum->whole += row->name_length + row->note_length + row->photo_length + row->age;
    checksum->whole += (int64_t)(row->admitted - epoch);
    checksum->weight += row->weight;
}
