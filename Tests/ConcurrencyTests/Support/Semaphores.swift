// Semaphores in tasks.

import Foundation

/// Waits for a semaphore on a thread of its own, so that no thread of tasks is blocked.
func wait(for semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { (caller: CheckedContinuation<Void, Never>) in
        Thread.detachNewThread {
            semaphore.wait()
            caller.resume()
        }
    }
}
