"""Lays out a package that depends on this one: a target for each of some models, and a program that tries their classes.

usage: client.py ROOT CORPUS FOLDER TOOL COUNT SEED

What a model says of storage and validation is loosened in its copy (all relationships may be empty, no bounds, no uniqueness), so
that one object of each entity can be saved; attributes without a type, which no store keeps, become transient; transformers and classes
of other systems are taken out; every entity gets a class.

Among ENOUGH models or more each of FEATURES must be: where the model chosen for one is left out, another that has it takes its place,
and where there is none, this fails.
"""
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

KEYWORDS = set(
    "as associatedtype break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate for "
    "func guard if import in init inout internal is let nil operator precedencegroup private protocol public repeat rethrows return "
    "self static struct subscript super switch throw throws true try typealias var where while Any Protocol Self Type".split())
NUMBERS = {"Integer 16": "Int16", "Integer 32": "Int32", "Integer 64": "Int64", "Float": "Float", "Double": "Double"}
FEATURES = ("inheritance", "many-to-many", "ordered", "composites", "keywords")
ENOUGH = 40
CLASSES = {"NSArray": "Foundation.NSArray(array: [{n}])", "[String]": '["{n}"]', "NSDictionary": 'Foundation.NSDictionary(dictionary: ["a": {n}])'}


def current(package):
    """The contents file of a model's current version, nil if the package is broken."""
    versions = sorted(name for name in os.listdir(package) if name.endswith(".xcdatamodel"))
    mark = os.path.join(package, ".xccurrentversion")
    if os.path.exists(mark):
        found = re.search(r"<key>_XCCurrentVersionName</key>\s*<string>([^<]*)</string>", open(mark, errors="replace").read())
        versions = [found.group(1)] if found and found.group(1) in versions else versions if not found else []
    elif len(versions) > 1:
        return None
    path = os.path.join(package, versions[0], "contents") if len(versions) == 1 else ""
    return path if os.path.isfile(path) else None


def features(root):
    """What a model has of what the chosen ones should have among them."""
    relationships = {(e.get("name"), r.get("name")): r for e in root.iter("entity") for r in e.findall("relationship")}
    names = {p.get("name") for e in root.iter("entity") for p in e}
    found = set()
    if any(e.get("parentEntity") for e in root.iter("entity")):
        found.add("inheritance")
    for relationship in relationships.values():
        inverse = relationships.get((relationship.get("destinationEntity"), relationship.get("inverseName")))
        if relationship.get("toMany") == "YES" and inverse is not None and inverse.get("toMany") == "YES":
            found.add("many-to-many")
        if relationship.get("ordered") == "YES" and relationship.get("toMany") == "YES":
            found.add("ordered")
    if root.find(".//attribute[@attributeType='Composite']") is not None:
        found.add("composites")
    if names & KEYWORDS:
        found.add("keywords")
    return found


def candidates(corpus):
    """Models with different current versions, in the order of their paths."""
    seen = set()
    for folder, names, _ in sorted(os.walk(corpus)):
        if not folder.endswith(".xcdatamodeld"):
            continue
        names.clear()
        contents = current(folder)
        if contents is None:
            continue
        data = open(contents, "rb").read()
        try:
            root = ET.fromstring(data)
        except ET.ParseError:
            continue
        entities = root.findall("entity")
        digest = hashlib.sha256(data).hexdigest()
        if digest in seen or not any(e.get("isAbstract") != "YES" for e in entities):
            continue
        seen.add(digest)
        yield folder, root


def loosen(contents):
    """Writes the model so that each entity has a class of its own that can be made, saved and read here."""
    tree = ET.parse(contents)
    taken = set()
    for entity in tree.getroot().findall("entity"):
        name = entity.get("representedClassName") or ""
        last = name.rsplit(".", 1)[-1]
        if not last or last == "NSManagedObject" or last in taken:
            last = re.sub(r"\W", "_", entity.get("name"))
            last = last if re.match(r"[A-Za-z_]", last) else "_" + last
            while last in taken:
                last += "_"
            name = last
        taken.add(last)
        entity.set("representedClassName", name)
        entity.set("codeGenerationType", "class")
        for constraints in entity.findall("uniquenessConstraints"):
            entity.remove(constraints)
        for item in entity:
            if item.tag == "relationship":
                item.set("optional", "YES")
                item.attrib.pop("minCount", None)
                if item.get("maxCount", "1") != "1":
                    item.attrib.pop("maxCount")
        for attribute in entity.findall("attribute"):
            for key in ("minValueString", "maxValueString", "regularExpressionString", "minDateTimeInterval", "maxDateTimeInterval"):
                attribute.attrib.pop(key, None)
            if attribute.get("attributeType") in (None, "Undefined", "ObjectID"):
                attribute.set("transient", "YES")
            if attribute.get("attributeType") == "Transformable":
                attribute.attrib.pop("valueTransformerName", None)
                attribute.attrib.pop("defaultValueString", None)
                if attribute.get("customClassName") not in CLASSES:
                    attribute.attrib.pop("customClassName", None)
    tree.write(contents, encoding="utf-8", xml_declaration=True)
    return tree.getroot()


def quoted(name):
    return name if re.fullmatch(r"[^\W\d]\w*", name) and name not in KEYWORDS else "`%s`" % name


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Entity:
    def __init__(self, element, number):
        self.element = element
        self.number = number
        self.name = element.get("name")
        self.type = element.get("representedClassName").rsplit(".", 1)[-1]
        self.parent = element.get("parentEntity")
        self.isAbstract = element.get("isAbstract") == "YES"


def value(attribute, number, style):
    """How a value is written in Swift; None for an attribute that is left alone."""
    kind = attribute.get("attributeType")
    scalar = attribute.get("usesScalarValueType") == "YES"
    if kind in NUMBERS:
        return "%d.5" % number if kind in ("Float", "Double") else str(number)
    if kind == "Boolean":
        return "true"
    if kind == "Decimal":
        text = 'Foundation.Decimal(string: "%d.25")' % number
        return text + "!" if style == "swift" else "Foundation.NSDecimalNumber(decimal: %s!)" % text
    if kind == "String":
        return '"text %d"' % number
    if kind == "Date":
        if scalar and style == "xcode":
            return "%d.0" % number
        return "Foundation.Date(timeIntervalSinceReferenceDate: %d)" % number
    if kind == "Binary":
        return "Foundation.Data([1, 2, %d])" % (number % 256)
    if kind == "UUID":
        return 'Foundation.UUID(uuidString: "00000000-0000-0000-0000-%012d")!' % number
    if kind == "URI":
        return 'Foundation.URL(string: "https://example.org/%d")!' % number
    if kind == "Transformable":
        custom = CLASSES.get(attribute.get("customClassName"))
        return (custom or "Foundation.NSArray(array: [{n}])").replace("{n}", str(number))
    return None


class Writer:
    """Writes the Swift source that tries the classes of one model."""

    def __init__(self, root, style, number, resource):
        self.style, self.number, self.resource = style, number, resource
        self.entities = {e.get("name"): Entity(e, i + 1) for i, e in enumerate(root.findall("entity"))}
        self.composites = {c.get("name"): c.findall("attribute") for c in root.findall("composite")}
        self.concrete = [e for e in self.entities.values() if not e.isAbstract]

    def line(self, entity):
        chain = []
        while entity is not None:
            chain.insert(0, entity)
            entity = self.entities.get(entity.parent)
        return chain

    def target(self, name):
        """A concrete entity of a destination."""
        for entity in self.concrete:
            if any(ancestor.name == name for ancestor in self.line(entity)):
                return entity
        return None

    def properties(self, entity, tag):
        return [p for ancestor in self.line(entity) for p in ancestor.element.findall(tag)]

    def fill(self, entity):
        lines, checks = [], []
        for attribute in self.properties(entity, "attribute"):
            if attribute.get("derived") == "YES":
                checks.append("    _ = object.%s" % quoted(attribute.get("name")))
                continue
            name = quoted(attribute.get("name"))
            if attribute.get("attributeType") == "Composite":
                element = next((a for a in self.composites.get(attribute.get("composite"), []) if a.get("attributeType") == "String"), None)
                if element is not None:
                    key = literal(element.get("name"))
                    lines.append('    object.%s = [%s: "text"]' % (name, key))
                    checks.append('    expect(object.%s?[%s] as? Swift.String == "text", "%s")' % (name, key, entity.name))
                else:
                    checks.append("    _ = object.%s" % name)
                continue
            written = value(attribute, entity.number, self.style)
            if written is None:
                checks.append("    _ = object.%s" % name)
                continue
            lines.append("    object.%s = %s" % (name, written))
            if attribute.get("transient") != "YES":
                checks.append("    expect(object.%s == %s, %s)" % (name, written, literal(entity.name + "." + attribute.get("name"))))
        return lines, checks

    def links(self, entity):
        lines, ids = [], []
        for relationship in self.properties(entity, "relationship"):
            name, toMany = relationship.get("name"), relationship.get("toMany") == "YES"
            other = self.target(relationship.get("destinationEntity"))
            if other is not None:
                made = "made[%s] as! %s" % (literal(other.name), other.type)
                upper = name[:1].upper() + name[1:]
                lines.append("    object.addTo%s(%s)" % (upper, made) if toMany else "    object.%s = (%s)" % (quoted(name), made))
            if relationship.get("transient") == "YES":
                continue
            key = literal(entity.name + "." + name)
            if not toMany:
                ids.append("    ids[%s] = [object.%s?.objectID].compactMap { $0 }" % (key, quoted(name)))
            elif self.style == "xcode":
                members = "object.%s?%s.compactMap { ($0 as? CoreData.NSManagedObject)?.objectID }" % (
                    quoted(name), ".array" if relationship.get("ordered") == "YES" else ".allObjects")
                ids.append("    ids[%s] = %s" % (key, members))
            else:
                ids.append("    ids[%s] = object.%s.map(\\.objectID)" % (key, quoted(name)))
        for property in self.properties(entity, "fetchedProperty"):
            ids.append("    _ = object.%s" % quoted(property.get("name")))
        return lines, ids

    def text(self):
        out = ["import CoreData", "import Foundation", ""]
        for entity in self.concrete:
            fill, checks = self.fill(entity)
            link, ids = self.links(entity)
            unused = "    _ = object"
            n = entity.number
            out += ["private func fill%d(_ object: %s) {" % (n, entity.type)] + (fill or [unused]) + ["}"]
            out += ["private func link%d(_ object: %s, _ made: [Swift.String: CoreData.NSManagedObject]) {" % (n, entity.type)]
            out += (link or ["    _ = (object, made)"]) + ["}"]
            out += ["private func check%d(_ object: %s, _ expect: (Swift.Bool, Swift.String) -> Void) {" % (n, entity.type)]
            out += (checks or [unused]) + ["}"]
            out += ["private func ids%d(_ object: %s, _ ids: inout [Swift.String: [CoreData.NSManagedObjectID]]) {" % (n, entity.type)]
            out += (ids or [unused]) + ["}", ""]
        out += [
            "/// Makes, saves, fetches and reads one object of each entity; answers what was wrong.",
            "public func tryModel%02d(_ folder: Foundation.URL) throws -> (count: Swift.Int, faults: [Swift.String]) {" % self.number,
            "    guard let url = Foundation.Bundle.module.url(forResource: %s, withExtension: \"xcdatamodeld\")" % literal(self.resource),
            "    else { return (0, [\"no model in the bundle\"]) }",
            "    let model = try CoreData.NSManagedObjectModel(loading: url)",
            "    let coordinator = CoreData.NSPersistentStoreCoordinator(managedObjectModel: model)",
            "    _ = try coordinator.addPersistentStore(ofType: CoreData.NSSQLiteStoreType, configurationName: nil, "
            "at: folder.appendingPathComponent(\"%02d.sqlite\"), options: nil)" % self.number,
            "    let context = CoreData.NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)",
            "    context.persistentStoreCoordinator = coordinator",
            "    return try context.performAndWait { try rounds(context) }",
            "}",
            "",
            "private func rounds(_ context: CoreData.NSManagedObjectContext) throws -> (count: Swift.Int, faults: [Swift.String]) {",
            "    var faults: [Swift.String] = []",
            "    var made: [Swift.String: CoreData.NSManagedObject] = [:]",
            "    var before: [Swift.String: [CoreData.NSManagedObjectID]] = [:]",
            "    var after: [Swift.String: [CoreData.NSManagedObjectID]] = [:]",
        ]
        for e in self.concrete:
            out += ["    do { let object = %s(context: context); fill%d(object); made[%s] = object }" % (e.type, e.number, literal(e.name))]
        for e in self.concrete:
            out += ["    link%d(made[%s] as! %s, made)" % (e.number, literal(e.name), e.type)]
        out += ["    try context.save()"]
        for e in self.concrete:
            out += ["    ids%d(made[%s] as! %s, &before)" % (e.number, literal(e.name), e.type)]
        out += ["    made = [:]", "    context.reset()"]
        for e in self.concrete:
            out += [
                "    do {",
                "        let request: CoreData.NSFetchRequest<%s> = %s.fetchRequest()" % (e.type, e.type),
                "        request.includesSubentities = false",
                "        let objects = try context.fetch(request)",
                "        if objects.count != 1 { faults.append(%s + \": \\(objects.count) objects\") }" % literal(e.name),
                "        for object in objects {",
                "            check%d(object) { if !$0 { faults.append($1) } }" % e.number,
                "            ids%d(object, &after)" % e.number,
                "        }",
                "    }",
            ]
        out += [
            "    for (key, members) in before where Swift.Set(members) != Swift.Set(after[key] ?? []) { faults.append(key) }",
            "    if !isLetGo(context) { faults.append(\"an object is kept after 10,000 sets\") }",
            "    return (%d, faults.sorted())" % len(self.concrete),
            "}",
            "",
        ]
        return "\n".join(out + self.letGo())

    def letGo(self):
        """Sets one text 10,000 times, and sees that nothing keeps the object."""
        texts = ((e, a) for e in self.concrete for a in self.properties(e, "attribute")
                 if a.get("attributeType") == "String" and a.get("derived") != "YES")
        entity, attribute = next(texts, (None, None))
        if entity is None:
            return ["private func isLetGo(_ context: CoreData.NSManagedObjectContext) -> Swift.Bool { true }", ""]
        return [
            "private func isLetGo(_ context: CoreData.NSManagedObjectContext) -> Swift.Bool {",
            "    weak var seen: %s?" % entity.type,
            "    func make() {",
            "        let object = %s(context: context)" % entity.type,
            "        for number in 0..<10_000 { object.%s = \"text \\(number) that is longer than a word\" }" % quoted(attribute.get("name")),
            "        seen = object",
            "    }",
            "    make()",
            "    context.reset()",
            "    return seen == nil",
            "}",
            "",
        ]


def manifest(root, models):
    targets = "".join(
        '        .target(name: "Model%02d", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],\n'
        "            resources: [.copy(%s)], swiftSettings: strict,\n"
        '            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),\n' % (n, literal(resource + ".xcdatamodeld"))
        for n, resource in models)
    names = ", ".join('"Model%02d"' % n for n, _ in models)
    return """// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Client",
    dependencies: [.package(name: "OpenCoreData", path: %s)],
    targets: [
%s        .executableTarget(
            name: "Client", dependencies: [.product(name: "CoreData", package: "OpenCoreData"), %s], swiftSettings: strict),
    ]
)
""" % (literal(root), targets, names)


def program(models):
    calls = "".join("try run(%s, tryModel%02d)\n" % (literal(resource), n) for n, resource in models)
    names = [resource for _, resource in models]
    # Of two models of one name a container cannot know which is meant.
    calls += "".join("find(%s)\n" % literal(resource) for resource in names if names.count(resource) == 1)
    imports = "import CoreData\n" + "".join("import Model%02d\n" % n for n, _ in models)
    return imports + """import Foundation

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
var failures = 0
var entities = 0

@MainActor func run(_ name: String, _ body: (URL) throws -> (count: Int, faults: [String])) throws {
    do {
        let result = try body(folder)
        entities += result.count
        failures += result.faults.count
        for fault in result.faults { print("\\(name): \\(fault)") }
    } catch {
        failures += 1
        print("\\(name): \\(error)")
    }
}

/// A container has the model of its name from the resources beside the program, also by the name that a compiled one would have.
@MainActor func find(_ name: String) {
    for name in [name, name + ".momd"] where NSPersistentContainer(name: name).managedObjectModel.entities.isEmpty {
        failures += 1
        print("\\(name): no model of this name was found")
    }
}

""" + calls + """
try FileManager.default.removeItem(at: folder)
print("%d models, \\(entities) entities, \\(failures) faults")
exit(failures == 0 ? 0 : 1)
""" % len(models)


def choose(found, count, chance):
    """A model for each feature first, then any."""
    order = list(found)
    chance.shuffle(order)
    chosen = []
    for feature in FEATURES:
        chosen += [m for m in order if feature in features(m[1]) and m not in chosen][:1]
    chosen = chosen[:count]
    return chosen, [m for m in order if m not in chosen]


def place(source, folder, number, tool):
    """Copies a model into a target of its own; None, with the reason said, for one that no classes can be made of."""
    target = os.path.join(folder, "Sources", "Model%02d" % number)
    resource = os.path.basename(source)[: -len(".xcdatamodeld")]
    copy = os.path.join(target, resource + ".xcdatamodeld")
    shutil.copytree(source, copy)
    style = "swift" if number % 3 == 0 else "xcode"
    root = loosen(current(copy))
    if style == "swift":
        open(os.path.join(target, ".coredata.json"), "w").write('{ "style": "swift" }\n')
    made = subprocess.run([tool, copy, "--output", os.path.join(folder, "Trial.swift")], capture_output=True, text=True)
    if made.returncode != 0:
        print("left out: " + made.stderr.strip(), file=sys.stderr)
        shutil.rmtree(target)
        return None
    open(os.path.join(target, "Rounds.swift"), "w").write(Writer(root, style, number, resource).text())
    return number, resource


def wanting(had):
    """The features that are still missing."""
    return [feature for feature in FEATURES if feature not in had]


def placeAll(chosen, others, count, place):
    """Places so many models, those for missing features before the others; answers them and the features that they have."""
    models, had = [], set()
    waiting = chosen + others
    for turn in range(len(waiting)):
        if len(models) == count:
            break
        missing = set(wanting(had)) if turn >= len(chosen) else None
        model = next((m for m in waiting if missing and features(m[1]) & missing), waiting[0])
        waiting.remove(model)
        placed = place(model[0], len(models) + 1)
        if placed:
            models.append(placed)
            had |= features(model[1])
    return models, had


def main():
    root, corpus, folder, tool, count, seed = sys.argv[1:]
    chosen, others = choose(list(candidates(corpus)), int(count), random.Random(int(seed)))

    def placed(source, number):
        made = place(source, folder, number, tool)
        if made:
            print("%02d %s" % (number, source[len(corpus) + 1:]), file=sys.stderr)
        return made

    models, had = placeAll(chosen, others, int(count), placed)
    if int(count) >= ENOUGH and wanting(had):
        sys.exit("none of the %d models has: %s" % (len(models), ", ".join(wanting(had))))
    os.makedirs(os.path.join(folder, "Sources", "Client"))
    open(os.path.join(folder, "Package.swift"), "w").write(manifest(root, models))
    open(os.path.join(folder, "Sources", "Client", "main.swift"), "w").write(program(models))


main()
