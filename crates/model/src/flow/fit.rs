//! The fit: residuals of all streams, their derivatives, and what one left-out case would have
//! been predicted as.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::iter::repeat_n;

use nearfar_flow::{Capacities, Flows, Part};
use nearfar_record::Experiment;
use nearfar_stats::{Fit, FitRule, Loss, fit_with_derivatives, solve_least_squares};

use super::case::{FlowCase, FlowLayout};
use super::parameters::{self, FlowParameter, Parameters, scaled_loads};

/// A residual beyond this many standard errors counts less (Huber).
const HUBER: f64 = 2.5;
/// As many as the reference needed; further ones move predictions by less than they err.
const MOST_STEPS: u32 = 12;
/// Of a logarithm, in a step.
const LONGEST_STEP: f64 = 0.5;
/// It ends when a step lowers the loss by less than this fraction.
const TOLERANCE: f64 = 1e-4;
/// 95 % of a normal distribution lies within this many standard deviations.
const INTERVAL: f64 = 1.96;
/// A parameter with a posterior deviation above this fraction of its prior one is not bound.
const BOUND: f64 = 0.5;

#[derive(Debug, Clone, PartialEq)]
pub struct FittedFlow {
    /// What each part carries, useful bytes/s of the first kernel.
    pub capacities: Capacities,
    /// Of each kernel its useful bytes where parts are full, and a thread's demand in bytes of the
    /// first kernel, against the first kernel's.
    pub kernels: Vec<(f64, f64)>,
    /// The saturation exponent p.
    pub saturation: FlowEstimate,
    /// The fairness exponent gamma.
    pub fairness: FlowEstimate,
    /// Every other parameter.
    pub parameters: Vec<FlowEstimate>,
    /// Predicted / measured - 1 of every stream, by the position of the case; without cases of
    /// which a pair has no lone figure, which were not fitted.
    pub errors: Vec<(usize, Vec<f64>)>,
    /// The same where the case is predicted by the others, of those that were asked for.
    pub left_out: Vec<(usize, Vec<f64>)>,
    /// Of how many that were asked for the others say nothing.
    pub not_foretold: usize,
    /// Whether the fit ended because nothing was left to gain.
    pub has_converged: bool,
    /// What is fitted of all parameters, p and gamma last.
    pub(crate) at: Vec<f64>,
    /// Of every residual by how much more than its noise its experiment's scatter, at least 1.
    pub(crate) widths: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowEstimate {
    pub parameter: FlowParameter,
    /// Its value: bytes/s, or a ratio or exponent.
    pub value: f64,
    /// Where it is with 95 % confidence, by the law and the noise of the cases.
    pub interval: (f64, f64),
    /// Whether any case tells it: the cases leave at most half of what was open before.
    pub is_bound: bool,
}

/// Fits a machine's law to cases, and predicts each of those of which `is_left_out` from all
/// others. `None` where no stream of the first kernel ran alone, or the law has no solution.
pub fn fit_flow(
    layout: &FlowLayout,
    cases: &[FlowCase],
    is_left_out: impl Fn(&FlowCase) -> bool,
) -> Option<FittedFlow> {
    let problem = Problem::new(layout, cases)?;
    let fit = problem.fit(&problem.parameters.start, MOST_STEPS, TOLERANCE)?;
    problem.answer(&fit, is_left_out)
}

pub(crate) struct Problem<'a> {
    pub parameters: Parameters<'a>,
    /// Where each case stands among those that were given.
    positions: Vec<usize>,
    cases: Vec<&'a FlowCase>,
    /// What each case was found to be last: the next search begins there.
    starts: RefCell<Vec<Option<Flows>>>,
    /// Where all cases were found last.
    found_at: RefCell<Option<Vec<f64>>>,
    /// What is added to the residuals; of those beyond nothing.
    pub offsets: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// `None` where no stream of the first kernel ran alone.
    pub fn new(layout: &'a FlowLayout, cases: &'a [FlowCase]) -> Option<Self> {
        let parameters = Parameters::new(layout, cases)?;
        let known = cases.iter().enumerate().filter(|(_, case)| parameters.knows(case));
        let (positions, cases): (Vec<usize>, Vec<&FlowCase>) = known.unzip();
        let starts = RefCell::new(cases.iter().map(|_| None).collect());
        let (found_at, offsets) = (RefCell::default(), Vec::new());
        Some(Self { parameters, positions, cases, starts, found_at, offsets })
    }

    /// How many were measured of all cases.
    pub fn streams(&self) -> usize {
        self.cases.iter().map(|case| case.streams.len()).sum()
    }

    /// The law may fit the cases of one experiment and not of another.
    fn widths(&self, residuals: &[f64]) -> Vec<f64> {
        let of_rows =
            || self.cases.iter().flat_map(|case| repeat_n(case.experiment, case.streams.len()));
        let mut sums: BTreeMap<Experiment, (f64, f64)> = BTreeMap::new();
        for (experiment, residual) in of_rows().zip(residuals) {
            let (squares, count) = sums.entry(experiment).or_default();
            (*squares, *count) = (*squares + residual * residual, *count + 1.0);
        }
        let width = |experiment| {
            let (squares, count): (f64, f64) = sums[&experiment];
            (squares / count).sqrt().max(1.0)
        };
        let priors = residuals.len() - self.streams();
        of_rows().map(width).chain(repeat_n(1.0, priors)).collect()
    }

    pub fn fit(&self, start: &[f64], most_steps: u32, tolerance: f64) -> Option<Fit> {
        let rule =
            FitRule { loss: Loss::Huber(HUBER), most_steps, longest_step: LONGEST_STEP, tolerance };
        let derivatives = |at: &[f64], _: &[f64]| self.derivatives(at);
        fit_with_derivatives(start, |at| self.residuals(at), derivatives, &rule)
    }

    /// ln (predicted / measured) / noise of every stream, then what parameters are off their
    /// priors.
    fn residuals(&self, at: &[f64]) -> Option<Vec<f64>> {
        let predicted = self.predict(at)?;
        let mut residuals = Vec::new();
        for (case, rates) in self.cases.iter().zip(predicted) {
            for (stream, rate) in case.streams.iter().zip(rates) {
                residuals.push((rate / stream.rate).ln() / stream.noise);
            }
        }
        let priors = self.parameters.all.iter().zip(at).zip(&self.parameters.start);
        residuals.extend(
            priors.map(|((parameter, at), start)| (at - start) / parameter.prior_deviation()),
        );
        residuals.iter_mut().zip(&self.offsets).for_each(|(residual, offset)| *residual += offset);
        Some(residuals)
    }

    fn predict(&self, at: &[f64]) -> Option<Vec<Vec<f64>>> {
        let capacities = self.parameters.capacities(at);
        let kernels = self.parameters.kernels(at);
        let mut starts = self.starts.borrow_mut();
        let cases = self.cases.iter().zip(starts.iter_mut());
        self.found_at.replace(None);
        let rates = cases
            .map(|(case, start)| {
                let flows = capacities.flows(&scaled_loads(case, &kernels), start.as_ref()).ok()?;
                let rates = useful(case, &flows, &kernels);
                *start = Some(flows);
                Some(rates)
            })
            .collect::<Option<_>>()?;
        self.found_at.replace(Some(at.to_vec()));
        Some(rates)
    }

    /// The Jacobian by columns.
    fn derivatives(&self, at: &[f64]) -> Option<Vec<Vec<f64>>> {
        let capacities = self.parameters.capacities(at);
        let all = &self.parameters.all;
        let streams = self.streams();
        let mut columns = vec![vec![0.0; streams + all.len()]; all.len()];
        for (index, parameter) in all.iter().enumerate() {
            columns[index][streams + index] = 1.0 / parameter.prior_deviation();
        }
        // Where the last search ended, what it found is the answer.
        if self.found_at.borrow().as_deref() != Some(at) {
            self.predict(at)?;
        }
        let starts = self.starts.borrow();
        let mut first_row = 0;
        for (case, flows) in self.cases.iter().zip(starts.iter()) {
            let flows = flows.as_ref()?;
            let by = CaseSlopes { case, capacities: &capacities, slopes: flows.slopes()?, flows };
            for (parameter, column) in all.iter().zip(&mut columns) {
                let Some(slopes) = by.parameter(*parameter) else { continue };
                for (row, (slope, stream)) in slopes.iter().zip(&case.streams).enumerate() {
                    column[first_row + row] = slope / stream.noise;
                }
            }
            first_row += case.streams.len();
        }
        Some(columns)
    }

    fn answer(&self, fit: &Fit, is_left_out: impl Fn(&FlowCase) -> bool) -> Option<FittedFlow> {
        let at = &fit.parameters;
        let covariance = fit.covariance.as_ref()?;
        let all = &self.parameters.all;
        let predicted = self.predict(at)?;
        let left_out =
            LeaveOneOut { problem: self, fit, covariance, columns: self.derivatives(at)? };
        let mut first_row = 0;
        let mut without_them = Vec::new();
        let mut not_foretold = 0;
        for (&position, case) in self.positions.iter().zip(&self.cases) {
            if is_left_out(case) {
                match left_out.predicted(case, first_row) {
                    Some(rates) => without_them.push((position, case.errors(&rates))),
                    None => not_foretold += 1,
                }
            }
            first_row += case.streams.len();
        }
        // Where the law does not fit the machine, cases scatter by more than their noise.
        let count = (first_row.max(1)) as f64;
        let scatter = (fit.loss / count).sqrt().max(1.0);
        let estimate = |(index, &parameter): (usize, &FlowParameter)| {
            let deviation = covariance[index][index].max(0.0).sqrt();
            let reach = INTERVAL * deviation * scatter;
            FlowEstimate {
                parameter,
                value: parameter.value(at[index]),
                interval: (parameter.value(at[index] - reach), parameter.value(at[index] + reach)),
                is_bound: deviation <= BOUND * parameter.prior_deviation(),
            }
        };
        let mut parameters: Vec<FlowEstimate> = all.iter().enumerate().map(estimate).collect();
        // They stand last.
        let (fairness, saturation) = (parameters.pop()?, parameters.pop()?);
        Some(FittedFlow {
            capacities: self.parameters.capacities(at),
            kernels: self.parameters.kernels(at),
            saturation,
            fairness,
            parameters,
            errors: (self.positions.iter().zip(&predicted).zip(&self.cases))
                .map(|((&position, rates), case)| (position, case.errors(rates)))
                .collect(),
            left_out: without_them,
            not_foretold,
            has_converged: fit.has_converged,
            at: at.clone(),
            widths: self.widths(&fit.residuals),
        })
    }
}

impl FittedFlow {
    /// What each stream of a case moves by this law, useful bytes/s of its kernel; `None` where a
    /// initiator, node or kernel is not of this machine.
    pub fn rates(&self, case: &FlowCase) -> Option<Vec<f64>> {
        if case.streams.iter().any(|stream| stream.kernel >= self.kernels.len()) {
            return None;
        }
        let flows = self.capacities.flows(&scaled_loads(case, &self.kernels), None).ok()?;
        Some(useful(case, &flows, &self.kernels))
    }
}

/// Rates in useful bytes of each stream's own kernel.
fn useful(case: &FlowCase, flows: &Flows, kernels: &[(f64, f64)]) -> Vec<f64> {
    let streams = case.streams.iter().zip(&flows.rates);
    streams.map(|(stream, rate)| rate * kernels[stream.kernel].0).collect()
}

/// How the streams of a case answer to parameters.
struct CaseSlopes<'a> {
    case: &'a FlowCase,
    capacities: &'a Capacities,
    flows: &'a Flows,
    slopes: nearfar_flow::Slopes,
}

impl CaseSlopes<'_> {
    /// Derivatives of ln of each stream's rate; `None` where the case does not touch it.
    fn parameter(&self, parameter: FlowParameter) -> Option<Vec<f64>> {
        let count = self.case.streams.len();
        match parameter {
            FlowParameter::Capacity(part) => self.capacity(part),
            FlowParameter::OneThread { initiator, column } => {
                let node = self.capacities.nodes[column];
                let weight = |index: usize| self.time_share(index, initiator, node);
                let weights: Vec<f64> = (0..count).map(weight).collect();
                weights.iter().any(|&weight| weight > 0.0).then(|| self.by_demands(&weights))
            }
            FlowParameter::KernelBytes { kernel } => self.of_kernel(kernel),
            FlowParameter::KernelDemand { kernel } => {
                Some(self.by_demands(&self.of_kernel(kernel)?))
            }
            FlowParameter::Saturation => {
                let slope = parameters::slope_of_saturation(self.capacities.saturation);
                Some(self.slopes.by_saturation.iter().map(|by| by * slope).collect())
            }
            FlowParameter::Fairness => (count > 1).then(|| {
                let slope = parameters::slope_of_fairness(self.capacities.fairness);
                self.slopes.by_fairness.iter().map(|by| by * slope).collect()
            }),
        }
    }

    /// 1 for the streams of a kernel, 0 for others; `None` where none is.
    fn of_kernel(&self, kernel: usize) -> Option<Vec<f64>> {
        let own = self.case.streams.iter().map(|stream| stream.kernel == kernel);
        own.clone().any(|is_own| is_own).then(|| own.map(f64::from).collect())
    }

    fn capacity(&self, part: Part) -> Option<Vec<f64>> {
        let position = self.flows.position_of(part)?;
        Some(self.slopes.by_capacity[position].clone())
    }

    /// The part of its time that a stream's threads would spend on a node with nothing in their
    /// way: by so much its demand grows with theirs there.
    fn time_share(&self, stream: usize, initiator: usize, node: u32) -> f64 {
        let load = &self.case.streams[stream].load;
        if load.initiator as usize != initiator {
            return 0.0;
        }
        let row = &self.capacities.one_thread[initiator];
        let time = |&(on, share): &(u32, f64)| {
            let column = self.capacities.nodes.iter().position(|&known| known == on);
            (on, column.map_or(0.0, |column| share / row[column]))
        };
        let times: Vec<(u32, f64)> = load.shares.iter().map(time).collect();
        let own: f64 = times.iter().filter(|(on, _)| *on == node).map(|(_, time)| time).sum();
        own / times.iter().map(|(_, time)| time).sum::<f64>()
    }

    fn by_demands(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; weights.len()];
        for (weight, slopes) in weights.iter().zip(&self.slopes.by_demand) {
            sum.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += weight * slope);
        }
        sum
    }
}

/// Cases predicted by the others, by one step of Gauss and Newton from the solution of all:
///
/// ```text
/// d = C J^T W (I - M W)^-1 r      M = J C J^T
/// ```
///
/// with J, W and r the case's rows, weights and residuals and C the covariance of all.
struct LeaveOneOut<'a> {
    problem: &'a Problem<'a>,
    fit: &'a Fit,
    covariance: &'a [Vec<f64>],
    columns: Vec<Vec<f64>>,
}

impl LeaveOneOut<'_> {
    fn predicted(&self, case: &FlowCase, first_row: usize) -> Option<Vec<f64>> {
        let rows: Vec<usize> = (first_row..first_row + case.streams.len()).collect();
        let residual = |row: usize| self.fit.residuals[row];
        let weight = |row: usize| (HUBER / residual(row).abs().max(HUBER)).min(1.0);
        // C J^T, by rows of the case.
        let across: Vec<Vec<f64>> = rows.iter().map(|&row| self.covariance_times(row)).collect();
        let leverage = |row: usize, other: usize| {
            let through = self.columns.iter().zip(&across[other]);
            through.map(|(column, value)| column[rows[row]] * value).sum::<f64>()
        };
        let left: Vec<Vec<f64>> = (0..rows.len())
            .map(|row| {
                let entry = |other: usize| {
                    f64::from(row == other) - leverage(row, other) * weight(rows[other])
                };
                (0..rows.len()).map(entry).collect()
            })
            .collect();
        let right: Vec<f64> = rows.iter().map(|&row| residual(row)).collect();
        let solved = solve_least_squares(&left, &right)?.solution;
        let step = |index: usize| {
            let parts = solved.iter().zip(&rows).zip(&across);
            let sum: f64 = parts.map(|((it, &row), of)| it * weight(row) * of[index]).sum();
            sum.clamp(-LONGEST_STEP, LONGEST_STEP)
        };
        let at: Vec<f64> =
            self.fit.parameters.iter().enumerate().map(|(index, at)| at + step(index)).collect();
        let kernels = self.problem.parameters.kernels(&at);
        let capacities = self.problem.parameters.capacities(&at);
        let flows = capacities.flows(&scaled_loads(case, &kernels), None).ok()?;
        Some(useful(case, &flows, &kernels))
    }

    fn covariance_times(&self, row: usize) -> Vec<f64> {
        let touched: Vec<(usize, f64)> = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| (index, column[row]))
            .filter(|&(_, slope)| slope != 0.0)
            .collect();
        let of = |line: &Vec<f64>| touched.iter().map(|&(index, slope)| line[index] * slope).sum();
        self.covariance.iter().map(of).collect()
    }
}
