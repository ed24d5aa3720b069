// Tells the thread sanitizer of the locks of Swift's `Mutex`. Preloaded (LD_PRELOAD) by Scripts/sanitize.
//
// `Mutex` locks by an atomic exchange in the caller's code, which the sanitizer sees. When two threads meet it calls these two
// functions of libswiftSynchronization, which is not built for the sanitizer: the kernel hands the lock on, and everything done under
// it looked like a race (tried: Swift 6.3.1, 900 reports in ten seconds). They are called as before; only the order is told.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

typedef SWIFT void (*Lock)(uint32_t, SELF void *);
typedef SWIFT void (*Unlock)(SELF void *);

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

// _MutexHandle._lockSlow(UInt32)
SWIFT void lock_slowly(uint32_t thread, SELF void *mutex)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) {
    Lock original = (Lock)next("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    original(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

// _MutexHandle._unlockSlow()
SWIFT void unlock_slowly(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void unlock_slowly(SELF void *mutex) {
    Unlock original = (Unlock)next("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(mutex);
    original(mutex);
}
