//! Whoever answers: `nearfar serve`.

use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nearfar_sys::wait_readable;
use nearfar_units::Bytes;

use crate::frame::{MessageWay, Verdict};
use crate::limits::Limits;
use crate::session::{Refusal, Served, Session, refuse};
use crate::token::Token;

/// How long a server may not notice that it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Answers clients that have its token, each in a thread of its own.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    token: Token,
    limits: Limits,
}

/// What a server did, in a line.
#[derive(Debug)]
pub enum Told {
    /// A client was served to its end.
    Served { client: SocketAddr, way: MessageWay, message_bytes: u64, bytes: u64 },
    /// It was not, or not to its end.
    Refused { client: SocketAddr, why: Refusal },
    /// No connection could be taken.
    NotTaken(io::Error),
}

impl fmt::Display for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served { client, way, message_bytes, bytes } => {
                let way = match way {
                    MessageWay::Send => "received",
                    MessageWay::Receive => "sent",
                    MessageWay::RoundTrip => "sent back",
                };
                write!(
                    out,
                    "{client}: {way} {} in messages of {}",
                    Bytes(*bytes),
                    Bytes(*message_bytes)
                )
            }
            Self::Refused { client, why } => write!(out, "{client}: refused: {why}"),
            Self::NotTaken(error) => write!(out, "a connection could not be taken: {error}"),
        }
    }
}

/// Connections that are served, to be shut down at the end.
#[derive(Debug, Default)]
struct Open {
    count: AtomicUsize,
    streams: Mutex<Vec<(SocketAddr, TcpStream)>>,
}

impl Open {
    fn with_streams<T>(&self, ask: impl FnOnce(&mut Vec<(SocketAddr, TcpStream)>) -> T) -> T {
        // A thread that panicked left the list as it was.
        let mut streams = self.streams.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ask(&mut streams)
    }
}

impl Server {
    /// Listens at the first of these addresses that is free.
    ///
    /// # Errors
    /// Where none is.
    pub fn bind(address: impl ToSocketAddrs, token: Token, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        // A client that goes away between being announced and being taken must not hold the server up.
        listener.set_nonblocking(true)?;
        Ok(Self { listener, token, limits })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is to end, and ends what is served then.
    ///
    /// # Errors
    /// Where the system no longer waits for connections.
    pub fn serve(
        &self,
        ends: &(dyn Fn() -> bool + Sync),
        tell: &(dyn Fn(&Told) + Sync),
    ) -> io::Result<()> {
        let open = Open::default();
        std::thread::scope(|scope| {
            let served = loop {
                if ends() {
                    break Ok(());
                }
                match wait_readable(self.listener.as_fd(), LOOK) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(error) => break Err(error),
                }
                let (stream, client) = match self.listener.accept() {
                    Ok(taken) => taken,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    // Too many files are open, or the client is gone: neither is for ever.
                    Err(error) => {
                        tell(&Told::NotTaken(error));
                        std::thread::sleep(LOOK);
                        continue;
                    }
                };
                let open = &open;
                let serve = move || {
                    let told = match self.serve_one(&stream, client, open, ends) {
                        Ok(Served { way, message_bytes, bytes }) => {
                            Told::Served { client, way, message_bytes, bytes }
                        }
                        Err(why) => Told::Refused { client, why },
                    };
                    open.with_streams(|streams| streams.retain(|(of, _)| *of != client));
                    open.count.fetch_sub(1, Ordering::Relaxed);
                    // An end that both see once all has been said.
                    stream.shutdown(Shutdown::Both).ok();
                    tell(&told);
                };
                let count = open.count.fetch_add(1, Ordering::Relaxed);
                // Those that are told so are few at a time as well.
                if count >= 2 * self.limits.connections {
                    open.count.fetch_sub(1, Ordering::Relaxed);
                    tell(&Told::Refused { client, why: Refusal::Busy(self.limits.connections) });
                    continue;
                }
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, serve) {
                    open.count.fetch_sub(1, Ordering::Relaxed);
                    tell(&Told::NotTaken(error));
                }
            };
            open.with_streams(|streams| {
                for (_, stream) in streams.drain(..) {
                    stream.shutdown(Shutdown::Both).ok();
                }
            });
            served
        })
    }

    fn serve_one(
        &self,
        stream: &TcpStream,
        client: SocketAddr,
        open: &Open,
        ends: &(dyn Fn() -> bool + Sync),
    ) -> Result<Served, Refusal> {
        // The listener's own way does not hold for what it takes on every system.
        stream.set_nonblocking(false)?;
        let copy = stream.try_clone()?;
        let place = open.with_streams(|streams| {
            streams.push((client, copy));
            streams.len()
        });
        if place > self.limits.connections {
            refuse(stream, Verdict::Busy, "as many clients as may be are served already");
            return Err(Refusal::Busy(self.limits.connections));
        }
        Session { stream, token: &self.token, limits: &self.limits, ends }.serve()
    }
}
