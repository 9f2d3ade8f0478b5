//! The text format: OpenMetrics 1.0, with nothing in it that the older format 0.0.4 refuses.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

use nearfar_record::Header;

use super::family::Family;
use super::labels::Labels;

/// Families with their samples, gathered and written in one order.
#[derive(Debug)]
pub(super) struct Exposition {
    /// Stand in front of every sample: one that lost them on its way could be taken for
    /// another host's, or a simulated figure for a measured one.
    common: Labels,
    families: BTreeMap<Family, Vec<String>>,
    written: HashSet<String>,
    repeated: u32,
}

impl Exposition {
    /// An empty one of a record with this header.
    pub fn new(header: &Header) -> Self {
        Self {
            common: Labels::default().with("host", &header.host).with("executor", header.executor),
            families: BTreeMap::new(),
            written: HashSet::new(),
            repeated: 0,
        }
    }

    /// Adds a figure. One that is no number is absent; of several with the same labels, which no
    /// collector takes, the first stays and the others are counted.
    pub fn add(&mut self, family: Family, labels: Labels, value: f64) {
        if !value.is_finite() {
            return;
        }
        let series = format!("{}{{{}}}", family.name(), self.common.followed_by(labels));
        if self.written.contains(&series) {
            self.repeated = self.repeated.saturating_add(1);
            return;
        }
        self.families.entry(family).or_default().push(format!("{series} {value}"));
        self.written.insert(series);
    }

    pub fn count(&mut self, family: Family, labels: Labels, count: usize) {
        self.add(family, labels, count as f64);
    }

    /// Adds a median and the bounds of its interval.
    pub fn interval(
        &mut self,
        family: Family,
        labels: &Labels,
        median: f64,
        (low, high): (f64, f64),
    ) {
        for (statistic, value) in [("median", median), ("low", low), ("high", high)] {
            self.add(family, labels.clone().with("statistic", statistic), value);
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Where the output fails.
    pub fn write(mut self, out: &mut impl Write) -> io::Result<()> {
        self.add(Family::RepeatedSeries, Labels::default(), f64::from(self.repeated));
        for (family, samples) in &self.families {
            let name = family.name();
            writeln!(out, "# HELP {name} {}", family.help())?;
            writeln!(out, "# TYPE {name} gauge")?;
            if let Some(unit) = family.unit() {
                writeln!(out, "# UNIT {name} {unit}")?;
            }
            for sample in samples {
                writeln!(out, "{sample}")?;
            }
        }
        writeln!(out, "# EOF")?;
        out.flush()
    }
}
