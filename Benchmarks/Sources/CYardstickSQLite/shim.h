// SQLite's C API for the program that calls it straight from Swift.
#include <sqlite3.h>
