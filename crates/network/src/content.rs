//! What a server sends: bytes that follow from the client's nonce, so that what arrives is none of what lay
//! there before.

use crate::frame::Hash;

/// The peer reads and writes at least this much in a call.
const LEAST_CALL: u64 = 256 << 10;

/// Bytes of the peer's buffer for messages of this size: whole messages.
pub(crate) fn buffer_bytes(message_bytes: u64) -> usize {
    let messages = (LEAST_CALL / message_bytes.max(1)).max(1);
    usize::try_from(messages * message_bytes).unwrap_or(usize::MAX)
}

/// This many bytes of a sequence (splitmix64, Vigna 2015) that begins at the nonce's hash (FNV-1a).
pub(crate) fn content(nonce: &Hash, bytes: usize) -> Vec<u8> {
    let mut state = nonce.iter().fold(0xcbf2_9ce4_8422_2325, |state: u64, &byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut content = Vec::with_capacity(bytes + 8);
    while content.len() < bytes {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        content.extend((word ^ (word >> 31)).to_le_bytes());
    }
    content.truncate(bytes);
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_whole_messages_and_content_is_of_the_nonce() {
        for (message, bytes) in [(64, 256 << 10), (3000, 87 * 3000), (1 << 20, 1 << 20)] {
            assert_eq!(buffer_bytes(message), bytes);
        }
        assert_eq!(content(&[1; 32], 13), content(&[1; 32], 100)[..13]);
        assert_ne!(content(&[1; 32], 100), content(&[2; 32], 100));
    }
}
