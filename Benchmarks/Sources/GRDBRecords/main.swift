// The program of GRDB: hand-written records, or Codable ones with `GRDB_RECORDS=codable`.

import Foundation

if ProcessInfo.processInfo.environment["GRDB_RECORDS"] == "codable" {
    GRDBRecords<CodablePatient>.main()
} else {
    GRDBRecords<HandWrittenPatient>.main()
}
