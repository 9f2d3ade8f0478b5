//! The view of which memory node is best for copies to and from a device.

use nearfar_advise::{DeviceAdvice, DevicePlace, PRACTICAL};
use nearfar_record::{CaseSummary, Record};
use nearfar_units::{Bytes, format_significant};
use serde::Serialize;

use super::flow::percents;
use super::origin::Origin;
use crate::answer::{Answer, Part, Shown};
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, Table, WORDS};

/// Memory nodes by the copies between them and a device; `advise RECORD --device DEVICE --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdvisedDevice {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// The device's name, or null.
    pub device_name: Option<String>,
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
        Self {
            schema: "nearfar.advise-device/3",
            measured: Origin::new(record),
            device_name: known.next().map(|it| it.name.clone()),
            command: best
                .map(|best| format!("nearfar run --placement local:{} -- COMMAND", best.node)),
            advice,
        }
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
        let heads = ["pages on", "thread on", "a copy", "to device", "to host", "time"];
        let units = [WORDS, WORDS, WORDS, GB, GB, WORDS];
        let caption = format!(
            "Copies between memory and {}{name}: pinned pages, the host's thread next to them; GB/s",
            self.advice.device
        );
        let table = Table::new(caption, Column::all(heads, units), rows);
        let answer = self.measured.answer().and_gap().and_table(table, usize::MAX).and_gap();
        let said = sentences(&self.advice).into_iter().map(|it| Part::words("", it));
        let answer = answer.and_all(Shown::Always, said);
        let command = self.command.iter().map(|it| Part::Lines(format!("  -> {it}\n")));
        answer.and_all(Shown::Always, command)
    }
}

fn sentences(advice: &DeviceAdvice) -> Vec<String> {
    let mut sentences = Vec::new();
    let (as_good, worse): (Vec<&DevicePlace>, Vec<&DevicePlace>) =
        advice.places.iter().partition(|place| place.is_as_good);
    let numbers = |places: &[&DevicePlace]| {
        places.iter().map(|place| place.node.to_string()).collect::<Vec<_>>().join(", ")
    };
    match (worse.last(), advice.places.len()) {
        (_, 1) => {
            sentences.push("Copies were measured from one node: there is nothing to choose.".into())
        }
        (None, _) => sentences.push(format!(
            "No node is slower by more than {} or than was measured for certain: there is nothing \
             to choose.",
            percents(PRACTICAL)
        )),
        (Some(worst), _) => sentences.push(format!(
            "Keep pages and the thread that copies at {} {}: copies take {} times as long from \
             node {}.",
            if as_good.len() == 1 { "node" } else { "one of the nodes" },
            numbers(&as_good),
            format_significant(worst.time_ratio, 3),
            worst.node
        )),
    }
    if !advice.not_ranked.is_empty() {
        let nodes: Vec<String> = advice.not_ranked.iter().map(u32::to_string).collect();
        sentences.push(format!(
            "Nothing is said of the nodes {}: copies there and back were not both measured.",
            nodes.join(", ")
        ));
    }
    sentences
}
