// The program of SQLite's C API, called from Swift.

import Yardstick

RawSwift.main()
