#ifndef CCOREDATAMEMORY_H
#define CCOREDATAMEMORY_H

/// Has SQLite take its memory from lists that each thread keeps; answers SQLite's code.
///
/// SQLite asks for the memory of texts and blobs anew for each run of a statement, and Debian's is built without the lists that it
/// keeps for that itself. `malloc` has seven blocks of a size ready for a thread, and joins all small pieces when one of 1,024
/// bytes is asked for. Works only before SQLite is first used in the process; later it changes nothing. Holds for all users of
/// SQLite in the process.
int coredata_sqlite_keep_memory(void);

#endif
