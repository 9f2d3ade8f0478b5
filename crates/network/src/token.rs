//! What both sides know and never send.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::frame::{Answer, Greeting, Hash, Request};

/// Of a token, bytes.
const LEAST_TOKEN: usize = 16;
const MOST_TOKEN: usize = 4096;

/// What a proof is of, so that none can stand for one of the other side.
const OF_REQUEST: &[u8] = b"nearfar network request 1";
const OF_ANSWER: &[u8] = b"nearfar network answer 1";

/// What both sides know and never send: each proves that it has it by an HMAC-SHA-256 over the other's nonce.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token")
    }
}

/// Why a file is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("cannot read {path}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} is no file")]
    NoFile { path: PathBuf },
    #[error("{path} can be read by others than its owner; `chmod 600 {path}`")]
    Open { path: PathBuf },
    #[error(
        "{path} has {bytes} bytes; a token has {LEAST_TOKEN} to {MOST_TOKEN}: `head -c 32 /dev/urandom | base64 > {path}` makes one"
    )]
    Length { path: PathBuf, bytes: u64 },
}

impl Token {
    /// Of a file that its owner alone may read. White space at its end is no part of it.
    ///
    /// # Errors
    /// Where others may read the file, or it is too short or too long.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let unreadable =
            |source: io::Error| TokenError::Unreadable { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(TokenError::NoFile { path: path.to_path_buf() });
        }
        if about.permissions().mode() & 0o077 != 0 {
            return Err(TokenError::Open { path: path.to_path_buf() });
        }
        let mut bytes = Vec::new();
        file.take(MOST_TOKEN as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let token = bytes.trim_ascii_end();
        if !(LEAST_TOKEN..=MOST_TOKEN).contains(&token.len()) {
            // What was read of one that is too long is not all of it.
            let is_short = token.len() < LEAST_TOKEN;
            let bytes = if is_short { token.len() as u64 } else { about.len() };
            return Err(TokenError::Length { path: path.to_path_buf(), bytes });
        }
        Ok(Self(token.to_vec()))
    }

    /// Of bytes that are at hand.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        // A key of any length is one.
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        for part in parts {
            mac.update(part);
        }
        mac
    }

    fn of_request(&self, greeting: &Greeting, request: &Request) -> Hmac<Sha256> {
        self.mac(&[OF_REQUEST, &greeting.nonce, &request.asked()])
    }

    fn of_answer(&self, greeting: &Greeting, request: &Request, answer: &Answer) -> Hmac<Sha256> {
        self.mac(&[OF_ANSWER, &greeting.nonce, &request.asked(), answer.text.as_bytes()])
    }

    /// The request with its proof.
    pub(crate) fn sign_request(&self, greeting: &Greeting, request: Request) -> Request {
        Request { proof: hash(self.of_request(greeting, &request)), ..request }
    }

    /// Whether who asks has the token; takes as long whatever the proof is.
    pub(crate) fn proves_request(&self, greeting: &Greeting, request: &Request) -> bool {
        self.of_request(greeting, request).verify_slice(&request.proof).is_ok()
    }

    pub(crate) fn sign_answer(
        &self,
        greeting: &Greeting,
        request: &Request,
        answer: Answer,
    ) -> Answer {
        Answer { proof: hash(self.of_answer(greeting, request, &answer)), ..answer }
    }

    /// Whether who answers has the token.
    pub(crate) fn proves_answer(
        &self,
        greeting: &Greeting,
        request: &Request,
        answer: &Answer,
    ) -> bool {
        self.of_answer(greeting, request, answer).verify_slice(&answer.proof).is_ok()
    }
}

fn hash(mac: Hmac<Sha256>) -> Hash {
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    fn request() -> Request {
        Request {
            nonce: [1; 32],
            way: crate::frame::MessageWay::Send,
            message_bytes: 64,
            total_bytes: 1 << 20,
            seconds: 1,
            proof: [0; 32],
        }
    }

    /// RFC 4231, test case 2.
    #[test]
    fn the_hash_is_hmac_sha_256() {
        let mac = Token::new(*b"Jefe").mac(&[b"what do ya want ", b"for nothing?"]);
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let found: String = hash(mac).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_proof_holds_for_one_connection_and_one_request() {
        let (token, other) = (Token::new(*b"0123456789abcdef"), Token::new(*b"another one 4567"));
        let greeting = Greeting { nonce: [9; 32] };
        let signed = token.sign_request(&greeting, request());
        assert!(token.proves_request(&greeting, &signed));
        assert!(!other.proves_request(&greeting, &signed));
        assert!(!token.proves_request(&Greeting { nonce: [8; 32] }, &signed));
        assert!(!token.proves_request(&greeting, &Request { message_bytes: 65, ..signed }));
        // What a client proved is no proof of a server.
        let answer =
            Answer { verdict: crate::Verdict::Accepted, proof: signed.proof, text: String::new() };
        assert!(!token.proves_answer(&greeting, &signed, &answer));
        let answer = token.sign_answer(&greeting, &signed, answer);
        assert!(token.proves_answer(&greeting, &signed, &answer));
        assert!(!other.proves_answer(&greeting, &signed, &answer));
    }

    #[test]
    fn a_token_that_others_can_read_or_that_is_short_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let read = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Token::read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read("0123456789abcdef\n", 0o600).unwrap().0, b"0123456789abcdef");
        assert!(read("0123456789abcdef\n", 0o640).unwrap_err().contains("chmod 600"));
        assert!(read("", 0o600).unwrap_err().contains("has 0 bytes"));
        assert!(read("0123456789abcde\n\n\n", 0o600).unwrap_err().contains("has 15 bytes"));
        assert!(read(&"x".repeat(5000), 0o600).unwrap_err().contains("has 5000 bytes"));
        assert!(Token::read(folder.path()).unwrap_err().to_string().contains("is no file"));
    }
}
