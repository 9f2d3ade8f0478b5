//! A machine from hwloc's synthetic text, `node:4 core:4 pu:1`.

use nearfar_machine::{Machine, Source};

use crate::error::TopologyError;
use crate::hwloc::build_machine;

/// The longest synthetic text that is passed on; the longest in use have some
/// hundred characters.
const MAX_TEXT: usize = 64 * 1024;
/// The most objects that a text may multiply up to on one level: as many as CPU
/// numbers are accepted.
const MAX_OBJECTS: u64 = nearfar_machine::MAX_INDEX as u64 + 1;

/// Reads hwloc's synthetic text (hwloc's manual, "Synthetic topologies").
///
/// # Errors
/// [`TopologyError::Refused`] where hwloc does not understand the text;
/// [`TopologyError::IndexTooLarge`] where it describes more CPUs than are accepted.
pub fn parse_synthetic(text: &str) -> Result<Machine, TopologyError> {
    let text = text.trim();
    let name = format!("the synthetic text '{}'", shortened(text));
    check_size(text, &name)?;
    build_machine(&name, Source::Synthetic(text.into()), |builder| {
        builder.from_synthetic(text).map_err(|error| error.to_string())
    })
}

/// The product of a text's arities bounds the objects that hwloc would make: 20
/// characters can ask for more than memory holds.
fn check_size(text: &str, name: &str) -> Result<(), TopologyError> {
    let too_large = |index: String| TopologyError::IndexTooLarge {
        name: name.into(),
        what: "PU".into(),
        index,
    };
    if text.len() > MAX_TEXT {
        return Err(too_large(format!("unknown, in {} characters", text.len())));
    }
    let mut objects: u64 = 1;
    for arity in arities(text) {
        objects = objects.saturating_mul(arity);
        if objects > MAX_OBJECTS {
            return Err(too_large(format!("{} or more", objects - 1)));
        }
    }
    Ok(())
}

/// The numbers of children, level by level: `node:4(memory=1GB) 8` gives 4 and 8.
/// Attributes in parentheses and attached memory in brackets do not multiply.
fn arities(text: &str) -> Vec<u64> {
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
        .filter_map(|level| {
            let number = level.rsplit(':').next()?;
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
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
        assert_eq!(arities("node:4 core:4 pu:1"), [4, 4, 1]);
        assert_eq!(arities("pack:2(indexes=0,1) [numa(memory=8GB)] l2:4 2 1"), [2, 4, 2, 1]);
        assert_eq!(arities("pu:99999999999999999999999"), [u64::MAX]);
    }
}
