//! What loads get together, part by part: what each part carries and whom it holds up.

use std::cell::OnceCell;

use crate::capacities::{Capacities, Part};
use crate::error::FlowError;
use crate::loads::{Ask, Busy, Load, SharedSystem, shared_system};
use crate::pressures::{Pressures, mean_claim};

/// A load whose threads ask for this many times what [`Capacities::one_thread`] says of one.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaledLoad {
    /// Threads, their initiator and their memory; at least one thread.
    pub load: Load,
    /// What one of its threads asks for / what the capacities say of one. Above 0.
    pub demand_scale: f64,
}

/// What loads get by the flow law, and what holds them up.
#[derive(Debug)]
pub struct Flows {
    /// Rate of each load, bytes/s.
    pub rates: Vec<f64>,
    /// What each load would move with nothing in its way, bytes/s.
    pub demands: Vec<f64>,
    pub(crate) shared: SharedSystem,
    pub(crate) fairness: f64,
    pub(crate) ln_h: Vec<f64>,
    /// Found when they are first asked for: searches ask for rates alone.
    parts: OnceCell<Vec<UsedPart>>,
}

/// A part that loads use.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedPart {
    pub part: Part,
    /// What it carries / its capacity, below 1.
    pub filled: f64,
    /// Of what slows each load, the share that is this part's; 0 where the load does not use it.
    pub slows: Vec<f64>,
}

/// Rates differ from the final ones by not much more than this fraction.
const TOLERANCE: f64 = 1e-9;

impl Capacities {
    /// What each load moves when all run at the same time, by the flow law alone. `start`, what
    /// the same loads got of capacities not far from these, makes it faster.
    ///
    /// # Errors
    /// As [`Capacities::rates`]; [`FlowError::Load`] also for a load without threads or with a
    /// scale that is not finite and above 0, and [`FlowError::System`] where these capacities
    /// have curves, interference or pressure, which parts do not show.
    pub fn flows(&self, loads: &[ScaledLoad], start: Option<&Flows>) -> Result<Flows, FlowError> {
        self.check()?;
        let is_plain = self.curves.is_empty()
            && self.pressure.is_empty()
            && self.interference.iter().all(|&share| share == 0.0);
        if !is_plain {
            let why = "they have curves, interference or pressure, which no part carries";
            return Err(FlowError::System(why.into()));
        }
        let mut busy = Vec::new();
        for ScaledLoad { load, demand_scale } in loads {
            if load.threads == 0 || !(*demand_scale > 0.0 && demand_scale.is_finite()) {
                let text = format!("{} threads that ask {demand_scale}-fold", load.threads);
                return Err(FlowError::Load(text));
            }
            busy.push(Busy::find(Ask { demand_scale: *demand_scale, ..Ask::of(self, load) })?);
        }
        let Some(shared) = shared_system(&busy) else {
            return Err(FlowError::Load("there is no load".into()));
        };
        let start = start.filter(|start| start.shared.parts == shared.parts).map(|start| {
            let moved = mean_claim(&start.shared.system) - mean_claim(&shared.system);
            start.ln_h.iter().map(|ln_h| ln_h + moved).collect::<Vec<f64>>()
        });
        let (solution, ln_h) = shared.system.settle(start.as_deref(), TOLERANCE)?;
        let demands = shared.system.streams.iter().map(|stream| stream.demand).collect();
        let (rates, fairness, parts) = (solution.rates, self.fairness, OnceCell::new());
        Ok(Flows { rates, demands, shared, fairness, ln_h, parts })
    }
}

impl Flows {
    pub(crate) fn pressures(&self) -> Pressures<'_> {
        let mut pressures = Pressures::of_lone_users(&self.shared.system);
        let all: Vec<usize> = (0..self.ln_h.len()).collect();
        pressures.put(&all, &self.ln_h);
        pressures
    }

    /// Where a part stands in [`Flows::parts`]; `None` for one that no load uses.
    pub fn position_of(&self, part: Part) -> Option<usize> {
        self.shared.parts.binary_search(&part).ok()
    }

    /// The parts that the loads use, in the order of [`Part`].
    pub fn parts(&self) -> &[UsedPart] {
        self.parts.get_or_init(|| self.used_parts())
    }

    fn used_parts(&self) -> Vec<UsedPart> {
        let pressures = self.pressures();
        let streams = &self.shared.system.streams;
        let none = |&part: &Part| UsedPart { part, filled: 0.0, slows: vec![0.0; streams.len()] };
        let mut parts: Vec<UsedPart> = self.shared.parts.iter().map(none).collect();
        for (index, (stream, rate)) in streams.iter().zip(&self.rates).enumerate() {
            for &(resource, usage) in &stream.usage {
                parts[resource].filled += usage * rate;
            }
            let pushes: Vec<(usize, f64)> = pressures.push_on(index).collect();
            let all: f64 = pushes.iter().map(|(_, push)| push).sum();
            for (resource, push) in pushes.into_iter().filter(|_| all < 0.0) {
                parts[resource].slows[index] = push / all;
            }
        }
        parts
    }
}
