//! What a mistyped word was meant to be.

/// The name that a word is most like, where it is like one.
pub fn nearest_name<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One wrong letter in three, counting an exchange of neighbours as one.
    let most = (word.chars().count() / 3).max(1);
    let word = word.to_lowercase();
    let apart = |name: &str| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    let nearest = names.into_iter().map(|name| (apart(name), name)).min();
    nearest.filter(|(apart, _)| *apart <= most).map(|(_, name)| name)
}

/// `; did you mean 'amd-2p'?` behind the refusal of a name that is like one of those that there are;
/// nothing where none is.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let name = nearest_name(word, names);
    name.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_word_none() {
        let names = ["amd-2p", "two-socket-8-nodes", "interleave", "bind", "first-touch"];
        for (word, name) in [
            ("adm-2p", Some("amd-2p")),
            ("two-socket-8-node", Some("two-socket-8-nodes")),
            ("AMD-2P", Some("amd-2p")),
            ("intrelave", Some("interleave")),
            ("bnd", Some("bind")),
            ("first_touch", Some("first-touch")),
            ("best", None),
            ("sparc", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(word, names), name, "{word}");
        }
        assert_eq!(did_you_mean("bnd", names), "; did you mean 'bind'?");
        assert_eq!(did_you_mean("local", []), "");
    }
}
