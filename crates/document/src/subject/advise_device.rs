//! The view of which memory node is best for copies to and from a device, or messages through a network adapter.

use nearfar_advise::{
    DeviceAdvice, DevicePlace, DeviceTraffic, Launcher, PRACTICAL, launcher_form,
};
use nearfar_machine::{Binding, Machine, MemoryPolicy};
use nearfar_record::{CaseSummary, Record};
use nearfar_units::{Bytes, format_significant};
use serde::Serialize;

use super::advise_text::form_answer;
use super::flow::percents;
use super::origin::Origin;
use crate::answer::{Answer, Part, Shown};
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, Table, WORDS};

/// Memory nodes by the copies between them and a device, or the messages through it; `advise RECORD --device DEVICE --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdvisedDevice {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// The device's name, or null.
    pub device_name: Option<String>,
    /// Whether messages went over loopback, which is no adapter.
    pub is_loopback: bool,
    #[serde(flatten)]
    pub advice: DeviceAdvice,
    /// The command that applies the first place; null where there is one place, or all are as
    /// good.
    pub command: Option<String>,
}

impl AdvisedDevice {
    pub fn new(record: &Record, advice: DeviceAdvice) -> Self {
        let known = record.header.inputs.devices.iter().flat_map(|it| &it.accelerators);
        let mut known = known.filter(|it| it.id == advice.device);
        let is_worth = advice.places.iter().any(|place| !place.is_as_good);
        let best = advice.places.first().filter(|_| is_worth);
        let network = record.header.inputs.network.as_ref();
        let adapter = network.and_then(|it| it.adapter.as_ref());
        Self {
            is_loopback: advice.traffic == DeviceTraffic::Messages
                && adapter.is_some_and(|it| it.is_loopback),
            schema: "nearfar.advise-device/3",
            measured: Origin::new(record),
            device_name: known.next().map(|it| it.name.clone()),
            command: best
                .map(|best| format!("nearfar run --placement local:{} -- COMMAND", best.node)),
            advice,
        }
    }

    /// The best place in a launcher's words: the CPUs of the fastest node and its memory.
    pub fn launcher_answer(&self, machine: &Machine, launcher: Launcher) -> Answer {
        let best = self.advice.places.first().filter(|_| self.command.is_some());
        let Some(best) = best.and_then(|best| machine.node(best.node)) else {
            return Answer::saying("# all memory nodes are as near: there is nothing to apply");
        };
        let cpus = machine.cpus_near(best).intersection(&machine.allowed_cpus);
        let memory = MemoryPolicy::Preferred(best.os_index);
        form_answer(&launcher_form(launcher, &[Binding { cpus, memory }], machine, None))
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let name = self.device_name.as_deref().map_or(String::new(), |name| format!(" ({name})"));
        let rows = self.advice.places.iter().map(|place| {
            let rate = |it: &CaseSummary| Cell::figure(Figure::sum(it));
            vec![
                Cell::text(format!("node {}", place.node)),
                Cell::text(self.measured.who.cpus(place.initiator)),
                Cell::text(Bytes(place.bytes)),
                rate(&place.to_device),
                rate(&place.to_host),
                Cell::text(format!("x {}", format_significant(place.time_ratio, 3))),
            ]
        });
        let device = &self.advice.device;
        let (heads, caption) = match self.advice.traffic {
            DeviceTraffic::Copies => (
                ["pages on", "thread on", "a copy", "to device", "to host", "time"],
                format!(
                    "Copies between memory and {device}{name}: pinned pages, the host's thread next \
                     to them; GB/s"
                ),
            ),
            DeviceTraffic::Messages => (
                ["pages on", "threads on", "a message", "to peer", "from peer", "time"],
                format!(
                    "Messages to another machine and from it through {device}, by threads next to the \
                     pages; GB/s"
                ),
            ),
        };
        let units = [WORDS, WORDS, WORDS, GB, GB, WORDS];
        let table = Table::new(caption, Column::all(heads, units), rows);
        let answer = self.measured.answer().and_gap().and_table(table, usize::MAX).and_gap();
        let loopback = self.is_loopback.then(|| {
            "It is loopback, and no adapter: this is what copies within this machine's memory get.".into()
        });
        let said = loopback.into_iter().chain(sentences(&self.advice));
        let said = said.map(|it| Part::words("", it));
        let answer = answer.and_all(Shown::Always, said);
        let command = self.command.iter().map(|it| Part::Lines(format!("  -> {it}\n")));
        answer.and_all(Shown::Always, command)
    }
}

fn sentences(advice: &DeviceAdvice) -> Vec<String> {
    let mut sentences = Vec::new();
    let traffic = advice.traffic;
    let (as_good, worse): (Vec<&DevicePlace>, Vec<&DevicePlace>) =
        advice.places.iter().partition(|place| place.is_as_good);
    let numbers = |places: &[&DevicePlace]| {
        places.iter().map(|place| place.node.to_string()).collect::<Vec<_>>().join(", ")
    };
    match (worse.last(), advice.places.len()) {
        (_, 1) => sentences.push(format!(
            "Of one node alone {traffic} were measured: there is nothing to choose."
        )),
        (None, _) => sentences.push(format!(
            "No node is slower by more than {} or than was measured for certain: there is nothing \
             to choose.",
            percents(PRACTICAL)
        )),
        (Some(worst), _) => sentences.push(format!(
            "Keep pages and the {} at {} {}: {traffic} take {} times as long from node {}.",
            match traffic {
                DeviceTraffic::Copies => "thread that copies",
                DeviceTraffic::Messages => "threads that send and receive",
            },
            if as_good.len() == 1 { "node" } else { "one of the nodes" },
            numbers(&as_good),
            format_significant(worst.time_ratio, 3),
            worst.node
        )),
    }
    if !advice.not_ranked.is_empty() {
        let nodes: Vec<String> = advice.not_ranked.iter().map(u32::to_string).collect();
        sentences.push(format!(
            "Nothing is said of the nodes {}: {traffic} there and back were not both measured.",
            nodes.join(", ")
        ));
    }
    sentences
}
