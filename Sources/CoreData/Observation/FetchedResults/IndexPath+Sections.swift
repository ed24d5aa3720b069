// Paths of two steps, as a list in sections has them.

import Foundation

extension IndexPath {
    /// - Parameters:
    ///   - row: the place within the section.
    ///   - section: the place of the section.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// - Parameters:
    ///   - item: the place within the section.
    ///   - section: the place of the section.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The first step. The path needs one.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The second step. The path needs two.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The second step. The path needs two.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
