//! What the user typed after `serve`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use nearfar_network::DEFAULT_PORT;

pub const AFTER_HELP: &str = "\
Example, on the other machine, and then on this one:
  umask 077; head -c 32 /dev/urandom | base64 > token        the same file on both
  nearfar serve --listen 10.0.0.2 --token-file token
  nearfar characterize --only network --peer 10.0.0.2 --token-file token

It answers who has the token, and nobody else: each side proves it by an HMAC, and it never crosses the
wire. The messages themselves are neither secret nor signed, and mean nothing. Each client is told what
it may ask at most: 64 connections, messages of 16 MiB, 256 GiB and 120 s each. It tells in a line whom
it served or refused, and ends at SIGINT or SIGTERM, with status 0.";

#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address and port to listen at, for example 10.0.0.2, 10.0.0.2:7420 or [::]:7420; port 0 is any that is
    /// free
    #[arg(long, value_name = "ADDR[:PORT]", default_value = "127.0.0.1:7420", value_parser = parse_listen)]
    pub listen: SocketAddr,
    /// The file with the token, that its owner alone may read
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, DEFAULT_PORT));
    address.or_else(|_| text.parse()).map_err(|_| {
        "give an address of this machine, with a port or without: 10.0.0.2, 10.0.0.2:7420, [::1]:7420".into()
    })
}
