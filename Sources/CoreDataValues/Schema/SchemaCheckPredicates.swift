// Predicate texts in a model.

extension SchemaCheck {
    /// A text that cannot be read would only be found out when it is asked for.
    mutating func checkPredicate(of template: FetchTemplate, title: String, _ entity: String, _ property: String?) {
        guard let text = template.predicate else { return }
        do throws(PredicateError) {
            _ = try FormatParser.predicate(text)
        } catch {
            report(
                "the predicate of \(title) cannot be read. \(error.sentence) Correct it", entity, property,
                template.location ?? draft.location)
        }
    }
}
