//! The firmware's tables of memory modules.

use nearfar_topology::list_memory_sockets;

use super::{Outcome, rejected_words};

/// The length of the entry point in one byte, the entry point, and the tables.
pub fn memory_modules(input: &[u8]) -> Outcome {
    let (length, rest) = input.split_first().unwrap_or((&0, &[]));
    let (entry_point, tables) = rest.split_at(usize::from(*length).min(rest.len()));
    match list_memory_sockets(entry_point.to_vec(), tables.to_vec()) {
        Ok(sockets) => {
            assert!(!sockets.modules.is_empty());
            for module in &sockets.modules {
                assert_eq!(module.absurdity(), None, "{module:?}");
            }
            Outcome::Accepted
        }
        Err(why) => rejected_words(&why),
    }
}
