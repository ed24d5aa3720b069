// How much a graph becomes when it is walked as a tree.

/// Measures a graph whose nodes are numbered and know what they hold: each node once, without recursion.
struct Expansion {
    private struct Step {
        let node: Int
        /// Which part comes next.
        var next = 0
        /// What the node and its parts so far stand for.
        var size = 1
        var depth = 1
    }
    private let limits: ArchiveLimits
    private let part: (_ node: Int, _ index: Int) -> Int?
    /// What each node stands for, itself included; 0 for one not met, -1 for one whose parts are being measured.
    private var sizes: [Int]
    private var depths: [Int]
    private var path: [Step] = []
    private var visits = 0

    /// - Parameters:
    ///   - count: how many nodes there are.
    ///   - part: the part of a node with an index, nil beyond the last.
    /// - Returns: for each node what it stands for, 0 for one that the root does not lead to.
    /// - Throws: for a graph deeper or larger than the limits, and for one that holds itself.
    @discardableResult
    static func check(
        from root: Int, of count: Int, _ limits: ArchiveLimits, part: @escaping (_ node: Int, _ index: Int) -> Int?
    ) throws(ArchiveError) -> [Int] {
        var expansion = Expansion(count, limits, part)
        try expansion.measure(root)
        return expansion.sizes
    }

    private init(_ count: Int, _ limits: ArchiveLimits, _ part: @escaping (Int, Int) -> Int?) {
        self.limits = limits
        self.part = part
        sizes = Array(repeating: 0, count: count)
        depths = Array(repeating: 0, count: count)
    }

    private mutating func measure(_ root: Int) throws(ArchiveError) {
        try open(root)
        while let step = path.last {
            guard let part = part(step.node, step.next) else {
                sizes[step.node] = step.size
                depths[step.node] = step.depth
                path.removeLast()
                continue
            }
            switch sizes[part] {
            case 0: try open(part)  // met again, measured, when it is done
            case -1: throw ArchiveError("It holds a thing inside itself.")
            default: try add(part)
            }
        }
    }

    private mutating func open(_ node: Int) throws(ArchiveError) {
        guard path.count < limits.depth else { throw limits.tooDeep }
        sizes[node] = -1
        path.append(Step(node: node))
    }

    /// All that is visited is part of the root, so no walk goes on for longer than the limit.
    private mutating func add(_ part: Int) throws(ArchiveError) {
        var step = path.removeLast()
        visits += 1
        step.next += 1
        step.size += sizes[part]
        step.depth = max(step.depth, depths[part] + 1)
        guard visits <= limits.expanded, step.size <= limits.expanded else { throw limits.tooLarge }
        guard step.depth <= limits.depth else { throw limits.tooDeep }
        path.append(step)
    }
}
