// The rows that every contender writes and reads, in C. Patients.swift makes the same.
#ifndef ROWS_H
#define ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t id;
    char *name;
    int name_length;
    int64_t age;
    double admitted;
    double weight;
    char *note;
    int note_length;
    uint8_t *photo;
    int photo_length;
    int64_t injury;
} Row;

typedef struct {
    Row *rows;
    int count;
    int capacity;
} Rows;

/// What was read, so that no contender can win by reading less.
typedef struct {
    int64_t whole;
    double weight;
} Checksum;

#define ROW_COLUMNS "id,name,age,admitted,weight,note,photo,injury"

int injury_count(int rows);
/// Answers the length.
int make_name(char *text, size_t size, int64_t index);
void make_row(Row *row, int index, int rows);
void free_row(Row *row);
void free_rows(Rows *rows);

/// All keys from 1 on, shuffled with a fixed seed.
int64_t *shuffled_keys(int rows);

/// Copies the statement's row, texts and blobs included.
void read_row(sqlite3_stmt *statement, Row *row);
void bind_row(sqlite3_stmt *statement, const Row *row);
/// Room for one more row at the end.
Row *next_row(Rows *rows);
void add_row(Checksum *checksum, const Row *row);

#endif
