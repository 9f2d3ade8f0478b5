//! Lists of machines as Slurm, Flux and pdsh write them: `n[1-400]`, `rack[01-12]n[1-4,7],login`.

use nearfar_units::excerpt;

use crate::machine_name::{MachineName, MachineNameError};

/// More names than any cluster has.
const MOST: usize = 1_000_000;

/// Why a list could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    #[error("'{}' in a list of machines {wrong}", excerpt(part))]
    Part { part: String, wrong: &'static str },
    #[error("a list of machines names more than {MOST}")]
    TooMany,
    #[error("a list of machines names none")]
    Empty,
    #[error(transparent)]
    Name(#[from] MachineNameError),
}

/// All names of a list, in its order, each once.
///
/// # Errors
/// Where brackets or numbers are wrong, a name is none, or there are too many.
pub fn expand_hosts(list: &str) -> Result<Vec<MachineName>, HostListError> {
    let mut names = Vec::new();
    for part in parts(list)? {
        let room = MOST - names.len();
        names.extend(expand(part.trim(), room)?);
    }
    let mut seen = std::collections::HashSet::new();
    let names: Result<Vec<MachineName>, _> = names.iter().map(|name| name.parse()).collect();
    let names: Vec<MachineName> =
        names?.into_iter().filter(|name| seen.insert(name.clone())).collect();
    if names.is_empty() { Err(HostListError::Empty) } else { Ok(names) }
}

/// Parts between commas that stand outside of brackets.
fn parts(list: &str) -> Result<Vec<&str>, HostListError> {
    let (mut parts, mut begin, mut is_inside) = (Vec::new(), 0, false);
    let wrong = |wrong| HostListError::Part { part: list.into(), wrong };
    for (position, letter) in list.char_indices() {
        match letter {
            '[' if is_inside => return Err(wrong("has a bracket within brackets")),
            ']' if !is_inside => return Err(wrong("closes a bracket that is not open")),
            '[' | ']' => is_inside = letter == '[',
            ',' if !is_inside => {
                parts.push(&list[begin..position]);
                begin = position + 1;
            }
            _ => {}
        }
    }
    if is_inside {
        return Err(wrong("does not close a bracket"));
    }
    parts.push(&list[begin..]);
    Ok(parts.into_iter().filter(|part| !part.trim().is_empty()).collect())
}

fn expand(part: &str, room: usize) -> Result<Vec<String>, HostListError> {
    let Some((before, rest)) = part.split_once('[') else {
        return if room > 0 { Ok(vec![part.into()]) } else { Err(HostListError::TooMany) };
    };
    let wrong = |wrong| HostListError::Part { part: part.into(), wrong };
    let (inside, after) = rest.split_once(']').ok_or_else(|| wrong("does not close a bracket"))?;
    let ends = expand(after, room)?;
    let mut names = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(first) || !is_number(last) {
            return Err(wrong("has brackets around what is no range of numbers"));
        }
        let (low, high): (u64, u64) = match (first.parse(), last.parse()) {
            (Ok(low), Ok(high)) if low <= high => (low, high),
            _ => {
                return Err(wrong("has a range that ends before it begins, or too large a number"));
            }
        };
        let count = usize::try_from(high - low).ok().and_then(|more| more.checked_add(1));
        let total = count
            .and_then(|count| count.checked_mul(ends.len()))
            .and_then(|it| it.checked_add(names.len()));
        if total.is_none_or(|total| total > room) {
            return Err(HostListError::TooMany);
        }
        // `[01-12]`: as many digits as the first has.
        let digits = first.len();
        for number in low..=high {
            names.extend(ends.iter().map(|end| format!("{before}{number:0digits$}{end}")));
        }
    }
    Ok(names)
}

/// The same list in few words: names that differ in their last number stand in brackets.
pub fn fold_hosts<'a>(names: impl IntoIterator<Item = &'a MachineName>) -> String {
    /// A name before, within and behind its last number.
    fn split(name: &str) -> Option<(&str, &str, &str)> {
        let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
        let begin = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |it| it + 1);
        // Beyond this nobody counts machines.
        (end - begin <= 15).then(|| (&name[..begin], &name[begin..end], &name[end..]))
    }
    let mut alone = Vec::new();
    /// What stands before and behind a number, and its digits where it is padded.
    type Family<'a> = (&'a str, &'a str, usize);
    let mut families: Vec<(Family<'_>, Vec<u64>)> = Vec::new();
    for name in names {
        let Some((before, number, after)) = split(name.as_str()) else {
            alone.push(name.to_string());
            continue;
        };
        // Padded numbers are told apart by their digits; others have no zero in front.
        let digits = if number.starts_with('0') && number.len() > 1 { number.len() } else { 0 };
        let key = (before, after, digits);
        let value = number.parse().unwrap_or_default();
        match families.iter_mut().rev().find(|(known, _)| {
            *known == key || (known.0 == before && known.1 == after && known.2 == number.len())
        }) {
            Some((_, numbers)) => numbers.push(value),
            None => families.push((key, vec![value])),
        }
    }
    let words = families.into_iter().map(|((before, after, digits), mut numbers)| {
        numbers.sort_unstable();
        numbers.dedup();
        let ranges: Vec<String> = numbers
            .chunk_by(|one, next| one + 1 == *next)
            .map(|range| match range {
                [one] => format!("{one:0digits$}"),
                range => format!("{:0digits$}-{:0digits$}", range[0], range[range.len() - 1]),
            })
            .collect();
        match (ranges.as_slice(), numbers.len()) {
            ([only], 1) => format!("{before}{only}{after}"),
            _ => format!("{before}[{}]{after}", ranges.join(",")),
        }
    });
    words.chain(alone).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(list: &str) -> Vec<String> {
        expand_hosts(list).unwrap().iter().map(ToString::to_string).collect()
    }

    /// As `scontrol show hostnames` prints them.
    #[test]
    fn lists_are_those_of_slurm() {
        assert_eq!(expanded("n[1-3,7],login"), ["n1", "n2", "n3", "n7", "login"]);
        assert_eq!(
            expanded("r[1-2]n[08-10]"),
            ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]
        );
        assert_eq!(expanded(" a, a ,b-1.x"), ["a", "b-1.x"]);
    }

    #[test]
    fn what_is_folded_is_the_same_list() {
        for list in ["n[1-3,7],login", "n[08-10]", "n[1-4000]", "a1b,a2b", "x", "n[1-2],n[01-02]"] {
            let names = expand_hosts(list).unwrap();
            let mut again = expand_hosts(&fold_hosts(&names)).unwrap();
            let mut names = names;
            names.sort();
            again.sort();
            assert_eq!(names, again, "{list}: {}", fold_hosts(&names));
        }
        assert_eq!(fold_hosts(&expand_hosts("n2,n1,n3,n9").unwrap()), "n[1-3,9]");
    }

    #[test]
    fn wrong_lists_are_refused() {
        for list in [
            "",
            ",",
            "n[",
            "n]",
            "n[1-",
            "n[3-1]",
            "n[a-b]",
            "n[[1]]",
            "n[1-9999999]",
            "n[0-999]m[0-9999]",
            "n[99999999999999999999]",
            "n/1",
        ] {
            assert!(expand_hosts(list).is_err(), "{list}");
        }
    }
}
