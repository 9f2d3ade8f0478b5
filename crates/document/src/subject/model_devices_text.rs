//! What copies to and from devices mean, in tables and words.

use std::collections::BTreeMap;

use nearfar_machine::{NodeSet, TransferDirection};
use nearfar_units::{Bytes, format_significant};

use super::figures::{percent_words, significant};
use super::model_devices::{
    DeviceClassSetView, DeviceClassView, DevicesModelView, TransferLossView, TransferPlaceView,
    TransferTimeView,
};
use crate::printable::printable;
use crate::terminal::paragraph::{folded, paragraph};
use crate::terminal::table::{room_for, table_with_numbers};

impl DevicesModelView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        let mut text = self.classes_text();
        if !self.times.is_empty() || !self.times_unknown.is_empty() {
            text += &format!("\n{}", self.times_text());
        }
        if !self.losses.is_empty() {
            text += &format!("\n{}", losses_text(&self.losses));
        }
        text
    }

    /// What to know first, in sentences.
    #[must_use]
    pub fn advice(&self) -> Vec<String> {
        let of_set = |set: &DeviceClassSetView| {
            let (first, last) = (set.classes.first()?, set.classes.last()?);
            (first.class < last.class).then(|| {
                format!(
                    "Copies by {} {} fall into {} classes: the fastest reach {} GB/s, the slowest \
                     {} GB/s.",
                    set.backend,
                    set.direction.words(),
                    set.classes.len(),
                    format_significant(first.max_gb_per_s, 3),
                    format_significant(last.max_gb_per_s, 3)
                )
            })
        };
        self.class_sets.iter().filter_map(of_set).collect()
    }

    /// The classes alone, below what they are of.
    #[must_use]
    pub fn classes_text(&self) -> String {
        let mut text = paragraph(
            "",
            &format!(
                "Bandwidth classes of copies between memory nodes and devices, each way by \
                 itself: best round of the largest pinned copies, GB/s by the host's clock. A class \
                 spans at most {} % of its maximum and what noise explains.",
                significant(self.class_span * 100.0, 2)
            ),
        );
        if self.class_sets.is_empty() {
            text += " no copies from or to pinned memory were measured\n";
        }
        for set in &self.class_sets {
            text += &format!("\n{}", set.text());
        }
        let named = self.devices.iter().filter(|(_, name)| !name.is_empty());
        let names: Vec<String> =
            named.map(|(id, name)| format!("{} {}", printable(id), printable(name))).collect();
        if !names.is_empty() {
            text += &format!("\n{}", paragraph(" devices: ", &names.join("; ")));
        }
        text
    }

    fn times_text(&self) -> String {
        let mut text = paragraph(
            "",
            "Time of a copy of x bytes: latency + x / bandwidth, by the host's clock. half: the copy \
             that gets half of that bandwidth. worst: how far the law is off where it is \
             farthest, and at which size.",
        );
        let heads = ["device", "node", "way", "latency, us", "GB/s", "half", "worst", "at"];
        let rows = self.times.iter().map(|time| {
            let TransferTimeView { latency_us, bandwidth_gb_per_s, .. } = time;
            let mut row = place_cells(&time.place);
            row.extend([
                format_significant(*latency_us, 3),
                format_significant(*bandwidth_gb_per_s, 3),
                time.half_bandwidth_words(),
                time.worst_error_words(),
                Bytes(time.worst_error_bytes).to_string(),
            ]);
            row
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            text += &table_with_numbers(heads.map(String::from).into(), rows, 3..8);
        }
        for untimed in &self.times_unknown {
            let place = place_cells(&untimed.place).join(" ");
            text += &paragraph(" - ", &format!("{place}: no law: {}", printable(&untimed.why)));
        }
        text
    }
}

impl TransferTimeView {
    /// Bytes of a copy that gets half of the bandwidth, to three digits.
    #[must_use]
    pub fn half_bandwidth_words(&self) -> String {
        const UNITS: [(&str, f64); 4] =
            [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("B", 1.0)];
        let bytes = self.half_bandwidth_bytes;
        let unit = UNITS.iter().find(|(_, size)| bytes >= *size).unwrap_or(&UNITS[3]);
        format!("{} {}", format_significant(bytes / unit.1, 3), unit.0)
    }

    /// How far the law is off where it is farthest.
    #[must_use]
    pub fn worst_error_words(&self) -> String {
        // Never rounded to none.
        const LEAST_SHOWN: f64 = 1e-4;
        let error = self.worst_error;
        if error < LEAST_SHOWN { "< 0.01 %".into() } else { percent_words(error) }
    }
}

fn place_cells(place: &TransferPlaceView) -> Vec<String> {
    let memory = place.host_memory.map_or(String::new(), |memory| format!(", {memory}"));
    let way = match &place.peer {
        Some(peer) => format!("to {}", printable(peer)),
        None => format!("{}{memory}", place.direction.words()),
    };
    let node = place.memory_node.map_or("-".into(), |node| node.to_string());
    vec![printable(&place.device).into_owned(), node, way]
}

fn losses_text(losses: &[TransferLossView]) -> String {
    let text = paragraph(
        "",
        "What copies keep of their bandwidth beside what else uses the node, the links or the hub, and \
         what that keeps beside them: parts of what each moves alone (interval).",
    );
    let kept = |share: Option<f64>, interval: Option<[f64; 2]>| match (share, interval) {
        (Some(share), Some([low, high])) => format!("{share:.2} ({low:.2} - {high:.2})"),
        _ => "-".into(),
    };
    let rows = losses.iter().map(|loss| {
        let mut row = place_cells(&loss.place);
        row.push(match (&loss.beside_device, &loss.kernel, loss.threads) {
            (Some(device), _, _) => printable(device).into_owned(),
            (None, Some(kernel), Some(threads)) => format!("{} x {threads}", printable(kernel)),
            _ => "-".into(),
        });
        row.push(kept(loss.copies_kept, loss.copies_kept_interval));
        row.push(kept(loss.other_kept, loss.other_kept_interval));
        row
    });
    let heads = ["device", "node", "way", "beside", "copies keep", "the other keeps"];
    text + &table_with_numbers(heads.map(String::from).into(), rows.collect(), 4..6)
}

impl DeviceClassSetView {
    fn text(&self) -> String {
        let symbol = match self.direction {
            TransferDirection::ToHost => " (alpha_r: read from the device)",
            TransferDirection::ToDevice => " (alpha_w: written to the device)",
            TransferDirection::BothWays => ", the sum",
            TransferDirection::ToPeer => "",
        };
        let (least, most) = (Bytes(self.least_bytes), Bytes(self.most_bytes));
        let sizes = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let mut text =
            format!("{}, {}{symbol}, copies of {sizes}\n", self.backend, self.direction.words());
        let header: Vec<String> =
            ["class", "GB/s", "alpha", "to class 0", "memory nodes by device"]
                .map(String::from)
                .into();
        let mut rows: Vec<Vec<String>> = self.classes.iter().map(class_cells).collect();
        let room = room_for(&header, &rows, 4);
        for (row, class) in rows.iter_mut().zip(&self.classes) {
            let phrases = pair_phrases(class);
            row.push(folded(phrases.iter().map(String::as_str), room).join("\n"));
        }
        text += &table_with_numbers(header, rows, 0..4);
        text += &match (&self.phi, &self.phi_unknown) {
            (Some(phi), _) => paragraph(" ", &format!("alpha = class maximum / {}", phi.words())),
            (None, unknown) => paragraph(
                " ",
                &format!("alpha is unknown: {}", printable(unknown.as_deref().unwrap_or_default())),
            ),
        };
        text += &self.phi_remedy.map_or(String::new(), |remedy| paragraph("   -> ", remedy));
        text += &match self.noise {
            Some(noise) => format!(
                " rounds of a pair: {} or more, which scatter by {} %\n",
                self.fewest_rounds,
                format_significant(noise * 100.0, 2)
            ),
            None => " one round a pair: their noise is not known\n".into(),
        };
        for out in &self.left_out {
            let why = out.refused.as_deref().unwrap_or("not measured with copies of such sizes");
            let (device, node) = (printable(&out.device), out.memory_node);
            text +=
                &paragraph(" - ", &format!("{device}, node {node}: left out, {}", printable(why)));
        }
        text + &self.notes.iter().map(|it| paragraph(" - ", &printable(it))).collect::<String>()
    }
}

fn class_cells(class: &DeviceClassView) -> Vec<String> {
    let [max, min] = [class.max_gb_per_s, class.min_gb_per_s].map(|it| format_significant(it, 3));
    vec![
        class.class.to_string(),
        if max == min { max } else { format!("{max} - {min}") },
        class.alpha.map_or("unknown".into(), |alpha| format_significant(alpha, 4)),
        format_significant(class.alpha_relative, 4),
    ]
}

/// `cuda0: 0-1;`, and what to know of the class.
fn pair_phrases(class: &DeviceClassView) -> Vec<String> {
    let mut nodes: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for pair in &class.pairs {
        nodes.entry(&pair.device).or_default().push(pair.memory_node);
    }
    let mut phrases: Vec<String> = nodes
        .into_iter()
        .map(|(device, nodes)| {
            format!("{}: {};", printable(device), nodes.into_iter().collect::<NodeSet>())
        })
        .collect();
    if let Some(last) = phrases.last_mut() {
        last.pop();
    }
    let marks: [(bool, &str); 3] = [
        (class.wide, "[spans over 10 %]"),
        (class.widened_by_noise, "[wider by noise]"),
        (class.border_within_noise, "[the next class is within the noise]"),
    ];
    phrases.extend(marks.into_iter().filter(|(holds, _)| *holds).map(|(_, it)| it.to_string()));
    phrases
}
