//! Which placement of a language model's weights wins, as was published and as is predicted on simulated machines of
//! that kind: the sign, not by how much. The table stands in `language_models.txt`, with what is predicted
//! wrong; `UPDATE_EXPECT=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::expect_file;
use nearfar_advise::{
    AdviceError, Arrangement, Arrangements, DataPlace, DemandError, InstanceKind, InstanceQuestion,
    arrange_instances,
};
use nearfar_flow::parse_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::RecordFigures;
use nearfar_record::{Experiment, Inputs, Record, Suite};
use serde::Deserialize;

#[derive(Deserialize)]
struct Facts {
    machine: BTreeMap<String, Kind>,
    published: Vec<Published>,
}

#[derive(Deserialize)]
struct Kind {
    /// Cores of each.
    nodes: [u32; 2],
    #[serde(default)]
    is_one_package: bool,
    /// Of a node's own cores, and of the other node's.
    gb_per_s: [f64; 2],
    one_core: f64,
}

#[derive(Deserialize)]
struct Published {
    source: String,
    machine: String,
    what: String,
    one: Arm,
    other: Arm,
    better: String,
}

#[derive(Deserialize)]
struct Arm {
    data: String,
    figure: f64,
    threads: Option<u32>,
}

impl Kind {
    fn record(&self, name: &str) -> Record {
        let [local, remote] = self.gb_per_s;
        let package = u8::from(!self.is_one_package);
        let far = if self.is_one_package { "same_package" } else { "other_package" };
        let mut text = format!(
            "name = \"{name}\"\ntitle = \"{name}\"\nvariants = [\"sse2\"]\n\
             node = [{{ package = 0, cores = {}, memory = \"512GiB\" }},\n\
             {{ package = {package}, cores = {}, memory = \"512GiB\" }}]\n\
             distances = [[10, 21], [21, 10]]\n[kernels]\nload = 1.0\n\
             [[bandwidth]]\nrelation = \"local\"\none_thread = {}\nall_threads = {local}\n\
             [[bandwidth]]\nrelation = \"{far}\"\none_thread = {}\nall_threads = {remote}\n\
             [[controller]]\ngb_per_s = {}\n",
            self.nodes[0],
            self.nodes[1],
            self.one_core,
            self.one_core * 0.8,
            local * 1.1,
        );
        if !self.is_one_package {
            for (from, to) in [(0, 1), (1, 0)] {
                let link = remote * 1.1;
                write!(
                    text,
                    "[[link]]\nname = \"{from}-{to}\"\nfrom_package = {from}\nto_package = {to}\n\
                     gb_per_s = {link}\n"
                )
                .unwrap();
            }
        }
        let machine = parse_machine(name, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let inputs = Inputs {
            experiments: vec![Experiment::Pairs, Experiment::Mixes],
            kernels: Some(vec!["load".into()]),
            ..suite_inputs(Suite::Standard)
        };
        simulate(&machine, inputs, true).unwrap()
    }
}

fn arranged(record: &Record, threads: Option<u32>) -> Result<Arrangements, AdviceError> {
    let asked = InstanceQuestion { threads, load_share: Some(1.0), data_bytes: None, step: None };
    arrange_instances(&RecordFigures::new(record), &asked)
}

fn place(word: &str) -> DataPlace {
    match word {
        "one_node" => DataPlace::OneNode,
        "interleaved" => DataPlace::Interleaved,
        "own_parts" => DataPlace::OwnParts,
        "copy_per_node" => DataPlace::CopyPerNode,
        _ => panic!("{word}"),
    }
}

/// Which is predicted to be better, and by how much; `Err` where threads are more than cores.
fn predicted(record: &Record, published: &Published) -> Result<(f64, &'static str), AdviceError> {
    let [one, other] = [&published.one, &published.other];
    let found = [arranged(record, one.threads)?, arranged(record, other.threads)?];
    let of = |found: &Arrangements, arm: &Arm| -> Arrangement {
        let is_it = |it: &&Arrangement| {
            (it.instances, it.data) == (InstanceKind::OneOverAll, place(&arm.data))
        };
        found.all.iter().find(is_it).unwrap().clone()
    };
    let [one, other] = [of(&found[0], one), of(&found[1], other)];
    let sign = if found[0].is_more(&one, &other, true) {
        "one"
    } else if found[0].is_more(&other, &one, true) {
        "other"
    } else {
        "neither"
    };
    Ok((one.together.value.0 / other.together.value.0, sign))
}

#[test]
fn published_signs_are_predicted_but_for_those_that_the_table_names() {
    let facts: Facts = toml::from_str(include_str!("language_models.toml")).unwrap();
    let records: BTreeMap<&String, Record> =
        facts.machine.iter().map(|(name, kind)| (name, kind.record(name))).collect();
    let mut table = String::new();
    let mut right = 0;
    for it in &facts.published {
        let ratio = it.one.figure / it.other.figure;
        let (by, sign) = match predicted(&records[&it.machine], it) {
            Ok((by, sign)) => (format!("x {by:.2}"), sign),
            Err(AdviceError::Demand(DemandError::TooManyThreads { .. })) => {
                ("-".into(), "not of memory")
            }
            Err(error) => panic!("{error}"),
        };
        right += usize::from(sign == it.better);
        writeln!(
            table,
            "{:<29} {:<28} {:>13} : {:<13} published x {ratio:.2} {:<13} predicted {by:<6} {sign:<13} {}",
            it.source,
            it.what,
            it.one.data,
            it.other.data,
            it.better,
            if sign == it.better { "right" } else { "WRONG" }
        )
        .unwrap();
    }
    writeln!(table, "{right} of {} right", facts.published.len()).unwrap();
    expect_file!["language_models.txt"].assert_eq(&table);
}
