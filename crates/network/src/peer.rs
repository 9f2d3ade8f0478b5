//! The name of a peer: HOST, HOST:PORT or [IPv6]:PORT.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// Where `nearfar serve` listens unless told.
pub const DEFAULT_PORT: u16 = 7420;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerName {
    host: String,
    port: u16,
}

/// Why a text names no peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no HOST, HOST:PORT or [IPv6]:PORT")]
pub struct PeerNameError(String);

impl PeerName {
    /// Its addresses, of which the first that answers is taken.
    ///
    /// # Errors
    /// Where the name is not known.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

impl FromStr for PeerName {
    type Err = PeerNameError;

    fn from_str(text: &str) -> Result<Self, PeerNameError> {
        let wrong = || PeerNameError(text.into());
        let of_port = |port: &str| port.parse().ok().filter(|&port| port > 0).ok_or_else(wrong);
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self { host: address.to_string(), port: DEFAULT_PORT });
        }
        if let Some((host, rest)) = text.strip_prefix('[').and_then(|it| it.split_once(']')) {
            let IpAddr::V6(host) = host.parse().map_err(|_| wrong())? else { return Err(wrong()) };
            let port = match rest.strip_prefix(':') {
                Some(port) => of_port(port)?,
                None if rest.is_empty() => DEFAULT_PORT,
                None => return Err(wrong()),
            };
            return Ok(Self { host: host.to_string(), port });
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, of_port(port)?),
            None => (text, DEFAULT_PORT),
        };
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if host.is_empty() || host.len() > 253 || !host.chars().all(is_of_name) {
            return Err(wrong());
        }
        Ok(Self { host: host.into(), port })
    }
}

impl fmt::Display for PeerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(out, "[{}]:{}", self.host, self.port),
            false => write!(out, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_and_without_a_port() {
        for (text, expected) in [
            ("node7", "node7:7420"),
            ("node7.cluster:99", "node7.cluster:99"),
            ("10.0.0.2", "10.0.0.2:7420"),
            ("10.0.0.2:1", "10.0.0.2:1"),
            ("::1", "[::1]:7420"),
            ("[::1]:80", "[::1]:80"),
            ("[::1]", "[::1]:7420"),
        ] {
            let name: PeerName = text.parse().unwrap();
            assert_eq!(name.to_string(), expected);
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        for text in ["", ":1", "a:", "a:0", "a:65536", "a b", "[1.2.3.4]:1", "[::1]1", "a:b:c", "é"]
        {
            text.parse::<PeerName>().unwrap_err();
        }
    }
}
