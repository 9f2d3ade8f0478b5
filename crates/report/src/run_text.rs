//! What became of a program's placement, in words.

use std::collections::BTreeSet;

use nearfar_machine::CpuSet;

use crate::figures::{count, significant};
use crate::paragraph::paragraph;
use crate::printable::printable;
use crate::run::{PagesView, RunView, VerificationView};
use crate::table::table;

impl RunView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = paragraph("nearfar: ", &format!("{}: {}", self.placement, self.binding));
        for refused in &self.refused {
            let remedy = refused.remedy.as_ref().map_or(String::new(), |it| format!("; {it}"));
            let said = format!("{}: {}{remedy}", refused.what, refused.reason);
            text += &paragraph(" refused: ", &printable(&said));
        }
        if let Some(why) = &self.pages_absent {
            text += &paragraph(" where its memory was is not known: ", &printable(why));
        }
        if let Some(pages) = &self.pages {
            text += &pages.table();
        }
        text += &self.thread_line();
        if let Some(verification) = &self.verification {
            text += &verification.lines();
        }
        for note in &self.notes {
            text += &paragraph(" note: ", &printable(note));
        }
        text
    }

    fn thread_line(&self) -> String {
        if self.threads.is_empty() {
            return String::new();
        }
        let seen: CpuSet = self
            .threads
            .iter()
            .filter_map(|thread| thread.cpus_seen.parse::<CpuSet>().ok())
            .flat_map(|cpus| cpus.iter().collect::<Vec<u32>>())
            .collect();
        paragraph(" ", &format!("{} seen on CPUs {seen}", count(self.threads.len(), "thread")))
    }
}

impl PagesView {
    fn table(&self) -> String {
        let asked = |node: &u32| {
            self.asked_shares
                .as_ref()
                .map_or_else(|| "-".into(), |it| percent(it.get(node).copied().unwrap_or(0.0)))
        };
        let nodes: BTreeSet<u32> = self
            .bytes_by_node
            .keys()
            .chain(self.asked_shares.iter().flat_map(|shares| shares.keys()))
            .copied()
            .collect();
        let row = |node: &u32| {
            let found = self.achieved_shares.get(node).copied().unwrap_or(0.0);
            let bytes = self.bytes_by_node.get(node).copied().unwrap_or(0);
            vec![node.to_string(), asked(node), percent(found), format!("{} KiB", bytes / 1024)]
        };
        let header = ["node", "asked", "achieved", "own memory"].map(String::from).to_vec();
        table(header, nodes.iter().map(row).collect(), 0)
    }
}

impl VerificationView {
    pub(crate) fn lines(&self) -> String {
        let [low, high] = self.interval;
        let meaning = match self.verdict {
            "faster" => "the placement is faster",
            "slower" => "the placement is slower",
            "same" => "no difference that matters",
            _ => "the times scatter too much to say which is faster",
        };
        let said = format!(
            "{meaning}: {} s with it, {} s without, ratio {low:.3} to {high:.3} ({} rounds, 95 %)",
            significant(self.placed_median_seconds, 3),
            significant(self.default_median_seconds, 3),
            self.rounds
        );
        paragraph(" verified: ", &said)
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
