//! `serve`: what it asks of its token, what it says, and how it ends.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{nearfar, refuse};

fn token(folder: &Path, text: &str, mode: u32) -> std::path::PathBuf {
    let path = folder.join("token");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_token_that_others_can_read_is_refused_and_so_are_odd_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let serve = |path: &Path, listen: &str| {
        let mut command = nearfar();
        command.args(["serve", "--listen", listen, "--token-file"]).arg(path);
        command
    };
    let open = token(folder.path(), "0123456789abcdef0123", 0o644);
    refuse(&mut serve(&open, "127.0.0.1:0"), 2, &["chmod 600"]);
    let short = token(folder.path(), "short\n", 0o600);
    refuse(&mut serve(&short, "127.0.0.1:0"), 2, &["has 5 bytes", "head -c 32 /dev/urandom"]);
    let good = token(folder.path(), "0123456789abcdef0123", 0o600);
    refuse(&mut serve(&good, "somewhere"), 2, &["give an address of this machine"]);
    // Of the net that documents are written with (RFC 5737): nobody has it.
    refuse(&mut serve(&good, "192.0.2.1:0"), 2, &["cannot listen at 192.0.2.1:0"]);
    refuse(nearfar().arg("serve"), 2, &["--token-file"]);
}

/// A server that a test started, killed with it.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn it_says_where_it_listens_and_whom_it_refused_and_ends_at_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let good = token(folder.path(), "0123456789abcdef0123", 0o600);
    for signal in ["TERM", "INT"] {
        let mut command = nearfar();
        command.args(["serve", "--listen", "127.0.0.1:0", "--token-file"]).arg(&good);
        let mut served = Served(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(served.0.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.strip_prefix("nearfar serves at ").unwrap();
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(b"\x1b[31mGET / HTTP/1.1\r\n\r\n..............").unwrap();
        let told = lines.next().unwrap().unwrap();
        assert!(
            told.ends_with(": refused: no request: it does not begin as nearfar's do"),
            "{told}"
        );
        let id = served.0.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(served.0.wait().unwrap().code(), Some(0));
        assert_eq!(lines.count(), 0);
    }
}

#[test]
fn messages_need_a_peer_and_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let characterize = |words: &str| {
        let mut command = nearfar();
        command.arg("characterize").args(words.split(' ')).current_dir(folder.path());
        command
    };
    let only = "--only network --dry-run";
    refuse(
        &mut characterize(&format!("{only} --peer 127.0.0.1:1")),
        2,
        &["give --token-file FILE", "nearfar serve"],
    );
    refuse(
        &mut characterize(&format!("{only} --peer 127.0.0.1:1 --token-file nowhere")),
        2,
        &["cannot read nowhere"],
    );
    refuse(&mut characterize("--only network --peer a:b:c"), 2, &["HOST:PORT"]);
    refuse(&mut characterize("--only network --dry-run"), 2, &["name it by --peer HOST"]);
    let token = token(folder.path(), "0123456789abcdef0123", 0o600);
    let token = token.display();
    refuse(
        &mut characterize(&format!("--only network --peer 127.0.0.1:1 --token-file {token}")),
        2,
        &["--peer 127.0.0.1:1: it cannot be reached", "must run there"],
    );
    refuse(
        &mut characterize("--only pairs --dry-run --peer 127.0.0.1:1"),
        2,
        &["--peer is for `--only network`"],
    );
    refuse(
        &mut characterize(&format!("--only pairs --dry-run --token-file {token}")),
        2,
        &["--token-file is for `--only network`"],
    );
    refuse(&mut characterize("--simulate amd-2p --only network --peer a"), 2, &["--simulate"]);
}
