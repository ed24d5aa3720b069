// The tasks of requests in plain C; a task marks its own measured region.
#ifndef QUERIES_H
#define QUERIES_H

#include "rows.h"

Checksum task_filter_sort(void);
Checksum task_lookup_indexed(void);
Checksum task_aggregate(void);
Checksum task_dictionary(void);
Checksum task_columns(void);
Checksum task_in_list(void);
Checksum task_join(const char *path);
Checksum task_parse(void);

#endif
