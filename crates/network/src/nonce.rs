//! Random bytes that nobody can foretell.

use std::fs::File;
use std::io::{self, Read};

use crate::frame::{HASH_BYTES, Hash};

/// From the kernel's generator.
pub(crate) fn nonce() -> io::Result<Hash> {
    let mut bytes = [0; HASH_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
