// The connection and the measured region of the plain C program. Any error ends the program with a sentence.
#ifndef DATABASE_H
#define DATABASE_H

#include "rows.h"

extern int row_total;
extern int is_counted;
extern int is_wall_clock;
extern double region_seconds;
extern int64_t region_bytes;

void stop(const char *doing);
void begin_region(void);
void end_region(void);

void open_database(const char *path);
/// Opens a new file and makes the tables and the injuries.
void create_tables(const char *path);
void close_database(void);
void execute(const char *sql);
sqlite3_stmt *prepare(const char *sql);
/// Whether there is a row.
int step(sqlite3_stmt *statement);
/// Opens a new file with the settings of all contenders.
void open_new_database(const char *path);
/// Steps and resets.
void run_once(sqlite3_stmt *statement);

#endif
