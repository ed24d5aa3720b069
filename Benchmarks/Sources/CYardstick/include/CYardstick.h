// What the benchmark programs of every contender share: settings of the database, clocks, and the marks of the
// measured region.
#ifndef CYARDSTICK_H
#define CYARDSTICK_H

#include <stdint.h>

/// Run when a file is created, before its first table: as the stores of OpenCoreData are.
/// `YARDSTICK_AUTO_VACUUM=0` leaves `auto_vacuum` at SQLite's default, for comparison with older counts.
const char *yardstick_creation_pragmas(void);

/// Run on each connection.
const char *yardstick_connection_pragmas(void);

/// CPU time of the process in nanoseconds.
int64_t yardstick_cpu_time(void);

/// Monotonic wall-clock time in nanoseconds.
int64_t yardstick_wall_time(void);

/// Bytes of heap in use, all arenas together.
int64_t yardstick_heap_bytes(void);

/// Opens the region that callgrind, or the preloaded counters, count. Costs nothing where neither is present.
void yardstick_count_begin(void);

/// Closes the region and prints what the preloaded counters counted, when they are present.
void yardstick_count_end(void);

#endif
