//! What a stranger sends to `nearfar serve`, and a stranger's server to who measures.

use nearfar_network::Frame;

use super::{Outcome, rejected};

/// Frames, one behind the other, as long as there are any: each is written as it was read, and no byte more is
/// taken than is its own.
pub fn network_frame(input: &[u8]) -> Outcome {
    let mut rest = input;
    loop {
        let before = rest;
        match Frame::read(&mut rest) {
            Ok(frame) => {
                let taken = before.len() - rest.len();
                assert!(taken <= 1024, "a frame of {taken} bytes");
                assert_eq!(
                    frame.bytes(),
                    before[..taken],
                    "{frame:?} is written otherwise than it was read"
                );
                if rest.is_empty() {
                    return Outcome::Accepted;
                }
            }
            Err(error) => return rejected(&error),
        }
    }
}
