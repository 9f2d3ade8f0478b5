//! What a mistyped word was meant to be.

/// Words are like each other from here on, of 1 for the same.
const ALIKE: f64 = 0.6;

/// The name that a word is most like, where it is like one.
pub fn nearest_name<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(word, name);
    let names = names.into_iter().map(|name| (likeness(name), name));
    let alike = names.filter(|(likeness, _)| *likeness >= ALIKE);
    alike.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_word_none() {
        let names = ["local", "spread", "interleave", "bind", "first-touch"];
        for (word, name) in [
            ("interleav", Some("interleave")),
            ("intrelave", Some("interleave")),
            ("loacl", Some("local")),
            ("bnd", Some("bind")),
            ("first_touch", Some("first-touch")),
            ("best", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(word, names), name, "{word}");
        }
        assert_eq!(nearest_name("local", []), None);
    }
}
