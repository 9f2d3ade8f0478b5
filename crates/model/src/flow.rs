//! What streams get that share the parts of a machine, by the flow law with numbers fitted to a
//! record.
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | d1(c, m) | what one thread of initiator c asks of node m | useful bytes/s |
//! | B(c, m), K(m), I(c) | what path, controller and issue carry | useful bytes/s |
//! | links | what a package, and each of its initiators, reaches of each other package's memory | useful bytes/s |
//! | channels | what all nodes of a kind in a package carry together | useful bytes/s |
//! | p | how hard full parts saturate | 1 |
//! | gamma | whom a full part favours: 0 each thread alike, 1 by demand | 1 |
//!
//! The law is [`nearfar_flow::System`]'s, the fitted machine a [`nearfar_flow::Capacities`], which
//! simulated machines are too. Source: ours. Residual: ln(predicted / measured) / noise of every
//! stream, Huber at 2.5; weak priors (`flow/parameters.rs`) keep what no case binds finite.
//!
//! Kernels differ: a mix that also stores moves other useful bytes through the same parts. Each
//! kernel of the mixes beside the first has two ratios of its own, fitted with the rest.
//!
//! Holds when: streams are limited by memory, threads are one to a core, and working sets exceed
//! the caches. Fails when: parts are shared that the law does not know (links inside a package,
//! rings of controllers), reads and writes slow each other, or a controller serves queues in an
//! order of its own; then errors of 5 to 10 % a stream are usual, and the error on left-out mixes
//! says so.
//! Pinned by: `tests/flow/` (recovery, refusals), `benches/accuracy/flow/` (errors on unseen sets
//! of random machines), `crates/flow/tests/slopes.rs` (derivatives).

mod case;
mod fit;
mod observed;
mod parameters;
mod placements;
mod possible;
mod prediction;
mod summary;

use std::collections::BTreeSet;

use nearfar_flow::Load;
use nearfar_record::{Estimate, Experiment, Suite};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

pub use nearfar_flow::Part as FlowPart;

pub use case::{FlowCase, FlowLayout, FlowLink, FlowStream, MachinePart};
pub use fit::{FittedFlow, FlowEstimate, fit_flow};
pub use parameters::FlowParameter;
pub use placements::{FlowPlacement, InitiatorRate, PlacementKind, PlacementLimit, first_cause};
pub use prediction::{FilledPart, FlowPrediction, InitiatorThreads, PredictedStream, StreamError};
pub use summary::{
    Fitted, FlowKernel, FlowSummary, FlowTrust, JudgedCases, JudgedErrors, KernelRatio, OneThread,
    PartCapacity,
};

use self::observed::{Observed, observe};
use self::parameters::pairs_of;
use crate::inapplicable::{Inapplicable, adding_command};
use crate::record_figures::RecordFigures;

#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    pub layout: FlowLayout,
    /// Instruction-set variant of each kernel of the layout.
    pub variants: Vec<String>,
    /// The variant of its lone figures on pairs where screening dropped the other.
    pub lone_variants: Vec<String>,
    pub cases: Vec<FlowCase>,
    pub fitted: FittedFlow,
    /// Pairs of initiator and node that lone figures of the first kernel are of.
    pub reached: BTreeSet<(u32, u32)>,
    /// Errors on the cases that were fitted, by experiment.
    pub in_sample: Vec<FlowErrors>,
    /// Errors on cases that were not, by experiment.
    pub held_out: Vec<FlowErrors>,
    /// Errors on cases of several streams, each predicted by all others.
    pub left_out: FlowErrors,
    pub placements: Vec<FlowPlacement>,
    /// The command that measures more of what it is fitted to.
    pub more_cases: String,
}

/// Errors of predictions: predicted / measured - 1, sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowErrors {
    /// The experiment that the cases are of.
    pub experiment: Experiment,
    pub cases: usize,
    pub streams: usize,
    /// Mean over streams, a fraction.
    #[serde(rename = "mean_error")]
    pub mean: f64,
    /// 95 % of the streams are off by no more, a fraction; of fewer than 20 all are.
    #[serde(rename = "error_of_most")]
    pub most: f64,
    /// The worst stream, a fraction.
    #[serde(rename = "worst_error")]
    pub worst: f64,
}

/// Of this many of a hundred streams errors are within [`FlowErrors::most`].
const MOST_OF_100: usize = 95;

impl FlowErrors {
    /// `None` without streams.
    fn of(experiment: Experiment, cases: &[&[f64]]) -> Option<Self> {
        let mut sizes: Vec<f64> =
            cases.iter().copied().flatten().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let worst = *sizes.last()?;
        let streams = sizes.len();
        let rank = (MOST_OF_100 * streams).div_ceil(100);
        let most = sizes.get(rank.saturating_sub(1)).copied().unwrap_or(worst);
        mean.is_finite().then_some(Self {
            experiment,
            cases: cases.len(),
            streams,
            mean,
            most,
            worst,
        })
    }
}

/// No difference below it is told, whatever the error.
const LEAST_DIFFERENCE: f64 = 0.05;

impl Flow {
    /// How far the model is believed: of the mean errors on cases that all others predicted, and on
    /// those of each experiment that it was fitted to or not, the largest.
    pub fn judged_by(&self) -> &FlowErrors {
        let others = self.in_sample.iter().chain(&self.held_out);
        others.fold(&self.left_out, |worst, it| if it.mean > worst.mean { it } else { worst })
    }

    /// Give or take of predictions, a fraction: what most streams of left-out cases are off by, at
    /// least twice the model's error.
    pub fn reach(&self) -> f64 {
        self.left_out.most.max(2.0 * self.judged_by().mean)
    }

    /// The smallest difference that the model can tell, a fraction.
    pub fn least_difference(&self) -> f64 {
        LEAST_DIFFERENCE.max(2.0 * self.judged_by().mean)
    }

    /// Threads x the slowest load's rate of a thread, where a case of the record had these loads together
    /// by the first kernel, useful bytes/s.
    pub fn measured_pace(&self, loads: &[Load]) -> Option<f64> {
        let case = self.cases.iter().find(|case| placements::is_of(case, loads))?;
        let threads: u32 = loads.iter().map(|it| it.threads).sum();
        let of_one = case.streams.iter().map(|it| it.rate / f64::from(it.load.threads));
        Some(f64::from(threads) * of_one.reduce(f64::min)?)
    }

    /// A prediction, give or take [`Flow::reach`].
    pub fn expected(&self, bytes_per_s: f64) -> Estimate<BytesPerSecond> {
        let reach = self.reach();
        let ends = (bytes_per_s * (1.0 - reach).max(0.0), bytes_per_s * (1.0 + reach));
        Estimate::computed(bytes_per_s, ends, Vec::new())
    }
}

/// Fits the flow law to a record.
///
/// # Errors
/// Where the record does not hold what the model needs: pairs of a kernel that also runs in cases
/// with several streams.
pub fn flow(figures: &RecordFigures<'_>) -> Result<Flow, Inapplicable> {
    let observed = observe(figures)?;
    let judge = judging_experiment(&observed);
    let is_judge = |case: &FlowCase| case.experiment == judge && case.streams.len() > 1;
    let Some(fitted) = fit_flow(&observed.layout, &observed.fitted, is_judge) else {
        return Err(Inapplicable::here(
            "the flow law cannot be fitted: figures of the record contradict each other, or lie \
             too far apart",
        ));
    };
    let left_out: Vec<&[f64]> = fitted.left_out.iter().map(|(_, it)| it.as_slice()).collect();
    let Some(left_out) = FlowErrors::of(judge, &left_out) else {
        return Err(Inapplicable::without(figures.record(), Experiment::Mixes));
    };
    let is_lone = |case: &&FlowCase| case.as_pair().is_some() && case.streams[0].kernel == 0;
    let lone: Vec<FlowCase> = observed.fitted.iter().filter(is_lone).cloned().collect();
    let reached = pairs_of(&lone);
    let is_known = |case: &&FlowCase| pairs_of(std::slice::from_ref(*case)).is_subset(&reached);
    let of_case = |(position, errors): &(usize, Vec<f64>)| {
        (observed.fitted[*position].experiment, errors.clone())
    };
    let in_sample: Vec<(Experiment, Vec<f64>)> = fitted.errors.iter().map(of_case).collect();
    let held_out = observed
        .held_out
        .iter()
        .filter(is_known)
        .filter_map(|case| Some((case.experiment, case.errors(&fitted.rates(case)?))));
    let held_out: Vec<(Experiment, Vec<f64>)> = held_out.collect();
    let machine = &figures.record().header.machine;
    let measured: Vec<&FlowCase> = observed.fitted.iter().chain(&observed.held_out).collect();
    let placements =
        placements::placements(machine, &observed.layout, &fitted, &reached, &measured);
    let mut flow = Flow {
        placements,
        layout: observed.layout,
        variants: observed.variants,
        lone_variants: observed.lone_variants,
        cases: observed.fitted,
        fitted,
        reached,
        in_sample: by_experiment(&in_sample),
        held_out: by_experiment(&held_out),
        left_out,
        more_cases: adding_command(
            figures.record(),
            &[Experiment::Pairs, Experiment::Mixes],
            Suite::Full,
        ),
    };
    // How far predictions reach follows from the errors.
    let totals: Vec<f64> = flow.placements.iter().map(|it| it.total.value.0).collect();
    let totals: Vec<_> = totals.into_iter().map(|total| flow.expected(total)).collect();
    for (placement, total) in flow.placements.iter_mut().zip(totals) {
        placement.total = total;
    }
    Ok(flow)
}

/// The experiment whose cases judge the model: mixes, else the one with the most cases of several
/// streams.
fn judging_experiment(observed: &Observed) -> Experiment {
    let count = |experiment: Experiment| {
        let own = observed.fitted.iter().filter(|case| case.experiment == experiment);
        own.filter(|case| case.streams.len() > 1).count()
    };
    if count(Experiment::Mixes) > 1 {
        return Experiment::Mixes;
    }
    Experiment::OF_MACHINE.into_iter().max_by_key(|&it| count(it)).unwrap_or(Experiment::Mixes)
}

fn by_experiment(cases: &[(Experiment, Vec<f64>)]) -> Vec<FlowErrors> {
    let of = |experiment: Experiment| {
        let own = cases.iter().filter(|(it, _)| *it == experiment);
        FlowErrors::of(experiment, &own.map(|(_, errors)| errors.as_slice()).collect::<Vec<_>>())
    };
    Experiment::OF_MACHINE.into_iter().filter_map(of).collect()
}
