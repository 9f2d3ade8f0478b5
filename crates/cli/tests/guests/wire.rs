//! Two guests on a virtual wire, the adapter of one near its second node: pages of messages on every node,
//! proven; the adapter's node, link and interrupts as its kernel shows them; classes and a place near it; a peer
//! that refuses a wrong token and garbage, and goes on serving.

use std::time::Duration;

use nearfar_lab::{Architecture, Ended, Guest, Kernel, Programs, Wire, WireEnd};
use nearfar_record::{Coordinates, PLACED_FRACTION, ProofMethod, Record, read_record};
use serde_json::Value;

use crate::boot::{NEW, OLD};
use crate::turns::Turn;
use crate::{PROGRAMS, give_up, kernel_of, left, machine_of, table};

/// Serves until the other guest says that it is done.
const PEER: &str = r#"
    ip addr add 10.0.0.1/24 dev eth0
    ip link set eth0 up
    ( umask 077; echo "a token of two guests on a wire" >token )
    nearfar serve --listen 10.0.0.1 --token-file token >/out/served 2>&1 &
    serving=$!
    until grep -q "serves at" /out/served; do sleep 0.2; done
    echo ready | nc -l -p 8
    nc -l -p 9 >/out/farewell
    kill -TERM $serving
    wait $serving
    echo $? >/out/served.status
"#;

/// In a guest with two nodes, whose adapter is near node 1.
const ASKING: &str = r#"
    ip addr add 10.0.0.2/24 dev eth0
    ip link set eth0 up
    ( umask 077; echo "a token of two guests on a wire" >token; echo "some other token" >wrong )
    until [ "$(nc 10.0.0.1 8)" = ready ]; do sleep 0.5; done
    # asked NAME ARGUMENT..: what the program says, and its status.
    asked() {
        name=$1
        shift
        nearfar "$@" >/out/$name 2>/out/$name.said
        echo $? >/out/$name.status
    }
    measure="characterize --only network --peer 10.0.0.1 --samples 2 --window 5ms --working-set 4MiB"
    asked wrong $measure --token-file wrong --out /tmp/wrong.jsonl
    head -c 4096 /dev/urandom | nc 10.0.0.1 7420 >/dev/null
    asked measured $measure --suite $suite --token-file token --out /out/wire.jsonl
    asked model model /out/wire.jsonl network --json
    asked shown model /out/wire.jsonl network
    asked near run --near nic:eth0 -- sh -c 'grep -E "(Cpus|Mems)_allowed_list" /proc/self/status'
    asked measured.near run --near nic:eth0 --record /out/wire.jsonl -- true
    asked advised advise /out/wire.jsonl --device nic:eth0
    echo done | nc 10.0.0.1 9
"#;

/// Boots a guest with one node and one with two, the adapter of which is near its second, and runs their scripts.
pub fn on_a_wire(kernel: &Kernel, programs: &Programs, scripts: [&str; 2]) -> [Ended; 2] {
    let wire = Wire::new(10_000).unwrap();
    let ends = wire.ends([0, 1]);
    let boot = |name: &str, script: &str, end: &WireEnd| -> anyhow::Result<Ended> {
        let machine = machine_of(name);
        let guest = Guest {
            machine: &machine,
            kernel,
            programs,
            node_mib: 384,
            devices: &[],
            wire: Some(end),
            script,
            limit: Duration::from_secs(900),
        };
        guest.run()
    };
    let turn = Turn::take();
    let both = std::thread::scope(|scope| {
        let peer = scope.spawn(|| boot("one-node", scripts[0], &ends[0]));
        let asking = boot("intel-2p", scripts[1], &ends[1]);
        [peer.join().unwrap(), asking]
    });
    drop(turn);
    both.map(|ended| ended.unwrap_or_else(|error| give_up(&format!("{error:#}"))))
}

fn run(kernel: &'static str, suite: &str) -> [Ended; 2] {
    let programs = PROGRAMS.as_ref().unwrap_or_else(|error| give_up(error));
    let kernel = kernel_of(kernel, Architecture::X86_64).unwrap_or_else(|error| give_up(&error));
    on_a_wire(&kernel, programs, [PEER, &format!("suite={suite}\n{ASKING}")])
}

/// `ways`: in how many bandwidth was measured.
fn judge([peer, asking]: &[Ended; 2], ways: usize) {
    let file = |name: &str| left(asking, name);
    let said = |name: &str| format!("{}{}", file(name), file(&format!("{name}.said")));
    let status = |name: &str| file(&format!("{name}.status"));
    assert_eq!(status("measured"), "0", "{}", said("measured"));
    let record = read_record(&asking.files["wire.jsonl"][..]).unwrap();
    pages_are_proven(&record);
    let adapter = record.header.inputs.network.as_ref().unwrap().adapter.clone().unwrap();
    assert_eq!((adapter.interface.as_str(), adapter.node), ("eth0", Some(1)), "{adapter:?}");
    assert_eq!(adapter.link_bits_per_s, Some(10_000_000_000), "{adapter:?}");
    assert!(adapter.interrupts.as_ref().is_some_and(|it| it.count > 0), "{adapter:?}");

    let model: Value = serde_json::from_str(&file("model")).unwrap();
    for set in model["class_sets"].as_array().unwrap() {
        let classes = set["classes"].as_array().unwrap();
        let places = classes.iter().map(|class| class["places"].as_array().unwrap().len());
        assert_eq!(places.sum::<usize>(), 4, "{set:#}");
        assert!(classes[0]["alpha"]["value"].as_f64().unwrap() > 0.0, "{set:#}");
    }
    assert_eq!(model["class_sets"].as_array().unwrap().len(), ways, "{model:#}");

    // Times in guests mean nothing: by firmware alone.
    assert_eq!(status("near"), "0", "{}", said("near"));
    assert!(said("near").contains("eth0 is next to node 1, by firmware"), "{}", said("near"));
    let cpus = file("near");
    assert!(cpus.contains("Cpus_allowed_list:\t4-7"), "{cpus}");

    assert_eq!(status("measured.near"), "0", "{}", said("measured.near"));
    let near = said("measured.near");
    assert!(near.contains("by the messages in /out/wire.jsonl"), "{near}");
    let advised = said("advised");
    assert!(status("advised") == "0" && advised.contains("through eth0"), "{advised}");
    assert!(advised.contains("node 0") && advised.contains("node 1"), "{advised}");

    assert_eq!(status("wrong"), "2", "{}", said("wrong"));
    assert!(said("wrong").contains("it refuses the token"), "{}", said("wrong"));
    let served = left(peer, "served");
    assert_eq!(left(peer, "served.status"), "0", "{served}");
    assert_eq!(left(peer, "farewell"), "done");
    assert!(served.lines().filter(|line| line.contains("refused")).count() >= 2, "{served}");
    table::say(&format!(
        "intel-2p  {:27} wire: {} samples of messages, all pages proven, in all {:.1} s",
        asking.release,
        record.samples.len(),
        asking.elapsed.as_secs_f64()
    ));
}

/// Every sample's buffers lie on the node that its case names, by move_pages.
fn pages_are_proven(record: &Record) {
    assert!(record.absent.is_empty() && record.samples.len() >= 16, "{:?}", record.absent);
    for sample in &record.samples {
        let case = record.cases.iter().find(|case| case.id == sample.case).unwrap();
        let [Coordinates::Network(place)] = &case.coordinates[..] else { panic!("{}", case.id) };
        let proof = sample.actors[0].proof.as_ref().unwrap();
        for pages in [&proof.before, &proof.after] {
            assert_eq!(pages.method, ProofMethod::MovePages, "{}", case.id);
            assert!(
                pages.fraction_on(place.memory_node) >= PLACED_FRACTION,
                "{}: {proof:?}",
                case.id
            );
        }
    }
}

#[test]
#[ignore = "make outer: two machines for two minutes; crates/network/tests has messages over loopback"]
fn messages_between_two_guests_come_from_proven_pages() {
    judge(&run(NEW, "quick"), 2);
}

#[test]
#[ignore = "make outer: as with the other suite and kernel"]
fn messages_of_every_kind_come_from_proven_pages() {
    judge(&run(OLD, "standard"), 3);
}
