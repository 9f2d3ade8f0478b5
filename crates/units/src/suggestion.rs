//! What somebody may have meant who mistyped a name.

/// `; did you mean 'amd-2p'?` behind the refusal of a name that is like one of those that there are;
/// nothing where none is.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    // One wrong letter in three, counting an exchange of neighbours as one.
    let most = (word.chars().count() / 3).max(1);
    let word = word.to_lowercase();
    let apart = |name: &str| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    let nearest = names.into_iter().map(|name| (apart(name), name)).min();
    match nearest.filter(|(apart, _)| *apart <= most) {
        Some((_, name)) => format!("; did you mean '{name}'?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_near_is_named() {
        let names = ["amd-2p", "amd-4p", "intel-2p", "two-socket-8-nodes"];
        for (word, found) in [
            ("adm-2p", "; did you mean 'amd-2p'?"),
            ("two-socket-8-node", "; did you mean 'two-socket-8-nodes'?"),
            ("Intel-2P", "; did you mean 'intel-2p'?"),
            ("sparc", ""),
            ("", ""),
        ] {
            assert_eq!(did_you_mean(word, names), found, "{word}");
        }
    }
}
