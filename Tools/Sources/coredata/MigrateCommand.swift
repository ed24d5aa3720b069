// `coredata migrate`: what a migration will do, a rehearsal, or the migration itself.

import ArgumentParser
import CoreData
import CoreDataModelTools
import Foundation

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Carries a store to a later version of its model, or says what that would do.",
        discussion: """
            Without --plan and --rehearse the store is migrated, version by version, each in a transaction. Exit status 0 if all is well, 1 for \
            findings or a failure, 2 for another use.

            With --matrix no store is given: one is made of every version of a model, with rows whose values lie at the ends of what their \
            attributes can hold and with every relationship filled, and is migrated to the next version and to the current one. A refusal \
            is printed with its rule and is no failure; a file that was changed although its migration was refused is one, and so is a version \
            that cannot be read.
            """)

    @Argument(help: "The store's file.")
    var store: String?

    @Option(help: "The model with its versions: a .xcdatamodeld or .momd.")
    var model: String?

    @Option(help: "Tries every version of this model against the next and the current one.")
    var matrix: String?

    @Option(
        help: "Where --matrix leaves its stores, a folder that is not there yet; they are removed unless it is given.")
    var stores: String?

    @Option(help: "The version that the store is to have; the current one unless named.")
    var version: String?

    @Option(help: "The store's type: SQLite, Binary, XML or PropertyList.")
    var type = "SQLite"

    @Option(help: "The configuration of the model whose entities the store has; all entities unless named.")
    var configuration: String?

    @Flag(help: "Says what would happen. The store is only read.")
    var plan = false

    @Flag(help: "Migrates a copy, validates its objects, and compares values and counts.")
    var rehearse = false

    @Option(help: "Copies the store to this file first.")
    var backup: String?

    @Flag(help: "Prints {\"steps\": […], \"lost\": […], \"findings\": […]} for other programs.")
    var json = false

    func validate() throws {
        if matrix != nil {
            guard store == nil, model == nil, version == nil, configuration == nil, backup == nil, !plan, !rehearse
            else {
                throw ValidationError("--matrix makes its own stores; only --stores and --json go with it.")
            }
        } else {
            guard store != nil, model != nil else {
                throw ValidationError("Name a store and its --model, or a model after --matrix.")
            }
            if stores != nil { throw ValidationError("--stores belongs to --matrix.") }
        }
        if plan && rehearse { throw ValidationError("Ask for --plan or --rehearse, not for both.") }
        if backup != nil, plan || rehearse {
            throw ValidationError("--backup belongs to a migration; neither --plan nor --rehearse changes the store.")
        }
    }

    func run() throws {
        if let matrix { return try run(matrix: URL(fileURLWithPath: matrix)) }
        let found: StoreMigrationPlan
        do { found = try makePlan() } catch { return try fail(error) }
        var findings = found.findings
        do {
            if findings.isEmpty, rehearse { findings = try rehearse(found) }
            if findings.isEmpty, !plan, !rehearse {
                try found.run(backup: backup.map { URL(fileURLWithPath: $0) }, progress: show(found))
            }
        } catch { return try fail(error, found) }
        try report(found, findings)
        if !findings.isEmpty { throw ExitCode.failure }
    }

    private func rehearse(_ found: StoreMigrationPlan) throws -> [StoreMigrationPlan.Finding] {
        let folder = try TemporaryFolder(named: "coredata-rehearsal")
        defer { folder.remove() }
        return try found.rehearse(in: folder.url, progress: show(found))
    }

    private func run(matrix package: URL) throws {
        do {
            let temporary = stores == nil ? try TemporaryFolder(named: "coredata-matrix") : nil
            defer { temporary?.remove() }
            let folder = temporary?.url ?? URL(fileURLWithPath: stores ?? "")
            if temporary == nil {
                do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) } catch {
                    throw Failure("The folder \(folder.path) of --stores cannot be made: \(error.localizedDescription)")
                }
            }
            var found = try MigrationMatrix(of: package, in: folder)
            try found.run { if !json, isatty(2) == 1 { FileHandle.standardError.write(Data("\r\u{1B}[K\($0)".utf8)) } }
            if !json, isatty(2) == 1 { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
            if json { try printJSON(found) } else { print(found) }
            if found.pairs.contains(where: \.isTouched) || found.unreadable.contains(where: \.isBroken) {
                throw ExitCode.failure
            }
        } catch let code as ExitCode { throw code } catch { try fail(error, at: package.path) }
    }

    private func makePlan() throws -> StoreMigrationPlan {
        let (store, model) = (store ?? "", model ?? "")
        let package = URL(fileURLWithPath: model)
        var versions: [String]?
        if let version {
            let names = try ModelVersions.names(at: package)
            guard let end = names.firstIndex(of: version) else {
                throw Failure("\(model) has no version \(version); it has \(names.joined(separator: ", ")).")
            }
            versions = Array(names[...end])
        }
        return try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).migrationPlan(
            at: URL(fileURLWithPath: store), toVersionsOf: package, versions: versions,
            type: NSPersistentStore.StoreType(rawValue: type), configuration: configuration)
    }

    /// On a terminal, one line that is written again at each step, and at each percent of one that makes objects.
    private func show(_ found: StoreMigrationPlan) -> (Double) -> Void {
        guard !json, isatty(2) == 1 else { return { _ in } }
        return { done in
            let (step, percent) = (Int(done), Int((done - done.rounded(.down)) * 100))
            var text = ""
            if step < found.steps.count {
                text =
                    "step \(step + 1) of \(found.steps.count): \(found.steps[step].from) → \(found.steps[step].to)\(percent > 0 ? ", \(percent) %" : "")"
            }
            FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
        }
    }

    private func fail(_ error: any Error, _ found: StoreMigrationPlan? = nil, at path: String? = nil) throws {
        let store = path ?? store ?? ""
        let text = (error as? Failure)?.message ?? (error as NSError).localizedDescription
        // What is wrong in the model, as `coredata model check` says it, and why there is no plan, unless that comes of it.
        let checked = found == nil ? model.map { ModelFindings.check(URL(fileURLWithPath: $0)) } ?? [] : []
        let broken = checked.filter { $0.severity == .error }
        let isOfModel = !broken.isEmpty && [134020, 134130].contains((error as NSError).code)
        if json {
            let findings =
                broken.map(Report.Finding.init) + (isOfModel ? [] : [.init(text, error as NSError, file: store)])
            try printJSON(Report(steps: found?.steps ?? [], lost: found?.lost ?? [], findings: findings))
        } else {
            let lines = broken.map { "\($0)\n" } + (isOfModel ? [] : ["\(store): error: \(text)\n"])
            FileHandle.standardError.write(Data(lines.joined().utf8))
        }
        throw ExitCode.failure
    }

    private struct Failure: Error {
        let message: String
        init(_ message: String) { self.message = message }
    }

    // MARK: Words

    private func report(_ found: StoreMigrationPlan, _ findings: [StoreMigrationPlan.Finding]) throws {
        if json {
            return try printJSON(
                Report(steps: found.steps, lost: found.lost, findings: findings.map(Report.Finding.init)))
        }
        if found.steps.isEmpty { print("The store has the version already.") }
        if let backup { print("It was copied to \(backup) before.") }
        for step in found.steps {
            print("\(step.from) → \(step.to) (\(step.kind.rawValue)), objects written anew: \(step.rows)")
            for change in step.changes where change.isDifference {
                print("  \(change.entity)\(change.property.map { ".\($0)" } ?? "") \(change.change)")
            }
            if plan { for sql in step.sql { print("    \(sql)") } }
        }
        for loss in found.lost {
            print(
                "lost: \(loss.rows) \(loss.property.map { "values of \(loss.entity).\($0)" } ?? "objects of \(loss.entity)")"
            )
        }
        for finding in findings { print(finding) }
        if findings.isEmpty, !found.steps.isEmpty, !plan {
            print(rehearse ? "The rehearsal found nothing." : "The store was migrated.")
        }
    }

    private struct Report: Encodable {
        struct Finding: Encodable {
            var severity = "error"
            var entity: String?
            var property: String?
            var message: String
            var file: String
            var line: Int?
            var column: Int?
            var id: String?

            init(_ message: String, _ error: NSError, file: String) {
                (self.message, self.file) = (message, file)
                entity = error.userInfo[NSEntityNameErrorKey] as? String
                property = error.userInfo[NSValidationKeyErrorKey] as? String
            }

            /// What is wrong in the model, as `coredata model check` says it.
            init(_ finding: ModelFinding) {
                (severity, entity, property) = (finding.severity.rawValue, finding.entity, finding.property)
                (message, file, line, column) = (finding.message, finding.file, finding.line, finding.column)
            }

            init(_ finding: StoreMigrationPlan.Finding) {
                (severity, entity, property) = (finding.severity, finding.entity, finding.property)
                (message, file, id) = (finding.message, finding.file, finding.id)
            }
        }
        let steps: [StoreMigrationPlan.Step]
        let lost: [StoreMigrationPlan.Loss]
        let findings: [Finding]
    }

    private func printJSON(_ report: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}
