//! What a machine's file says of hand-overs comes back from a record of it.

use nearfar_flow::{parse_machine, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{RecordFigures, exchanges};
use nearfar_record::{Absence, Experiment, Inputs, ReasonCode, Suite};

fn inputs() -> Inputs {
    Inputs { experiments: vec![Experiment::Exchange], ..suite_inputs(Suite::Standard) }
}

#[test]
fn levels_come_back_through_noise() {
    let machine = read_machine("two-socket-8-nodes").unwrap();
    let record = simulate(&machine, inputs(), true).unwrap();
    let model = exchanges(&RecordFigures::new(&record)).unwrap();
    let truth = [9.0, 24.0, 97.5, 210.0];
    assert_eq!(model.levels.len(), truth.len(), "{:#?}", model.levels);
    for (level, (truth, room)) in model.levels.iter().zip([
        (truth[0], 0.02),
        (truth[1], 0.02),
        // Cores of one node and those of two are within a quarter of each other.
        (truth[2], 0.10),
        (truth[3], 0.02),
    ]) {
        let found = level.store_load.value.0;
        assert!((found / truth - 1.0).abs() < room, "{found} instead of {truth}");
    }
    let ratio = model.compare_swap.found().unwrap().value.0;
    assert!((ratio / 1.15 - 1.0).abs() < 0.01, "{ratio}");
    assert!(model.deviating.is_empty(), "{:?}", model.deviating);
}

#[test]
fn where_the_file_says_nothing_of_it_it_is_left_out_and_of_a_kind_refused() {
    let record = simulate(&read_machine("intel-2p").unwrap(), inputs(), false).unwrap();
    let omitted: Vec<(Absence, ReasonCode)> =
        record.absent.iter().map(|absent| (absent.absence, absent.reason.code)).collect();
    assert!(record.cases.is_empty());
    assert_eq!(omitted, [(Absence::Omitted, ReasonCode::NoVariant)]);
    let text =
        "extends = \"intel-2p\"\nname = \"x\"\ntitle = \"x\"\n[exchange]\nother_package_ns = 200\n";
    let record = simulate(&parse_machine("x", text).unwrap(), inputs(), false).unwrap();
    let refused = record.absent.iter().filter(|absent| absent.absence == Absence::Refused);
    let codes: Vec<ReasonCode> = refused.map(|absent| absent.reason.code).collect();
    assert!(!codes.is_empty() && codes.len() < record.cases.len() && !record.samples.is_empty());
    assert!(codes.iter().all(|&code| code == ReasonCode::NotSimulated));
}

#[test]
fn times_that_none_can_be_are_refused() {
    let text = "extends = \"two-socket-8-nodes\"\nname = \"x\"\ntitle = \"x\"\n[exchange]\nsame_l3_ns = 0\n";
    let why = parse_machine("x", text).unwrap_err().to_string();
    assert!(why.contains("exchange.same_l3_ns"), "{why}");
}
