//! Lists of items in a sentence.

/// Joins items with commas, and "and" before the last.
pub fn listed(parts: &[impl AsRef<str>]) -> String {
    listed_with(parts, "and")
}

/// Joins items with commas, and `word` before the last.
pub fn listed_with(parts: &[impl AsRef<str>], word: &str) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} {word} {last}", first.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_commas_and_a_conjunction_before_the_last() {
        assert_eq!(listed(&[""; 0]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed_with(&["a", "b", "c"], "or"), "a, b or c");
    }
}
