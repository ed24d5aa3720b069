#include "CCoreDataHeap.h"
