#define _GNU_SOURCE
#include "CCoreDataRuntime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef __attribute__((swiftcall)) void *(*initializer)(void *a, void *b,
                                                        __attribute__((swift_context)) void *self);

void *coredata_call_initializer(void *function, void *a, void *b, void *metatype) {
    return ((initializer)function)(a, b, metatype);
}

typedef void *(*maker)(void *context, void *metatype);

/// Called by Swift as an initialiser: its arguments, what the compiler knows of the type, and the metatype that it was called of.
__attribute__((swiftcall)) void *coredata_make_object(void *context, maker make, void *type,
                                                      __attribute__((swift_context)) void *metatype) {
    return make(context, metatype);
}

extern void *swift_tryRetain(void *);

void *coredata_try_retain(void *object) { return swift_tryRetain(object); }

extern void *swift_retain_n(void *, uint32_t);

void coredata_retain(void *object, uint32_t count) {
    if (count > 0) swift_retain_n(object, count);
}

extern void *swift_unownedRetain(void *);
extern void swift_unownedRelease(void *);

void coredata_unowned_retain(void *object) { swift_unownedRetain(object); }
void coredata_unowned_release(void *object) { swift_unownedRelease(object); }

static _Thread_local struct coredata_holder *current_holder;

struct coredata_holder *coredata_current_holder(void) { return current_holder; }

void coredata_set_current_holder(struct coredata_holder *holder) { current_holder = holder; }

#define KEPT_STATES 64

static _Thread_local void *kept_states;
static _Thread_local int kept_count;
static _Thread_local int is_thread_known;
static pthread_key_t state_key;
static pthread_once_t state_once = PTHREAD_ONCE_INIT;

static void free_states(void *unused) {
    while (kept_states) {
        void *next = *(void **)kept_states;
        free(kept_states);
        kept_states = next;
    }
    // What other destructors of this thread give back is not kept.
    kept_count = KEPT_STATES;
}

static void make_state_key(void) { pthread_key_create(&state_key, free_states); }

/// Has what this thread keeps freed when it ends.
static __attribute__((noinline)) void know_thread(void) {
    pthread_once(&state_once, make_state_key);
    pthread_setspecific(state_key, &kept_states);
    is_thread_known = 1;
}

void *coredata_zeros(size_t size) {
    void *memory = malloc(size);
    if (!memory) return 0;
    // Keeps the compiler from making `calloc` of the two.
    __asm__ volatile("" : "+r"(memory));
    return memset(memory, 0, size);
}

void *coredata_take_state(size_t size) {
    void *state = kept_states;
    if (!state) return malloc(size);
    kept_states = *(void **)state;
    kept_count--;
    return state;
}

static inline void keep_state(void *state) {
    *(void **)state = kept_states;
    kept_states = state;
    kept_count++;
}

/// The first state of a thread, and those that are too many. Apart, so that the usual way needs no stack frame (10 instructions).
static __attribute__((noinline)) void give_other_state(void *state) {
#if !__has_feature(address_sanitizer)
    if (!is_thread_known && kept_count < KEPT_STATES) {
        know_thread();
        return keep_state(state);
    }
#endif
    free(state);
}

void coredata_give_state(void *state) {
    if (!is_thread_known || kept_count >= KEPT_STATES) return give_other_state(state);
    keep_state(state);
}

#define CHECKED_BIT 16

#ifdef DEBUG
uint32_t coredata_checks = CHECKED_BIT;
#else
uint32_t coredata_checks;
#endif

void coredata_check_queues(int on) { __atomic_store_n(&coredata_checks, on ? CHECKED_BIT : 0, __ATOMIC_RELAXED); }

/// Runs before `main`. Reads the arguments from the kernel, because not every C library hands them to constructors.
__attribute__((constructor)) static void read_switch(void) {
    const char *name = "com.apple.CoreData.ConcurrencyDebug";
    const char *value = getenv(name);
    if (value) coredata_check_queues(atoi(value) != 0);
    FILE *file = fopen("/proc/self/cmdline", "r");
    if (!file) return;
    char *argument = NULL;
    size_t capacity = 0;
    int isNext = 0;
    while (getdelim(&argument, &capacity, '\0', file) > 0) {
        if (isNext) coredata_check_queues(atoi(argument) != 0);
        isNext = argument[0] == '-' && strcmp(argument + 1, name) == 0;
    }
    free(argument);
    fclose(file);
}

int coredata_observations = 0;

uint64_t coredata_slow_ticks(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

extern void swift_release(void *);

// Held for a few instructions, but by who lists them all.
static char context_lock;
static struct coredata_context_node *first_context;

static void lock_contexts(void) {
    while (__atomic_test_and_set(&context_lock, __ATOMIC_ACQUIRE)) sched_yield();
}
static void unlock_contexts(void) { __atomic_clear(&context_lock, __ATOMIC_RELEASE); }

void coredata_enter_context(struct coredata_context_node *node, const void *context) {
    node->context = context;
    node->owner = NULL;
    node->changes = 0;
    node->former = &first_context;
    lock_contexts();
    node->next = first_context;
    if (first_context) first_context->former = &node->next;
    first_context = node;
    unlock_contexts();
}

void coredata_leave_context(struct coredata_context_node *node) {
    lock_contexts();
    *node->former = node->next;
    if (node->next) node->next->former = node->former;
    unlock_contexts();
}

size_t coredata_contexts(const void *owner, void **found, int64_t *changes, size_t capacity) {
    size_t count = 0;
    lock_contexts();
    for (struct coredata_context_node *node = first_context; node; node = node->next) {
        if (__atomic_load_n(&node->owner, __ATOMIC_RELAXED) != owner) continue;
        void *context = coredata_try_retain((void *)node->context);
        if (!context) continue;
        if (count < capacity) {
            found[count] = context;
            changes[count] = __atomic_load_n(&node->changes, __ATOMIC_RELAXED);
        } else {
            swift_release(context);
        }
        count += 1;
    }
    unlock_contexts();
    return count;
}

/// libdispatch's own, which its Swift module does not show.
extern const char *dispatch_queue_get_label(void *queue);

const char *coredata_queue_label(void) {
    const char *label = dispatch_queue_get_label(NULL);
    return label ? label : "";
}

const char *coredata_own_file(void) {
    Dl_info info;
    return dladdr((void *)coredata_own_file, &info) ? info.dli_fname : NULL;
}
