#ifndef CCOREDATA_RUNTIME_H
#define CCOREDATA_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Calls the Swift initialiser `init(A, B?)` found in a class's vtable. `a` and `b` are handed over retained.
void *_Nullable coredata_call_initializer(void *_Nonnull function, void *_Nonnull a, void *_Nullable b,
                                          void *_Nonnull metatype);

/// Retains an object unless it is being deallocated; answers null then.
void *_Nullable coredata_try_retain(void *_Nonnull object);

/// Retains an object so many times at once.
void coredata_retain(void *_Nonnull object, uint32_t count);

/// Keeps an object's memory, not its life: `coredata_try_retain` stays safe to call until the matching release.
void coredata_unowned_retain(void *_Nonnull object);
void coredata_unowned_release(void *_Nonnull object);

/// Memory for the state of one object, all of one size, and back. Each thread keeps a few for the next objects.
///
/// Null when there is no memory left. `malloc` keeps only seven blocks of a size at hand for a thread; twenty objects that come and
/// go with each request take the long way (160 instructions each).
void *_Nullable coredata_take_state(size_t size);
void coredata_give_state(void *_Nonnull state);

/// Memory of zeros, for `free`; null when there is none left.
///
/// `calloc` goes past what the thread has ready, and joins all small free blocks when asked for a thousand bytes; Swift's own
/// allocation takes the aligned way, which costs twice as much.
void *_Nullable coredata_zeros(size_t size);

/// What a place holds that any thread may fill, once.
static inline const void *_Nullable coredata_published(const void *_Nullable *_Nonnull place) {
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/// Fills such a place if it is empty and answers what it holds then: what another thread was quicker to put there, or `made`.
static inline const void *_Nonnull coredata_publish(const void *_Nullable *_Nonnull place, const void *_Nonnull made) {
    const void *there = 0;
    return __atomic_compare_exchange_n(place, &there, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? made : there;
}

/// The innermost context that this thread holds: a stack frame's own record, linked to the outer ones.
struct coredata_holder {
    const void *_Nonnull context;
    struct coredata_holder *_Nullable outer;
};
struct coredata_holder *_Nullable coredata_current_holder(void);
void coredata_set_current_holder(struct coredata_holder *_Nullable holder);

/// The bit that new objects get while touches are checked (`SlowReason.checked`), else 0. On in debug builds; the launch argument or
/// the environment variable `com.apple.CoreData.ConcurrencyDebug` decides before that.
extern uint32_t coredata_checks;
static inline uint32_t coredata_checked_bit(void) { return __atomic_load_n(&coredata_checks, __ATOMIC_RELAXED); }
void coredata_check_queues(int on);

/// Nanoseconds of a clock that nobody sets.
uint64_t coredata_slow_ticks(void);

/// How many of this process want to be told what stores and contexts do. While it is none, nothing is made to be told.
extern int coredata_observations __attribute__((visibility("hidden")));
static inline bool coredata_is_observed(void) { return __atomic_load_n(&coredata_observations, __ATOMIC_RELAXED) != 0; }
static inline void coredata_observe(int change) { __atomic_fetch_add(&coredata_observations, change, __ATOMIC_RELAXED); }

/// A place in the list of all contexts that are alive. `owner` is the coordinator's address, for comparing alone.
struct coredata_context_node {
    struct coredata_context_node *_Nullable next;
    struct coredata_context_node *_Nullable *_Nullable former;
    const void *_Nullable context;
    const void *_Nullable owner;
    /// Unsaved changes when the context's last event ended.
    int64_t changes;
};
void coredata_enter_context(struct coredata_context_node *_Nonnull node, const void *_Nonnull context);
void coredata_leave_context(struct coredata_context_node *_Nonnull node);
static inline void coredata_own_context(struct coredata_context_node *_Nonnull node, const void *_Nullable owner) {
    __atomic_store_n(&node->owner, owner, __ATOMIC_RELAXED);
}
static inline void coredata_note_changes(struct coredata_context_node *_Nonnull node, int64_t changes) {
    __atomic_store_n(&node->changes, changes, __ATOMIC_RELAXED);
}
/// The contexts of an owner, retained, but those that are being deallocated; answers how many there are, at most `capacity` of them filled
/// in.
size_t coredata_contexts(const void *_Nonnull owner, void *_Nonnull *_Nonnull found, int64_t *_Nonnull changes, size_t capacity);

/// A clock that costs an instruction, of another unit on each machine.
static inline uint64_t coredata_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return coredata_slow_ticks();
#endif
}

/// How many images with Swift code are loaded; they never become fewer.
size_t coredata_images(void);

/// The descriptors of classes with a name, which stands for the class alone, in all images: as many as there is room for.
///
/// The first call reads all type records, and so does one after images were added; others compare the names of classes.
size_t coredata_classes(const char *_Nonnull name, const void *_Nullable *_Nonnull found, size_t capacity);

/// Where a class is declared: a type, what is around it, at last its module. A private type stands in an anonymous scope, what is
/// inside a function in two of them.
struct coredata_scope {
    enum coredata_scope_kind {
        coredata_scope_other, coredata_scope_module, coredata_scope_extension, coredata_scope_anonymous, coredata_scope_type
    } kind;
    /// Of modules and types.
    const char *_Nullable name;
    const void *_Nullable outer;
    int is_generic;
};
struct coredata_scope coredata_scope_at(const void *_Nonnull descriptor);

/// The class of a descriptor; null for a generic one. May be the first use of the class.
void *_Nullable coredata_metadata_of_class(const void *_Nonnull descriptor);

/// The descriptor of the superclass; null where there is none that can be told.
const void *_Nullable coredata_superclass(const void *_Nonnull descriptor);

/// The file that this code was loaded from: an executable, a library or a test bundle; null where that cannot be told.
const char *_Nullable coredata_own_file(void);

/// The label of the queue that this thread works for, empty for none.
const char *_Nonnull coredata_queue_label(void);

#endif
