// The one way to stop on a broken contract.

/// Traps with a sentence that says what the caller did and what to do instead.
///
/// For contracts only (an unbalanced call, a wrong queue), never for what data can cause: that is thrown.
func misuse(
    _ sentence: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) -> Never {
    fatalError(sentence(), file: file, line: line)
}
