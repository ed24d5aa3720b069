#include "CCoreDataMemory.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Blocks of up to 2,048 bytes come in classes of 32; each thread keeps up to eight of a class. A block begins with its size.
#define STEP 32
#define CLASSES 65
#define KEPT 8

struct block {
    size_t size;
    struct block *next;
};
#define HEAD offsetof(struct block, next)

struct list {
    struct block *first;
    int count;
};

static _Thread_local struct list lists[CLASSES];
static _Thread_local int is_known, is_ending;
static pthread_key_t key;

static void free_lists(void *unused) {
    is_ending = 1;
    for (int i = 0; i < CLASSES; i++) {
        while (lists[i].first) {
            struct block *next = lists[i].first->next;
            free(lists[i].first);
            lists[i].first = next;
        }
        lists[i].count = 0;
    }
}

/// Has what this thread keeps freed when it ends.
static __attribute__((noinline)) void know_thread(void) {
    pthread_setspecific(key, lists);
    is_known = 1;
}

static int round_up(int size) { return size > INT_MAX - STEP ? size : (size + STEP - 1) & ~(STEP - 1); }

static void *take(int size) {
    // Without statistics SQLite does not ask for the rounded size.
    size = round_up(size);
    size_t place = (size_t)size / STEP;
    struct block *block;
    if (place < CLASSES && (block = lists[place].first)) {
        lists[place].first = block->next;
        lists[place].count--;
    } else {
        block = malloc(HEAD + (size_t)size);
        if (!block) return 0;
        block->size = (size_t)size;
    }
    return &block->next;
}

static struct block *block_of(void *memory) { return (struct block *)((char *)memory - HEAD); }

static void give(void *memory) {
    if (!memory) return;
    struct block *block = block_of(memory);
#if !__has_feature(address_sanitizer)
    size_t place = block->size / STEP;
    if (place < CLASSES && lists[place].count < KEPT && !is_ending) {
        if (!is_known) know_thread();
        block->next = lists[place].first;
        lists[place].first = block;
        lists[place].count++;
        return;
    }
#endif
    free(block);
}

static int size_of(void *memory) { return memory ? (int)block_of(memory)->size : 0; }

static void *resize(void *memory, int size) {
    size = round_up(size);
    struct block *block = block_of(memory);
    if (block->size / STEP >= CLASSES && (size_t)size / STEP >= CLASSES) {
        block = realloc(block, HEAD + (size_t)size);
        if (!block) return 0;
        block->size = (size_t)size;
        return &block->next;
    }
    void *taken = take(size);
    if (!taken) return 0;
    memcpy(taken, memory, block->size < (size_t)size ? block->size : (size_t)size);
    give(memory);
    return taken;
}

static int begin(void *unused) { return pthread_key_create(&key, free_lists) == 0 ? SQLITE_OK : SQLITE_NOMEM; }
static void end(void *unused) { pthread_key_delete(key); }

int coredata_sqlite_keep_memory(void) {
    static const sqlite3_mem_methods methods = {take, give, resize, size_of, round_up, begin, end, 0};
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
