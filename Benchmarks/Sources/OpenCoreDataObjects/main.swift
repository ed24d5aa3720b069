// The program of managed objects.

import Yardstick

OpenCoreDataObjects.main()
