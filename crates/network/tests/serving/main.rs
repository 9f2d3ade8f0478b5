//! A server and those who ask it: who has the token and stays within bounds is served; who has not, stalls,
//! sends garbage or asks for a terabyte is refused and told, and the next one is served all the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod strangers;
mod support;

use nearfar_network::{Ask, Connection, Limits, MessageWay, PeerError};

use support::{Running, ask, token};

/// One connection of each way, whose messages arrive.
#[test]
fn messages_of_any_size_go_each_way() {
    let server = Running::start(Limits::default());
    for bytes in [1, 64, 3000, 1 << 20] {
        let message: Vec<u8> = (0..bytes).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
        let open = |way| server.open(Ask { message_bytes: bytes, ..ask(way) }).unwrap();

        let mut sending = open(MessageWay::Send);
        (0..5).for_each(|_| sending.send(&message).unwrap());
        sending.finish(&message).unwrap();
        let told = server.told();
        assert!(told.contains(": received "), "{told}");

        let mut receiving = open(MessageWay::Receive);
        let mut received = vec![0; message.len()];
        (0..5).for_each(|_| receiving.receive(&mut received).unwrap());
        receiving.finish(&received).unwrap();
        let told = server.told();
        assert!(told.contains(": sent "), "{told}");

        let mut both = open(MessageWay::RoundTrip);
        let mut back = vec![0; message.len()];
        (0..5).for_each(|_| both.round_trip(&message, &mut back).unwrap());
        both.finish(&back).unwrap();
        assert_eq!((both.messages(), back), (5, message));
        let told = server.told();
        assert!(told.contains(": sent back "), "{told}");
    }
}

/// What did not arrive as it was sent is noticed by who measures.
#[test]
fn other_bytes_than_were_sent_are_noticed() {
    let server = Running::start(Limits::default());
    let message = [7; 64];
    let mut sending = server.open(ask(MessageWay::Send)).unwrap();
    sending.send(&message).unwrap();
    let error = sending.finish(&[8; 64]).unwrap_err();
    assert!(matches!(error, PeerError::WrongData(_)), "{error}");

    let mut receiving = server.open(ask(MessageWay::Receive)).unwrap();
    let mut received = [0; 64];
    receiving.receive(&mut received).unwrap();
    received[63] ^= 1;
    let error = receiving.finish(&received).unwrap_err();
    assert!(matches!(error, PeerError::WrongData(_)), "{error}");
}

/// Loopback copies, and the kernel says so of each send.
#[test]
fn sends_without_a_copy_are_copied_on_loopback() {
    let server = Running::start(Limits::default());
    let message = vec![3; 128 << 10];
    let bytes = message.len() as u64;
    let mut sending = server.open(Ask { message_bytes: bytes, ..ask(MessageWay::Send) }).unwrap();
    sending.allow_zero_copy().unwrap();
    (0..200).for_each(|_| sending.send_without_copy(&message).unwrap());
    sending.finish(&message).unwrap();
    let done = sending.done_sends();
    assert!(done.sends >= 200 && done.copied == done.sends, "{done:?}");
    assert!(server.told().contains(": received "));
}

/// As many at a time as may be, and no more; then others.
#[test]
fn several_are_served_at_a_time_and_one_too_many_is_told() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let server = Running::start(limits);
    let three: Vec<Connection> =
        (0..3).map(|_| server.open(ask(MessageWay::RoundTrip)).unwrap()).collect();
    let refused = server.open(ask(MessageWay::RoundTrip)).unwrap_err();
    assert!(matches!(refused, PeerError::Refused(_)), "{refused}");
    let told = server.told();
    assert!(told.contains("as many clients as may be are served already (3)"), "{told}");
    for mut connection in three {
        let mut back = [0; 64];
        connection.round_trip(&[5; 64], &mut back).unwrap();
        connection.finish(&back).unwrap();
    }
    (0..3).for_each(|_| assert!(server.told().contains(": sent back ")));
    server.serves();
}

/// Whoever runs the server ends it while clients are served.
#[test]
fn a_server_ends_although_clients_stay() {
    let server = Running::start(Limits::default());
    let addresses = [server.address()];
    let _silent = std::net::TcpStream::connect(server.address()).unwrap();
    let mut sending = server.open(ask(MessageWay::Send)).unwrap();
    sending.send(&[1; 64]).unwrap();
    let told = server.end();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().any(|line| line.contains("the server was asked to end")), "{told:?}");
    let gone = Connection::open(&addresses, &token(), ask(MessageWay::Send)).unwrap_err();
    assert!(matches!(gone, PeerError::Unreachable(_)), "{gone}");
}
