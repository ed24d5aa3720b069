// How much memory the process has from malloc.

#pragma once
#include <malloc.h>
#include <stdint.h>

/// The bytes that are handed out, in all threads.
static inline int64_t coredata_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
}
