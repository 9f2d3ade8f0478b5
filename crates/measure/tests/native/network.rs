//! Messages from this machine to itself.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_measure::Failure;
use nearfar_measure::native::Peer;
use nearfar_network::{Limits, Server, Token};
use nearfar_record::{
    Actor, Case, Coordinates, MessageDirection, Messages, NetworkCoordinates, Pages, ReasonCode,
    TrafficMethod,
};

use crate::workbench::{Workbench, alone};

fn token() -> Token {
    Token::new(*b"a token of these tests")
}

fn case(workbench: &Workbench, way: MessageDirection, message_bytes: u64) -> Case {
    let cpus = workbench.cpus(2);
    let memory = workbench.memory();
    let MemoryPolicy::Preferred(memory_node) = memory else { panic!("{memory}") };
    let place = NetworkCoordinates {
        initiator: 0,
        cpu_node: None,
        memory_node,
        way,
        message_bytes,
        threads: u32::try_from(cpus.len()).unwrap(),
    };
    let messages = Messages {
        way,
        binding: Binding { cpus: cpus.iter().copied().collect(), memory },
        thread_cpus: cpus,
        message_bytes,
        buffer_bytes: (4 * message_bytes).next_multiple_of(4096),
        pages: Pages::Small,
    };
    Case {
        id: "network/test".into(),
        coordinates: vec![Coordinates::Network(place)],
        actors: vec![Actor::Messages(messages)],
    }
}

/// Ends the server, also where a test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a test beside a server, which ends with it.
fn beside_server(test: impl FnOnce(Peer, &AtomicBool, &AtomicU32)) {
    let server = Server::bind("127.0.0.1:0", token(), Limits::default()).unwrap();
    let peer = Peer { addresses: vec![server.address().unwrap()], token: token() };
    let (ends, refused) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let tell = |told: &nearfar_network::Told| {
                let is_refusal = matches!(told, nearfar_network::Told::Refused { .. });
                refused.fetch_add(u32::from(is_refusal), Ordering::Relaxed);
            };
            server.serve(&|| ends.load(Ordering::Relaxed), &tell).unwrap();
        });
        let _end = End(&ends);
        test(peer, &ends, &refused);
    });
}

/// Nothing is judged by time: pages are proven, counts agree with each other, loopback says that it copies.
#[test]
fn messages_of_every_way_and_size_are_samples() {
    let _alone = alone();
    beside_server(|peer, _, _| {
        let mut workbench = Workbench::new();
        workbench.executor = workbench.executor.with_peer(peer);
        for way in MessageDirection::ALL {
            for bytes in [64, 3000, 128 << 10] {
                let case = case(&workbench, way, bytes);
                for window in workbench.run(&case).unwrap() {
                    let sample = &window.actors[0];
                    assert_eq!((&*sample.kernel, &*sample.variant), (way.as_str(), "tcp"));
                    assert_eq!(sample.traffic_method, TrafficMethod::Network);
                    assert!(sample.proof.is_some());
                    let seen = sample.messages.unwrap();
                    assert_eq!(seen.message_bytes, bytes);
                    // Whole messages around the window hold those within it.
                    let most = seen.messages * bytes * way.ways();
                    assert!(sample.useful_bytes <= most, "{way} {bytes}: {sample:?}");
                    match seen.without_copy {
                        None => assert_ne!(way, MessageDirection::SendWithoutCopy),
                        Some(told) => assert_eq!(told.sends, told.copied),
                    }
                }
            }
        }
    });
}

#[test]
fn a_peer_that_refuses_or_is_gone_is_told_and_others_go_on() {
    let _alone = alone();
    beside_server(|peer, ends, _| {
        let refusal = |peer: Option<Peer>, bytes: u64| {
            let mut workbench = Workbench::new();
            if let Some(peer) = peer {
                workbench.executor = workbench.executor.with_peer(peer);
            }
            let case = case(&workbench, MessageDirection::Send, bytes);
            let Err(Failure::Refused(reason)) = workbench.run(&case) else { panic!() };
            assert_eq!(reason.code, ReasonCode::PeerFailed, "{}", reason.text);
            reason.text
        };
        assert!(refusal(None, 64).contains("--token-file"));
        let other = Peer { token: Token::new(*b"another token of it"), ..peer.clone() };
        assert!(refusal(Some(other), 64).contains("it refuses the token"));
        let large = refusal(Some(peer.clone()), 32 << 20);
        assert!(large.contains("messages of 32 MiB, at most 16 MiB"), "{large}");
        ends.store(true, Ordering::Relaxed);
        // It listens until its last look.
        let gone = (0..100).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::net::TcpStream::connect(peer.addresses[0]).is_err()
        });
        assert!(gone.is_none() || refusal(Some(peer), 64).contains("cannot be reached"));
    });
}
