// Counts heap allocations and SQL statements of the measured region. Preloaded (LD_PRELOAD) into a contender's
// program, so that the same count covers every contender without a word in its code.
//
// Allocations are calls of malloc, calloc, realloc and the aligned ones. Statements are SQLite's own trace of
// statement starts (SQLITE_TRACE_STMT), without the steps of triggers, on every connection the program opens.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long allocations;
static atomic_long statements;
static atomic_int is_counting;

static void count_allocation(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    count_allocation();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    count_allocation();
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    count_allocation();
    return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count_allocation();
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    count_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
    count_allocation();
    *pointer = __libc_memalign(alignment, size);
    return *pointer ? 0 : 12;
}

static int statement_started(unsigned kind, void *context, void *statement, void *text) {
    (void)context;
    (void)statement;
    const char *sql = text;
    int is_trigger_step = sql && strncmp(sql, "--", 2) == 0;
    if (kind == SQLITE_TRACE_STMT && !is_trigger_step && atomic_load(&is_counting)) {
        atomic_fetch_add(&statements, 1);
    }
    return 0;
}

// The library's own function: this file defines the same names in front of it.
static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "counters: SQLite has no %s\n", name);
        abort();
    }
    return function;
}

typedef int (*Trace)(unsigned, void *, void *, void *);

static void trace_statements(sqlite3 *database) {
    int (*original)(sqlite3 *, unsigned, Trace, void *) = next("sqlite3_trace_v2");
    original(database, SQLITE_TRACE_STMT, statement_started, NULL);
}

int sqlite3_open_v2(const char *path, sqlite3 **database, int flags, const char *system) {
    int (*original)(const char *, sqlite3 **, int, const char *) = next("sqlite3_open_v2");
    int code = original(path, database, flags, system);
    if (code == SQLITE_OK) trace_statements(*database);
    return code;
}

int sqlite3_open(const char *path, sqlite3 **database) {
    return sqlite3_open_v2(path, database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
}

// A program that traces by itself would take the counter's place; its trace is left out while counting.
int sqlite3_trace_v2(sqlite3 *database, unsigned mask, Trace callback, void *context) {
    (void)database;
    (void)mask;
    (void)callback;
    (void)context;
    return SQLITE_OK;
}

void yardstick_counters_begin(void) { atomic_store(&is_counting, 1); }

void yardstick_counters_end(void) {
    atomic_store(&is_counting, 0);
    fprintf(stderr, "yardstick counters: allocations=%ld statements=%ld\n", atomic_load(&allocations),
            atomic_load(&statements));
}
