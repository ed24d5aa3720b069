// Clocks, heap size and the marks of the measured region.
#define _GNU_SOURCE
#include "CYardstick.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

const char *yardstick_creation_pragmas(void) {
    const char *vacuum = getenv("YARDSTICK_AUTO_VACUUM");
    return vacuum && strcmp(vacuum, "0") == 0 ? "" : "PRAGMA auto_vacuum=2";
}

const char *yardstick_connection_pragmas(void) {
    return "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL";
}

static int64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t yardstick_cpu_time(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

int64_t yardstick_wall_time(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t yardstick_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
}

// Found by name, because the counters are only there when they were preloaded (Counting/counters.c).
static void call_counter(const char *name) {
    void (*counter)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, name);
    if (counter) counter();
}

// Instrumentation is switched, not collection: callgrind collects by thread, and a contender may move to another.
void yardstick_count_begin(void) {
    call_counter("yardstick_counters_begin");
    CALLGRIND_START_INSTRUMENTATION;
}

void yardstick_count_end(void) {
    CALLGRIND_STOP_INSTRUMENTATION;
    call_counter("yardstick_counters_end");
}
