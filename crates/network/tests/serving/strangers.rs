//! Who has no token, stalls, sends garbage, goes away or asks for too much.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use nearfar_network::{Ask, Connection, Frame, Limits, MessageWay, PeerError, Token};

use crate::support::{Running, ask, token};

/// Deadlines that a test can wait for, and that a thread meets that other programs keep from its CPU.
fn impatient() -> Limits {
    let soon = Duration::from_secs(1);
    Limits { handshake: soon, stall: soon, ..Limits::default() }
}

fn connect(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// What the server still says, until it closes.
fn rest(mut stream: &TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    // It may have reset the connection, as what it did not read tells it to.
    stream.read_to_end(&mut said).ok();
    said
}

#[test]
fn a_wrong_token_is_refused_and_told() {
    let server = Running::start(Limits::default());
    for other in ["another token of tests", "a token of the test", "a token of the tests "] {
        let other = Token::new(other);
        let error =
            Connection::open(&[server.address()], &other, ask(MessageWay::Send)).unwrap_err();
        assert!(matches!(error, PeerError::WrongToken), "{error}");
        let told = server.told();
        assert!(told.ends_with(": refused: wrong token"), "{told}");
        server.serves();
    }
}

/// A request that was heard is of no use to who heard it.
#[test]
fn what_was_proven_once_proves_nothing_again() {
    let server = Running::start(Limits::default());
    // Between a client and the server, one that listens.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let between = listener.local_addr().unwrap();
    let heard = std::thread::scope(|scope| {
        let client = scope.spawn(move || {
            let asked = ask(MessageWay::Send);
            Connection::open(&[between], &token(), asked).map(|mut it| it.finish(&[]))
        });
        let (mut to_client, _) = listener.accept().unwrap();
        let mut to_server = connect(&server);
        let greeting = Frame::read(&mut to_server).unwrap();
        to_client.write_all(&greeting.bytes()).unwrap();
        let request = Frame::read(&mut to_client).unwrap();
        to_server.write_all(&request.bytes()).unwrap();
        to_client.write_all(&Frame::read(&mut to_server).unwrap().bytes()).unwrap();
        to_server.shutdown(Shutdown::Write).unwrap();
        to_client.write_all(&Frame::read(&mut to_server).unwrap().bytes()).unwrap();
        client.join().unwrap().unwrap().unwrap();
        request
    });
    assert!(server.told().contains(": received 0 B"));
    let mut again = connect(&server);
    Frame::read(&mut again).unwrap();
    again.write_all(&heard.bytes()).unwrap();
    assert!(String::from_utf8_lossy(&rest(&again)).contains("wrong token"));
    assert!(server.told().ends_with(": refused: wrong token"));
    server.serves();
}

/// A server without the token cannot pass for one with it.
#[test]
fn a_server_without_the_token_is_not_believed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let greeting = Frame::Greeting(nearfar_network::Greeting { nonce: [1; 32] });
            stream.write_all(&greeting.bytes()).unwrap();
            let Ok(Frame::Request(request)) = Frame::read(&mut stream) else { panic!() };
            let answer = nearfar_network::Answer {
                verdict: nearfar_network::Verdict::Accepted,
                // What the client itself proved is the best that it has.
                proof: request.proof,
                text: String::new(),
            };
            stream.write_all(&Frame::Answer(answer).bytes()).unwrap();
        });
        let error = Connection::open(&[address], &token(), ask(MessageWay::Send)).unwrap_err();
        assert!(matches!(error, PeerError::NotProven), "{error}");
    });
}

#[test]
fn a_terabyte_is_refused_in_every_way_of_asking_for_it() {
    let server = Running::start(Limits::default());
    let small = ask(MessageWay::Receive);
    let terabyte = 1_000_000_000_000;
    for (asked, words) in [
        (Ask { message_bytes: terabyte, ..small }, "messages of "),
        (Ask { total_bytes: terabyte, ..small }, "a test of "),
        (Ask { seconds: 1_000_000, ..small }, "a test of 1000000 s, at most 120 s"),
        (Ask { message_bytes: 0, ..small }, "messages of 0 bytes"),
        (Ask { message_bytes: u64::MAX, total_bytes: u64::MAX, ..small }, "messages of "),
    ] {
        let PeerError::Refused(text) = server.open(asked).unwrap_err() else { panic!() };
        assert!(text.starts_with(words), "{text}");
        let told = server.told();
        assert!(told.contains(": refused: it asks for too much: "), "{told}");
        assert!(told.ends_with(&text), "{told}");
        server.serves();
    }
}

/// More than was asked for is cut off, whatever the client says later.
#[test]
fn more_than_was_asked_for_is_cut_off() {
    let server = Running::start(Limits::default());
    let asked = Ask { total_bytes: 1 << 20, ..ask(MessageWay::Send) };
    let mut sending = server.open(asked).unwrap();
    let sent = (0..1 << 20).find(|_| sending.send(&[1; 64]).is_err());
    assert!(sent.is_some_and(|messages| messages >= (1 << 20) / 64), "{sent:?}");
    let told = server.told();
    assert!(told.ends_with("more came than it asked for"), "{told}");

    // And no more than that is sent.
    let asked = Ask { total_bytes: 1 << 20, message_bytes: 1000, ..ask(MessageWay::Receive) };
    let mut receiving = server.open(asked).unwrap();
    let mut message = [0; 1000];
    let received = (0..1 << 20).take_while(|_| receiving.receive(&mut message).is_ok()).count();
    assert!((1049..1700).contains(&received), "{received}");
    assert!(server.told().contains(": sent "));
    server.serves();
}

#[test]
fn who_stalls_is_cut_off() {
    let server = Running::start(impatient());
    // Says nothing.
    let silent = connect(&server);
    let told = server.told();
    assert!(told.ends_with("no request: nothing came in time"), "{told}");
    assert!(String::from_utf8_lossy(&rest(&silent)).contains("nothing came in time"));
    server.serves();

    // A byte now and then is no request in time.
    let mut slow = connect(&server);
    let slowly = slow.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for byte in b"nearfar\0\x01\0\0\0\x02\0\0\0\x58\0\0\0".iter().cycle().take(200) {
                if slow.write_all(&[*byte]).is_err() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let told = server.told();
        assert!(told.contains("no request: "), "{told}");
        slowly.shutdown(Shutdown::Both).ok();
    });
    server.serves();

    // Stops in the middle of a message.
    let mut sending = server.open(ask(MessageWay::Send)).unwrap();
    sending.send(&[1; 10]).unwrap();
    let told = server.told();
    assert!(told.contains("nothing moved for "), "{told}");
    // Asks for messages and takes none.
    let receiving = server.open(ask(MessageWay::Receive)).unwrap();
    let told = server.told();
    assert!(told.contains("nothing moved for "), "{told}");
    drop((sending, receiving));
    server.serves();
}

/// A test lasts no longer than was asked for, although something moves.
#[test]
fn a_test_that_lasts_too_long_is_cut_off() {
    let server = Running::start(Limits::default());
    let mut both = server.open(Ask { seconds: 1, ..ask(MessageWay::RoundTrip) }).unwrap();
    let trips = (0..3000).take_while(|_| {
        std::thread::sleep(Duration::from_millis(10));
        both.round_trip(&[1; 64], &mut [0; 64]).is_ok()
    });
    assert!(trips.count() < 3000);
    let told = server.told();
    assert!(told.ends_with("the test took longer than the 1 s that it asked for"), "{told}");
    server.serves();
}

#[test]
fn garbage_is_refused_and_told() {
    let server = Running::start(Limits::default());
    let greeting = Frame::Greeting(nearfar_network::Greeting { nonce: [1; 32] }).bytes();
    let mut newer = greeting.clone();
    newer[8] = 7;
    let noise = [0xe5, 0x17, 0x80, 0x0d, 0x99].repeat(20_000);
    for (bytes, why) in [
        (&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], "does not begin as nearfar's do"),
        (&noise, "does not begin as nearfar's do"),
        (&[0; 64], "does not begin as nearfar's do"),
        (&greeting, "another frame came than was due"),
        (&newer, "it is of version 7 of the protocol"),
    ] {
        let mut stream = connect(&server);
        stream.write_all(bytes).ok();
        let told = server.told();
        assert!(told.contains(": refused: no request: ") && told.contains(why), "{told}");
        assert!(!told.contains('\n'), "{told}");
        drop(stream);
        server.serves();
    }
    // What a receiving client sends.
    let mut receiving = server.open(ask(MessageWay::Receive)).unwrap();
    receiving.send(&[1; 64]).unwrap();
    let told = server.told();
    assert!(told.ends_with("it sent where it should receive"), "{told}");
    server.serves();
}

#[test]
fn who_goes_away_is_forgotten() {
    let server = Running::start(Limits::default());
    drop(connect(&server));
    let told = server.told();
    assert!(told.contains("the other side closed the connection"), "{told}");
    // In the middle of a message, each way.
    for way in [MessageWay::Send, MessageWay::Receive, MessageWay::RoundTrip] {
        let mut connection = server.open(Ask { message_bytes: 1 << 20, ..ask(way) }).unwrap();
        if way != MessageWay::Receive {
            connection.send(&[1; 1000]).unwrap();
        }
        drop(connection);
        let told = server.told();
        assert!(told.ends_with("it went away in the middle of a message"), "{told}");
        server.serves();
    }
}

/// As many as may wait, and more that come as soon as those are sent away.
#[test]
fn who_says_nothing_keeps_nobody_out() {
    let limits = Limits { handshake: Duration::from_secs(600), waiting: 8, ..Limits::default() };
    let server = Running::start(limits);
    let silent: Vec<TcpStream> = (0..20).map(|_| connect(&server)).collect();
    // Those that came first were sent away for those that came last.
    for _ in 0..12 {
        let told = server.told();
        assert!(told.contains(": refused: "), "{told}");
    }
    let mut client = server.open(ask(MessageWay::RoundTrip)).unwrap();
    // It has proven the token: others that come do not send it away.
    let more: Vec<TcpStream> = (0..20).map(|_| connect(&server)).collect();
    let mut back = [0; 64];
    client.round_trip(&[9; 64], &mut back).unwrap();
    client.finish(&back).unwrap();
    drop((silent, more));
    let mut told = server.told();
    while !told.contains(": sent back 64 B") {
        assert!(told.contains(": refused: "), "{told}");
        told = server.told();
    }
}
