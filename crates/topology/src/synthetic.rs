//! A machine from hwloc's synthetic text, `node:4 core:4 pu:1`.

use nearfar_machine::{MAX_INDEX, Machine, Source};

use crate::error::{TopologyError, describe_hwloc_error};
use crate::hwloc::build_machine;

/// The longest synthetic text that is passed on; the longest in use have some
/// hundred characters.
const MAX_TEXT: usize = 64 * 1024;
/// The most objects that a text may multiply up to on one level: as many CPUs as Linux can be
/// built for (`CONFIG_NR_CPUS`). hwloc's time grows with about the cube of them.
const MAX_OBJECTS: u64 = 8192;

/// Reads hwloc's synthetic text (hwloc's manual, "Synthetic topologies").
///
/// # Errors
/// [`TopologyError::UnsafeText`] where it is not well formed or describes more than any machine
/// has, [`TopologyError::IndexTooLarge`] where it numbers objects beyond what is accepted, and
/// [`TopologyError::Refused`] where hwloc does not understand it.
pub fn parse_synthetic(text: &str) -> Result<Machine, TopologyError> {
    let text = text.trim();
    let name = format!("the synthetic text '{}'", shortened(text));
    check_size(text, &name)?;
    build_machine(&name, Source::Synthetic(text.into()), |builder| {
        builder.from_synthetic(text).map_err(|error| describe_hwloc_error(&error))
    })
}

/// The product of a text's arities bounds the objects that hwloc would make: 20
/// characters can ask for more than memory holds.
fn check_size(text: &str, name: &str) -> Result<(), TopologyError> {
    let refused = |why: String| TopologyError::UnsafeText { name: name.into(), why };
    if text.len() > MAX_TEXT {
        return Err(refused(format!("it has {} bytes; at most {MAX_TEXT} are read", text.len())));
    }
    if !is_nested(text) {
        let why = "its parentheses and brackets are not closed in the order of opening";
        return Err(refused(why.into()));
    }
    if let Some(index) = largest_index(text).filter(|&index| index > u64::from(MAX_INDEX)) {
        return Err(TopologyError::IndexTooLarge {
            name: name.into(),
            what: "object".into(),
            index: index.to_string(),
        });
    }
    let arities = arities(text).ok_or_else(|| {
        refused("a level ends with the number of its objects, as in core:4 or 4".into())
    })?;
    let objects = arities.into_iter().fold(1, u64::saturating_mul);
    if objects > MAX_OBJECTS {
        let why = format!("it describes {objects} objects or more; at most {MAX_OBJECTS} are read");
        return Err(refused(why));
    }
    Ok(())
}

/// Whether every parenthesis and bracket is closed by its like. What stands behind an open one
/// hwloc and this file would take for different things.
fn is_nested(text: &str) -> bool {
    let mut open = Vec::new();
    text.chars().all(|letter| match letter {
        '(' => {
            open.push(')');
            true
        }
        '[' => {
            open.push(']');
            true
        }
        ')' | ']' => open.pop() == Some(letter),
        _ => true,
    }) && open.is_empty()
}

/// The largest number within parentheses that list indexes: hwloc (2.9) takes them for places in a
/// table without looking.
fn largest_index(text: &str) -> Option<u64> {
    let lists = text.split("indexes=").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let numbers = lists.flat_map(|list| list.split(|letter: char| !letter.is_ascii_digit()));
    let read = |digits: &str| digits.parse().unwrap_or(u64::MAX);
    numbers.filter(|digits| !digits.is_empty()).map(read).max()
}

/// The numbers of children, level by level: `node:4(memory=1GB) 8` gives 4 and 8.
/// Attributes in parentheses and attached memory in brackets do not multiply. `None` where a
/// level's number is not plain: hwloc also reads signs, octal and hexadecimal, and levels
/// without a blank between them.
fn arities(text: &str) -> Option<Vec<u64>> {
    let mut depth = 0_u32;
    let outside: String = text
        .chars()
        .map(|letter| match letter {
            '(' | '[' => {
                depth += 1;
                ' '
            }
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                ' '
            }
            _ if depth > 0 => ' ',
            _ => letter,
        })
        .collect();
    outside
        .split_whitespace()
        .map(|level| {
            let digits = level.split_once(':').map_or(level, |(_, digits)| digits);
            let plain =
                !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
            (plain && !digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
        })
        .collect()
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arities_are_those_that_multiply() {
        let numbers = |text: &str| arities(text).unwrap();
        assert_eq!(numbers("node:4 core:4 pu:1"), [4, 4, 1]);
        assert_eq!(numbers("pack:2(indexes=0,1) [numa(memory=8GB)] l2:4 2 1"), [2, 4, 2, 1]);
        assert_eq!(numbers("pu:99999999999999999999999"), [u64::MAX]);
        for text in [
            "node:0xffff pu:0xffff",
            "node:+65536 pu:2",
            "node:-1",
            "node:",
            "node:07",
            "x",
            "node:6553pu:2",
        ] {
            assert_eq!(arities(text), None, "{text}");
        }
    }

    /// Found by mutations: hwloc looks for a CPU in a table that has 8.
    #[test]
    fn an_index_that_no_machine_has_is_refused() {
        let text = "node:2(memory=1GB) core:2 pu:2(indexes=6,4,2,6,1,5,34294967294,7)";
        let said = parse_synthetic(text).unwrap_err().to_string();
        assert!(said.contains("34294967294"), "{said}");
        assert_eq!(largest_index("pu:2(indexes=0,4:2*3) [numa(indexes=9)]"), Some(9));
        assert_eq!(largest_index("pack:70000"), None);
    }

    /// Found by mutations: hwloc takes what follows for levels, of 2^48 objects.
    #[test]
    fn brackets_are_closed_in_order() {
        for text in ["node:2 core[:65536 pu:65536", "pu:2(", "pu:2)", "pu:2 [numa(])"] {
            let said = parse_synthetic(text).unwrap_err().to_string();
            assert!(said.contains("brackets"), "{text}: {said}");
        }
        assert!(is_nested("pack:2(memory=1GB) [numa(memory=8GB)] 2 1"));
    }
}
