//! Where programs lie below the roofs, in words and tables.

use nearfar_units::format_significant;

use super::figures::{count, significant};
use super::predict_roofline::{
    PlacedPointView, PredictRooflineView, ProgramPointView, UnderRoofView,
};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table_with_numbers;

impl PredictRooflineView {
    /// For people: each program on the first cluster, and in a line what differs on others.
    pub fn text(&self) -> String {
        let points: Vec<String> = self.points.iter().map(ProgramPointView::text).collect();
        self.measured.heading() + &points.join("")
    }
}

impl ProgramPointView {
    fn text(&self) -> String {
        let Some((first, others)) = self.clusters.split_first() else { return String::new() };
        let reached = self.gflop_per_s.map_or_else(
            || " (what it reaches was not given)".into(),
            |gflop| {
                format!(", {} GFLOP/s reached by the threads of a cluster", significant(gflop, 4))
            },
        );
        let program =
            self.program.as_ref().map_or_else(String::new, |name| format!("{}: ", printable(name)));
        let of = if self.intensity == "operational" { " read from memory" } else { "" };
        let what = format!(
            "{program}{} FLOPs per byte{of}{reached}, below the roofs of loads of cluster {} (CPUs {})",
            significant(self.flops_per_byte, 4),
            first.cluster,
            first.cpus
        );
        let mut text = format!("\n{}{}", paragraph("", &what), first.table());
        for sentence in &first.advice {
            text += &paragraph("-> ", sentence);
        }
        let differing: Vec<&PlacedPointView> =
            others.iter().filter(|other| !other.stands_like(first)).collect();
        for other in &differing {
            text += &paragraph(" ", &format!("cluster {}: {}", other.cluster, other.stands()));
        }
        let alike = others.len() - differing.len();
        if alike > 0 {
            let what = format!("{} more alike (--json has their figures)", count(alike, "cluster"));
            text += &paragraph(" ", &what);
        }
        text
    }
}

impl PlacedPointView {
    /// Whether a program stands to the roofs here as it does there, whatever their nodes.
    fn stands_like(&self, other: &Self) -> bool {
        let near = |view: &Self| {
            let near = view.roofs.iter().filter(|under| under.is_near);
            let mut limits: Vec<(&'static str, Option<bool>)> =
                near.map(|under| (under.roof.limit, under.roof.is_local)).collect();
            limits.sort_unstable();
            limits.dedup();
            limits
        };
        self.standing == other.standing && near(self) == near(other)
    }

    /// In a few words, for clusters beside the first.
    fn stands(&self) -> String {
        let near: Vec<&str> = self
            .roofs
            .iter()
            .filter(|under| under.is_near)
            .map(|under| under.roof.name.as_str())
            .collect();
        match self.standing {
            Some("at_roofs") => format!("at {}", near.join(" or ")),
            Some("at_ceiling") => "at the ceiling".into(),
            Some("above_all") => "above every roof".into(),
            Some("between") => "between two roofs, at none".into(),
            Some("below_all") => "below every roof".into(),
            Some("refuted") => "its roofs foretell nothing (points are too far off them)".into(),
            _ => "not held against anything".into(),
        }
    }

    fn table(&self) -> String {
        let loads = self.roofs.iter().filter(|under| under.kernel == "load");
        let row = |name: String, gb: f64, attainable: f64, ratio: Option<f64>, says: &str| {
            let ratio = ratio.map_or("-".into(), |ratio| format_significant(ratio, 3));
            vec![
                name,
                format_significant(gb, 3),
                format_significant(attainable, 3),
                ratio,
                says.into(),
            ]
        };
        let mut rows: Vec<Vec<String>> = loads
            .map(|under| {
                let says = match under {
                    UnderRoofView { is_refuted: true, .. } => "refuted by its points",
                    UnderRoofView { is_near: true, .. } => "at this roof",
                    UnderRoofView { is_memory_bound: false, .. } => "arithmetic limits",
                    _ => "",
                };
                let (gb, attainable) = (under.gb_per_s, under.attainable_gflop_per_s);
                row(under.roof.name.clone(), gb, attainable, under.ratio, says)
            })
            .collect();
        for roof in &self.hybrid_roofs {
            let name = format!(
                "{} % on node {}, rest on {}",
                significant(roof.fast_share * 100.0, 3),
                roof.fast_node,
                roof.slow_node
            );
            if let (Some(gb), Some(attainable)) = (roof.gb_per_s, roof.attainable_gflop_per_s) {
                rows.push(row(name, gb, attainable, roof.ratio, "hybrid model"));
            }
        }
        let header = ["", "GB/s", "attainable GFLOP/s", "reached / attainable", "  "];
        table_with_numbers(header.map(String::from).to_vec(), rows, 1..4)
    }
}
