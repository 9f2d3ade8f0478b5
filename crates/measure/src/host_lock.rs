//! Keeps two measurements off one host: each would measure the other.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// Held while measuring. The kernel lets go of it when the process ends, however
/// it ends, and no file is left behind. Containers with network namespaces of
/// their own do not see each other's.
#[derive(Debug)]
pub struct HostLock {
    _listener: UnixListener,
}

/// Why the lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum HostLockError {
    /// Another process has it.
    #[error("another nearfar is measuring on this host; wait until it has ended")]
    Taken,
    /// The kernel refused.
    #[error(
        "cannot make sure that no other nearfar is measuring: {0}; allow Unix sockets (socket, bind) in the container's profile"
    )]
    Refused(io::Error),
}

impl HostLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// When another process has it, or the kernel refuses.
    pub fn take() -> Result<Self, HostLockError> {
        Self::take_named("nearfar.measuring")
    }

    fn take_named(name: &str) -> Result<Self, HostLockError> {
        let address = SocketAddr::from_abstract_name(name).map_err(HostLockError::Refused)?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => Ok(Self { _listener: listener }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(HostLockError::Taken),
            Err(error) => Err(HostLockError::Refused(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_has_it_until_it_is_dropped() {
        let name = format!("nearfar.test.{}", std::process::id());
        let first = HostLock::take_named(&name).unwrap();
        assert!(matches!(HostLock::take_named(&name), Err(HostLockError::Taken)));
        drop(first);
        HostLock::take_named(&name).unwrap();
    }
}
