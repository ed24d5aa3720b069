#include "CCoreDataRuntime.h"

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
