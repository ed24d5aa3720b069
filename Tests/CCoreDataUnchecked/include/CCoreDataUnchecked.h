// Linking this switches the check of queues off: many tests touch contexts from the test's own thread.
