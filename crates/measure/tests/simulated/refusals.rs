//! What simulated machines refuse.

use crate::support::{inputs, machine};
use nearfar_measure::Interrupt;
use nearfar_measure::simulated::{SimulateError, SimulatedExecutor, simulate};
use nearfar_record::{Absence, Absent, Inputs, ReasonCode, Record, Suite};

/// As the native executor: what does not fit the node is refused, not measured.
#[test]
fn arrays_that_do_not_fit_a_node_are_refused() {
    let of = |gib: u64| {
        let inputs = Inputs { working_set_bytes: Some(gib << 30), ..inputs(Suite::Quick) };
        simulate(&machine(2, ""), inputs, false).unwrap()
    };
    let refusals = |record: &Record| {
        record.absent.iter().filter(|absent| absent.absence == Absence::Refused).cloned().collect()
    };
    let fits = of(15);
    let none: Vec<Absent> = refusals(&fits);
    assert!(none.is_empty() && !fits.samples.is_empty());
    let refused = of(17);
    assert!(refused.samples.is_empty());
    let all: Vec<Absent> = refusals(&refused);
    assert_eq!(all.len(), refused.cases.len());
    for absent in &all {
        assert_eq!(absent.reason.code, ReasonCode::NoRoom);
        assert!(absent.reason.text.contains("16 GiB"), "{}", absent.reason.text);
    }
}

#[test]
fn a_misspelt_kernel_is_refused_by_naming_those_that_there_are() {
    let misspelt = machine(1, "[kernels.traid]\nfactor = 0.9\n");
    let error = SimulatedExecutor::new(misspelt.clone(), false, 0, Interrupt::default());
    let message = error.err().unwrap().to_string();
    assert!(message.contains("kernels.traid") && message.contains("triad_nt"), "{message}");
    let error = simulate(&misspelt, inputs(Suite::Quick), false).unwrap_err();
    assert!(matches!(error, SimulateError::UnknownKernel { kernel, .. } if kernel == "traid"));
}
