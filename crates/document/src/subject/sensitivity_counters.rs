//! The view of what counters of the CPU say of runs.

use std::collections::BTreeMap;

use nearfar_model::CountedRuns;
use serde::Serialize;

/// Figures of the runs at a placement by counters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedRunsView {
    /// Misses of the last-level cache / its requests; null is not known, see `unknown`.
    pub llc_miss_rate: Option<CountedFigureView>,
    /// Misses of the last-level cache for 1000 instructions; null as above.
    pub llc_misses_per_1000_instructions: Option<CountedFigureView>,
    /// Instructions a cycle; null as above.
    pub instructions_per_cycle: Option<CountedFigureView>,
    /// Runs of which every believed counter has a count.
    pub counted_runs: usize,
    pub runs: usize,
    /// Why one of the others has not; null where there are none.
    pub uncounted: Option<String>,
    /// The least share of a run's time in which a counter counted; null without counts.
    pub least_counted_share: Option<f64>,
    /// Why a figure is null, by its name.
    pub unknown: BTreeMap<&'static str, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedFigureView {
    /// Median over runs.
    pub median: f64,
    pub interval: [f64; 2],
    /// How often such an interval holds the true median, a fraction.
    pub confidence: f64,
    pub runs: usize,
}

impl CountedRunsView {
    pub(crate) fn new(counted: &CountedRuns) -> Self {
        let mut unknown = BTreeMap::new();
        let figures = [
            ("llc_miss_rate", &counted.llc_miss_rate),
            ("llc_misses_per_1000_instructions", &counted.llc_misses_per_1000_instructions),
            ("instructions_per_cycle", &counted.instructions_per_cycle),
        ];
        let [llc_miss_rate, llc_misses_per_1000_instructions, instructions_per_cycle] = figures
            .map(|(name, found)| match found {
                Ok(found) => Some(CountedFigureView {
                    median: found.median,
                    interval: [found.interval.0, found.interval.1],
                    confidence: found.confidence,
                    runs: found.count,
                }),
                Err(why) => {
                    unknown.insert(name, why.clone());
                    None
                }
            });
        Self {
            llc_miss_rate,
            llc_misses_per_1000_instructions,
            instructions_per_cycle,
            counted_runs: counted.counted,
            runs: counted.runs,
            uncounted: counted.uncounted.clone(),
            least_counted_share: counted.least_counted_share,
            unknown,
        }
    }
}
