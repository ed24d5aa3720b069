#include "CCoreDataUnchecked.h"

#include <CCoreDataRuntime.h>

/// Runs before the constructor that reads the launch arguments and the environment, which may switch the check on again.
__attribute__((constructor(101))) static void switch_off(void) { coredata_check_queues(0); }
