//! A server in a thread, and what it told.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use nearfar_network::{Ask, Connection, Limits, MessageWay, PeerError, Server, Token};

/// Longer than any limit of these tests.
const PATIENCE: Duration = Duration::from_secs(30);

pub fn token() -> Token {
    Token::new(*b"a token of the tests")
}

/// A small test this way.
pub fn ask(way: MessageWay) -> Ask {
    Ask { way, message_bytes: 64, total_bytes: 1 << 30, seconds: 20 }
}

pub struct Running {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    told: Mutex<Receiver<String>>,
}

impl Running {
    pub fn start(limits: Limits) -> Self {
        let server = Server::bind("127.0.0.1:0", token(), limits).unwrap();
        let address = server.address().unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let (sender, told) = channel();
        let sender = Mutex::new(sender);
        let asked = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            let ends = || asked.load(Ordering::Relaxed);
            let tell = |told: &nearfar_network::Told| {
                sender.lock().unwrap().send(told.to_string()).unwrap();
            };
            server.serve(&ends, &tell).unwrap();
        });
        Self { address, ends, thread: Some(thread), told: Mutex::new(told) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn open(&self, ask: Ask) -> Result<Connection, PeerError> {
        Connection::open(&[self.address], &token(), ask)
    }

    /// The next line.
    pub fn told(&self) -> String {
        self.told.lock().unwrap().recv_timeout(PATIENCE).unwrap()
    }

    /// It lives: the next client is served.
    pub fn serves(&self) {
        let mut next = self.open(ask(MessageWay::RoundTrip)).unwrap();
        let mut back = [0; 64];
        next.round_trip(&[9; 64], &mut back).unwrap();
        next.finish(&back).unwrap();
        assert_eq!(back, [9; 64]);
        let told = self.told();
        assert!(told.contains(": sent back 64 B"), "{told}");
    }

    /// Asks it to end, and waits until it has; the lines that were not read.
    pub fn end(mut self) -> Vec<String> {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.told.lock().unwrap().try_iter().collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
