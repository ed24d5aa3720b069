#include "CCoreDataRuntime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __attribute__((swiftcall)) void *(*initializer)(void *a, void *b,
                                                        __attribute__((swift_context)) void *self);

void *coredata_call_initializer(void *function, void *a, void *b, void *metatype) {
    return ((initializer)function)(a, b, metatype);
}

extern void *swift_tryRetain(void *);

void *coredata_try_retain(void *object) { return swift_tryRetain(object); }

extern void *swift_unownedRetain(void *);
extern void swift_unownedRelease(void *);

void coredata_unowned_retain(void *object) { swift_unownedRetain(object); }
void coredata_unowned_release(void *object) { swift_unownedRelease(object); }

static _Thread_local struct coredata_holder *current_holder;

struct coredata_holder *coredata_current_holder(void) { return current_holder; }

void coredata_set_current_holder(struct coredata_holder *holder) { current_holder = holder; }

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

/// libdispatch's own, which its Swift module does not show.
extern const char *dispatch_queue_get_label(void *queue);

const char *coredata_queue_label(void) {
    const char *label = dispatch_queue_get_label(NULL);
    return label ? label : "";
}
