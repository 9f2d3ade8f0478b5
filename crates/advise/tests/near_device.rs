//! Which nodes are next to a device, by the copies of a simulated machine.

use nearfar_advise::advise_device;
use nearfar_flow::read_machine;
use nearfar_machine::NodeSet;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::RecordFigures;
use nearfar_record::{Experiment, Inputs, Suite};

/// Node 0 of amd-2p holds the devices' link; node 1 is 16 % slower, the other package's 2.7 times.
#[test]
fn copies_decide_and_firmware_chooses_among_equals() {
    let inputs = Inputs { experiments: vec![Experiment::Devices], ..suite_inputs(Suite::Quick) };
    let record = simulate(&read_machine("amd-2p").unwrap(), inputs, true).unwrap();
    let mut advice = advise_device(&RecordFigures::new(&record), "cuda0").unwrap();
    let node = |text: &str| -> NodeSet { text.parse().unwrap() };
    for by_firmware in ["", "0-3", "2"] {
        assert_eq!(advice.nearest(&node(by_firmware)), Some(node("0")), "{by_firmware}");
    }
    advice.places.iter_mut().for_each(|place| place.is_as_good = true);
    assert_eq!(advice.nearest(&node("")), Some(node("0-3")));
    assert_eq!(advice.nearest(&node("2,7")), Some(node("2")));
    advice.places.truncate(1);
    assert_eq!(advice.nearest(&node("0")), None);
}
