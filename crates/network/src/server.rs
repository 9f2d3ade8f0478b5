//! Whoever answers: `nearfar serve`.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::time::Duration;

use nearfar_sys::wait_readable;
use nearfar_units::Bytes;

use crate::frame::MessageWay;
use crate::limits::Limits;
use crate::session::{Refusal, Served, Session};
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

/// Connections that were taken, to be shut down at the end.
#[derive(Debug, Default)]
struct Taken(Mutex<Vec<Client>>);

#[derive(Debug)]
struct Client {
    address: SocketAddr,
    stream: TcpStream,
    /// Whether it has proven the token: strangers take no place of those who have.
    is_proven: bool,
}

impl Taken {
    fn with<T>(&self, ask: impl FnOnce(&mut Vec<Client>) -> T) -> T {
        // A thread that panicked left the list as it was.
        let mut clients = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ask(&mut clients)
    }

    /// Takes one that has proven nothing yet. Where as many as may wait do, the one that waits longest of
    /// the host with most of them goes: one host keeps no other out.
    fn take(&self, address: SocketAddr, stream: TcpStream, most: usize) {
        self.with(|clients| {
            let waiting = clients.iter().filter(|client| !client.is_proven);
            let mut by_host: HashMap<IpAddr, usize> = HashMap::new();
            waiting.for_each(|client| *by_host.entry(client.address.ip()).or_default() += 1);
            if by_host.values().sum::<usize>() >= most
                && let Some((&host, _)) = by_host.iter().max_by_key(|&(_, &count)| count)
                && let Some(oldest) = clients
                    .iter()
                    .position(|client| !client.is_proven && client.address.ip() == host)
            {
                // Its thread reads an end then.
                clients.remove(oldest).stream.shutdown(Shutdown::Both).ok();
            }
            clients.push(Client { address, stream, is_proven: false });
        });
    }

    /// Whether one that has proven the token gets a place.
    fn admit(&self, address: SocketAddr, most: usize) -> bool {
        self.with(|clients| {
            let has_room = clients.iter().filter(|client| client.is_proven).count() < most;
            match clients.iter_mut().find(|client| client.address == address) {
                Some(client) => client.is_proven = has_room,
                // It was sent away.
                None => return false,
            }
            has_room
        })
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
        let taken = Taken::default();
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
                let accepted = self.listener.accept().and_then(|(stream, client)| {
                    let copy = stream.try_clone()?;
                    Ok((stream, copy, client))
                });
                let (stream, copy, client) = match accepted {
                    Ok(accepted) => accepted,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    // Too many files are open, or the client is gone: neither is for ever.
                    Err(error) => {
                        tell(&Told::NotTaken(error));
                        std::thread::sleep(LOOK);
                        continue;
                    }
                };
                taken.take(client, copy, self.limits.waiting);
                let taken = &taken;
                let serve = move || {
                    let told = match self.serve_one(&stream, client, taken, ends) {
                        Ok(Served { way, message_bytes, bytes }) => {
                            Told::Served { client, way, message_bytes, bytes }
                        }
                        Err(why) => Told::Refused { client, why },
                    };
                    taken.with(|clients| clients.retain(|it| it.address != client));
                    // An end that both see once all has been said.
                    stream.shutdown(Shutdown::Both).ok();
                    tell(&told);
                };
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, serve) {
                    taken.with(|clients| clients.retain(|it| it.address != client));
                    tell(&Told::NotTaken(error));
                }
            };
            taken.with(|clients| {
                for client in clients.drain(..) {
                    client.stream.shutdown(Shutdown::Both).ok();
                }
            });
            served
        })
    }

    fn serve_one(
        &self,
        stream: &TcpStream,
        client: SocketAddr,
        taken: &Taken,
        ends: &(dyn Fn() -> bool + Sync),
    ) -> Result<Served, Refusal> {
        // The listener's own way does not hold for what it takes on every system.
        stream.set_nonblocking(false)?;
        let admits = || taken.admit(client, self.limits.connections);
        let (token, limits) = (&self.token, &self.limits);
        Session { stream, token, limits, ends, admits: &admits }.serve()
    }
}
