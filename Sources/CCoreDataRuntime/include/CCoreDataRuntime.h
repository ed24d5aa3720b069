#ifndef CCOREDATA_RUNTIME_H
#define CCOREDATA_RUNTIME_H

/// Calls the Swift initialiser `init(A, B?)` found in a class's vtable. `a` and `b` are handed over retained.
void *_Nullable coredata_call_initializer(void *_Nonnull function, void *_Nonnull a, void *_Nullable b,
                                          void *_Nonnull metatype);

/// Retains an object unless it is being deallocated; answers null then.
void *_Nullable coredata_try_retain(void *_Nonnull object);

#endif
