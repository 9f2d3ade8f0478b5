//! What `advise` prints, with every optional field given and null, and of mutilated records.

use nearfar_advise::{Advice, AdviceError, Demand, Pattern, advise};
use nearfar_model::{RecordFigures, profiled_demand};
use nearfar_place::{Verdict, Verification};
use nearfar_record::{Experiment, Inputs, Record, Suite, read_profile};
use nearfar_report::{AdviceProfileView, AdviseView};
use serde_json::Value;

use crate::mutilated::mutilate;
use crate::{assert_valid, validator};

/// Where advice may hold null.
pub const NULLS: &[&str] = &[
    "demand.threads",
    "demand.clusters",
    "demand.working_set_bytes",
    "demand.load_share",
    "profile",
    "profile.uneven_local_share",
    "basis",
    "basis.kernel_load_share",
    "candidates[].binding",
    "candidates[].gain",
    "candidates[].fits",
    "candidates[].limit",
    "candidates[].limit.cluster",
    "candidates[].limit.memory_node",
    "candidates[].limit.from_package",
    "candidates[].limit.to_package",
    "candidates[].limit.memory_kind",
    "candidates[].command",
    "recommended",
    "verification",
];

fn demand(pattern: Pattern) -> Demand {
    Demand {
        threads: None,
        clusters: None,
        working_set_bytes: None,
        load_share: None,
        pattern,
        seen: None,
    }
}

/// What the flow and the hybrid model need of a machine.
fn measured(machine: &str) -> Record {
    use Experiment::{Hybrid, Links, Mixes, Pairs, Roofs};
    let inputs = Inputs {
        min_rounds: 3,
        max_rounds: 3,
        experiments: vec![Pairs, Links, Roofs, Mixes, Hybrid],
        kernels: Some(vec!["load".into(), "triad".into()]),
        ..nearfar_measure::suite_inputs(Suite::Standard)
    };
    let machine = nearfar_flow::read_machine(machine).unwrap();
    nearfar_measure::simulated::simulate(&machine, inputs, true).unwrap()
}

fn view(record: &Record, demand: &Demand) -> Result<AdviseView, AdviceError> {
    let advice = advise(&RecordFigures::new(record), demand)?;
    Ok(AdviseView::new(record, demand, &advice, 3))
}

/// A view with what a profile told, whose pages are used evenly or not, and what comparing found.
fn of_profile(record: &Record, local_share: Option<f64>) -> AdviseView {
    let text = include_bytes!("../../../report/tests/profiles/planted.json");
    let mut profile = read_profile(&text[..]).unwrap();
    let clusters = record.header.machine.clusters();
    profile.clusters.truncate(1);
    profile.clusters[0].cpus = clusters[0].cpus.clone();
    profile.clusters[0].memory_nodes = clusters[0].memory_nodes.iter().collect();
    profile.figures.local_dram_share = local_share;
    let told = profiled_demand(&profile, &clusters[..1], 8);
    let demand = Demand { seen: told.access.clone(), ..demand(Pattern::Shared) };
    let found = Verification {
        rounds: 8,
        placed_seconds: 0.9,
        default_seconds: 1.0,
        ratio: 1.1,
        interval: (1.05, 1.15),
        verdict: Verdict::Faster,
    };
    let taken = vec!["threads", "working_set_bytes", "accesses"];
    let profile = AdviceProfileView::new(&profile, &told, taken);
    view(record, &demand).unwrap().with_profile(profile).with_verification(Some(&found))
}

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let record = measured("joe0");
    let small = Demand {
        threads: Some(8),
        clusters: Some(vec![0, 1]),
        working_set_bytes: Some(1 << 30),
        load_share: Some(0.5),
        ..demand(Pattern::Regular)
    };
    let too_large = Demand { working_set_bytes: Some(1 << 50), ..demand(Pattern::Private) };
    let views = [small, too_large, demand(Pattern::Shared)];
    let mut views: Vec<AdviseView> = views.map(|demand| view(&record, &demand).unwrap()).into();
    let shared = demand(Pattern::Shared);
    views.push(AdviseView::new(&record, &shared, &Advice::OneNode(0), 8));
    views.extend([Some(0.95), None].map(|share| of_profile(&record, share)));
    views.into_iter().map(|view| ("advise", serde_json::to_value(view).unwrap())).collect()
}

#[test]
fn words_of_the_schema_are_those_of_the_advice() {
    let schema = crate::contract::schema("advise");
    let words = schema.pointer("/$defs/advise_demand/properties/pattern/enum").unwrap();
    assert_eq!(*words, serde_json::json!(Pattern::ALL.map(Pattern::as_str)));
}

/// Figures that are no numbers would be null, which the schema refuses; lines keep to their width.
#[test]
fn advice_by_mutilated_records_is_finite_or_says_what_it_lacks() {
    let validator = validator("advise");
    let mut random = fastrand::Rng::with_seed(31);
    let (mut answered, mut refused) = (0, 0);
    for machine in ["intel-2p", "knl-flat"] {
        let sound = measured(machine);
        for trial in 0..16 {
            let mut broken = sound.clone();
            let mut what = format!("{machine}, trial {trial}");
            for _ in 0..trial % 3 {
                what = format!("{what}, {}", mutilate(&mut broken, &mut random));
            }
            let asked = Demand {
                threads: Some(8),
                clusters: (trial % 2 == 0).then(|| vec![0]),
                working_set_bytes: Some(1 << random.u32(20..45)),
                load_share: (trial % 4 < 2).then(|| random.f64()),
                pattern: Pattern::ALL[trial % 4],
                seen: None,
            };
            match view(&broken, &asked) {
                Ok(view) => {
                    assert_valid(&validator, &serde_json::to_value(&view).unwrap());
                    let text = view.text();
                    assert!(!text.contains("NaN") && !text.contains("inf "), "{what}:\n{text}");
                    let commands = |line: &&str| !line.trim_start().starts_with("->");
                    let too_long = |line: &str| line.chars().count() > 100;
                    assert!(!text.lines().filter(commands).any(too_long), "{what}:\n{text}");
                    answered += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty(), "{what}");
                    refused += 1;
                }
            }
        }
    }
    assert!(answered > 8 && refused > 0, "{answered} answers, {refused} refusals");
}
