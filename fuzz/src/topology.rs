//! Foreign topologies, by hwloc. Whoever calls these must stand a crash of the process.

use nearfar_document::Topology;
use nearfar_machine::Machine;
use nearfar_topology::{TopologyError, parse_synthetic, parse_xml};

use super::{Outcome, ROOMS, assert_printable, rejected, text};

/// XML as hwloc writes it.
pub fn xml(input: &[u8]) -> Outcome {
    text(input).map_or_else(|outcome| outcome, |text| sound(parse_xml(text, "machine.xml")))
}

/// hwloc's synthetic text.
pub fn synthetic(input: &[u8]) -> Outcome {
    text(input).map_or_else(|outcome| outcome, |text| sound(parse_synthetic(text)))
}

fn sound(read: Result<Machine, TopologyError>) -> Outcome {
    let machine = match read {
        Ok(machine) => machine,
        Err(error) => return rejected(&error),
    };
    let wrong = machine.check();
    assert!(wrong.is_empty(), "{wrong:?}");
    // As the child process hands it to the program.
    let json = serde_json::to_string(&machine);
    match json.map(|json| serde_json::from_str::<Machine>(&json)) {
        Ok(Ok(again)) => assert!(again == machine, "its JSON is another machine"),
        Ok(Err(error)) | Err(error) => panic!("its JSON does not read back: {error}"),
    }
    let told = Topology::new(&machine).answer();
    for room in ROOMS {
        assert_printable(&told.text(room));
    }
    Outcome::Accepted
}
