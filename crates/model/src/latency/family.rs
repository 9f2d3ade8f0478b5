//! The curves of a pair together: their law, how sure it is, and what it foretells.

use nearfar_record::{Estimate, Outcome};
use nearfar_stats::{drawn_residuals, percentile_interval};
use nearfar_units::{BytesPerSecond, Nanoseconds, Ratio};
use serde::Serialize;

use super::curve::LoadedCurve;
use super::knee::{LoadedPoint, check_rise, knee, usable};
use super::law::{LatencyLaw, LoadedAccess, SAME_SHARE, fit_law};

/// An initiator on a node beside traffic of any read share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveFamily {
    /// The initiator of the chase and of the threads beside it.
    pub initiator: u32,
    /// The node that all access.
    pub memory_node: u32,
    /// Whether the node is one of the initiator's own.
    pub is_local: bool,
    /// The law of its curves.
    pub law: Outcome<FamilyLaw>,
}

/// The law of a family: ns = idle (1 + k u^p / (1 - u)), u = traffic / capacity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyLaw {
    /// Time of an access without traffic.
    #[serde(rename = "idle_ns")]
    pub idle: Estimate<Nanoseconds>,
    /// p: how late the wait begins.
    pub exponent: Estimate<Ratio>,
    /// By ascending read share. Between them 1 / capacity and ln k lie on lines.
    pub shares: Vec<FamilyShare>,
    /// Root mean square of (the law's time / measured - 1).
    pub error: f64,
    /// The largest of these, without its sign.
    pub worst_error: f64,
    /// Points that it was fitted to, the idle one among them.
    pub points: usize,
    #[serde(skip)]
    fitted: LatencyLaw,
    /// The law of points drawn again, and what one drawn point is off by, a logarithm.
    #[serde(skip)]
    drawn: Vec<(LatencyLaw, f64)>,
    /// What it was fitted to.
    #[serde(skip)]
    measured: Vec<LoadedAccess>,
    #[serde(skip)]
    cases: Vec<String>,
}

/// The law at a read share that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyShare {
    /// Reads / all bytes that cross.
    pub read_share: f64,
    /// The most traffic that was measured.
    #[serde(rename = "most_traffic_gb_per_s")]
    pub most_traffic: BytesPerSecond,
    /// Where the wait would have no end.
    #[serde(rename = "capacity_gb_per_s")]
    pub capacity: Estimate<BytesPerSecond>,
    /// Whether the curve ends before it bends, so that a larger capacity would fit it as well.
    pub is_straight: bool,
    /// k: how long accesses wait.
    pub wait: Estimate<Ratio>,
}

/// A capacity above this many times the most traffic is none: any larger one fits as well.
pub const STRAIGHT: f64 = 2.0;

/// Laws of points drawn again.
const DRAWS: usize = 80;
const SEED: u64 = 1;
/// What points beside a law through a dozen others are off by at least: these can lie on it by themselves.
/// With less, intervals hold half of the points of some published families (`nearfar-reproduce`,
/// `tests/families.rs`).
const LEAST_SCATTER: f64 = 0.02;
/// Between points that differ by more than this factor the law is not all that could be.
const STEEP: f64 = 2.0;
const CONFIDENCE: f64 = 0.95;

impl CurveFamily {
    /// Of the curves of one pair and walk, whose idle times are one; their knees are told by the law.
    pub(super) fn of(curves: &mut [&mut LoadedCurve]) -> Option<Self> {
        let first = curves.first()?;
        let (initiator, memory_node) = (first.initiator, first.memory_node);
        let is_local = first.is_local;
        let law = FamilyLaw::of(curves);
        for curve in curves {
            if let (Ok(law), Some(read_share)) = (&law, &curve.read_share) {
                curve.knee = knee(law, read_share.value.0).into();
                curve.usable = usable(law, read_share.value.0).into();
            } else {
                let why = law.as_ref().err().cloned();
                let why = why.unwrap_or_else(|| "its read share is not known".into());
                curve.knee = Outcome::Unknown { unknown: why.clone() };
                curve.usable = Outcome::Unknown { unknown: why };
            }
        }
        Some(Self { initiator, memory_node, is_local, law: law.into() })
    }
}

impl FamilyLaw {
    fn of(curves: &[&mut LoadedCurve]) -> Result<Self, String> {
        let first = curves.first().ok_or("it has no curves")?;
        let idle = first.idle.as_ref().ok_or("the same access without load has no time")?;
        let measured = curves.iter().filter_map(|curve| {
            let share = curve.read_share.as_ref()?.value.0;
            Some(curve.points.iter().map(move |point| (share, point)))
        });
        let (shares, measured): (Vec<f64>, Vec<&LoadedPoint>) = measured.flatten().unzip();
        check_rise(idle, &measured)?;
        let alone = LoadedAccess { read_share: 1.0, traffic: 0.0, ns: idle.value.0 };
        let loaded = shares.iter().zip(&measured).map(|(&read_share, point)| LoadedAccess {
            read_share,
            traffic: point.traffic.value.0,
            ns: point.time.value.0,
        });
        let points: Vec<LoadedAccess> = std::iter::once(alone).chain(loaded).collect();
        let of_points = measured.iter().flat_map(|point| point.time.cases.iter());
        let cases = idle.cases.iter().chain(of_points).cloned().collect();
        Self::through(&points, cases).ok_or_else(|| "no law fits it".into())
    }

    /// The law through points, the first of which is without traffic.
    pub fn through(points: &[LoadedAccess], cases: Vec<String>) -> Option<Self> {
        let fitted = fit_law(points, None)?;
        let at = |law: &LatencyLaw, point: &LoadedAccess| match point.traffic > 0.0 {
            true => law.time_ns(point.read_share, point.traffic),
            false => Some(law.idle_ns),
        };
        let times: Vec<f64> = points.iter().map(|it| at(&fitted, it)).collect::<Option<_>>()?;
        let off: Vec<f64> =
            times.iter().zip(points).map(|(time, point)| (point.ns / time).ln()).collect();
        // The fit has bent towards the points: what is left is smaller than what they are off by.
        let parameters = 2 + fitted.shares.len() + fitted.shares.len().min(2);
        let free = points.len().saturating_sub(parameters).max(1);
        let shrunk = (points.len() as f64 / free as f64).sqrt();
        let scatter = (off.iter().map(|it| it * it).sum::<f64>() / points.len() as f64).sqrt();
        let enlarged = shrunk.max(LEAST_SCATTER / scatter.max(f64::MIN_POSITIVE));
        let off: Vec<f64> = off.into_iter().map(|it| it * enlarged).collect();
        let redraw = |residuals: Vec<f64>| {
            let moved = points.iter().zip(&times).zip(&residuals);
            let moved: Vec<LoadedAccess> = moved
                .map(|((&point, time), off)| LoadedAccess { ns: time * off.exp(), ..point })
                .collect();
            // One point's scatter, for what a single access of the kind would show.
            Some((fit_law(&moved, Some(&fitted))?, *residuals.first()?))
        };
        let drawn: Vec<(LatencyLaw, f64)> =
            drawn_residuals(&off, DRAWS, SEED).into_iter().filter_map(redraw).collect();
        let errors = || times.iter().zip(points).map(|(time, point)| time / point.ns - 1.0);
        let mut law = Self {
            idle: Estimate::computed(fitted.idle_ns, (0.0, 0.0), Vec::new()),
            exponent: Estimate::computed(fitted.exponent, (0.0, 0.0), Vec::new()),
            shares: Vec::new(),
            error: (errors().map(|it| it * it).sum::<f64>() / points.len() as f64).sqrt(),
            worst_error: errors().map(f64::abs).fold(0.0, f64::max),
            points: points.len(),
            measured: points.into(),
            fitted,
            drawn,
            cases,
        };
        law.idle = law.estimate(|law| Some(law.idle_ns))?;
        law.exponent = law.estimate(|law| Some(law.exponent))?;
        let share = |place: usize| {
            let share = law.fitted.shares[place];
            Some(FamilyShare {
                read_share: share.read_share,
                most_traffic: BytesPerSecond(share.most_traffic),
                capacity: law.estimate(|law| Some(law.shares[place].capacity))?,
                is_straight: share.capacity > STRAIGHT * share.most_traffic,
                wait: law.estimate(|law| Some(law.shares[place].wait))?,
            })
        };
        law.shares = (0..law.fitted.shares.len()).map(share).collect::<Option<_>>()?;
        Some(law)
    }

    /// The most traffic that was measured, on lines between the read shares.
    pub fn most_traffic(&self, read_share: f64) -> Option<BytesPerSecond> {
        self.fitted.most_traffic(read_share).map(BytesPerSecond)
    }

    /// Time of an access beside traffic as the law has it, without its interval; `None` where the law
    /// says nothing of it.
    pub fn expected(&self, read_share: f64, traffic: BytesPerSecond) -> Option<Nanoseconds> {
        self.fitted.time_ns(read_share, traffic.0).map(Nanoseconds)
    }

    /// The law as it was fitted.
    pub fn law(&self) -> &LatencyLaw {
        &self.fitted
    }

    /// The same with capacities for at least these reads, bytes/s, which more threads than those beside
    /// the chase were seen to move.
    pub(crate) fn carrying(mut self, reads: f64) -> Self {
        let capacity = self.fitted.shares.last().map_or(f64::INFINITY, |share| share.capacity);
        let ratio = (reads / capacity).max(1.0);
        let drawn = self.drawn.iter_mut().map(|(law, _)| law);
        for law in std::iter::once(&mut self.fitted).chain(drawn) {
            law.shares.iter_mut().for_each(|share| share.capacity *= ratio);
        }
        self
    }

    /// The laws of points drawn again.
    pub(crate) fn drawn_laws(&self) -> impl Iterator<Item = &LatencyLaw> + Clone {
        self.drawn.iter().map(|(law, _)| law)
    }

    /// What follows from the law, with the interval of the drawn ones; `None` where the law says
    /// nothing of it.
    pub(super) fn estimate<U: nearfar_units::Quantity>(
        &self,
        of: impl Fn(&LatencyLaw) -> Option<f64>,
    ) -> Option<Estimate<U>> {
        let drawn: Vec<f64> = self.drawn.iter().filter_map(|(law, _)| of(law)).collect();
        self.with_interval(of(&self.fitted)?, &drawn)
    }

    fn with_interval<U: nearfar_units::Quantity>(
        &self,
        value: f64,
        drawn: &[f64],
    ) -> Option<Estimate<U>> {
        let interval = percentile_interval(drawn);
        // Of a law whose capacity lies below, accesses take without end.
        let interval = interval.filter(|(_, high)| high.is_finite());
        let interval = interval.map(|(low, high)| [low.min(value), high.max(value)].map(U::from));
        let confidence = interval.is_some().then_some(CONFIDENCE);
        Some(Estimate { value: U::from(value), interval, confidence, cases: self.cases.clone() })
    }

    /// Time of an access beside traffic; the interval is of what would be measured there.
    ///
    /// # Errors
    /// Why the law does not say.
    pub fn time(
        &self,
        read_share: f64,
        traffic: BytesPerSecond,
    ) -> Result<Estimate<Nanoseconds>, String> {
        let Some(capacity) = self.fitted.capacity(read_share) else {
            let shares: Vec<String> =
                self.shares.iter().map(|it| format!("{:.2}", it.read_share)).collect();
            return Err(format!(
                "the read share {read_share} is beyond those that were measured ({})",
                shares.join(", ")
            ));
        };
        let Some(value) = self.fitted.time_ns(read_share, traffic.0) else {
            return Err(format!(
                "{:.1} GB/s are at or above the capacity there, {:.1} GB/s",
                traffic.0 / 1e9,
                capacity / 1e9
            ));
        };
        let drawn: Vec<f64> = self
            .drawn
            .iter()
            .map(|(law, off)| {
                law.time_ns(read_share, traffic.0).map_or(f64::INFINITY, |ns| ns * off.exp())
            })
            .collect();
        let mut time: Estimate<Nanoseconds> =
            self.with_interval(value, &drawn).ok_or("no law fits it")?;
        let steep = self.steep(read_share, traffic.0 / capacity);
        if let (Some([low, high]), Some(steep)) = (&mut time.interval, steep) {
            low.0 = low.0.min(steep.0);
            high.0 = high.0.max(steep.1);
        }
        Ok(time)
    }

    /// Between two points far apart what a curve can take that rises, and ever faster: no less than at the
    /// one before, and no more than on the line between them.
    fn steep(&self, read_share: f64, used: f64) -> Option<(f64, f64)> {
        let below = self.fitted.shares.iter().rev().find(|it| it.read_share <= read_share);
        let above = self.fitted.shares.iter().find(|it| it.read_share >= read_share);
        let is_near = |point: &&LoadedAccess| {
            let mut near =
                below.into_iter().chain(above).map(|it| it.read_share - point.read_share);
            point.traffic == 0.0 || near.any(|off| off.abs() < SAME_SHARE)
        };
        let of_point = |it: &LoadedAccess| {
            let capacity = self.fitted.capacity(it.read_share).filter(|_| it.traffic > 0.0);
            (capacity.map_or(0.0, |capacity| it.traffic / capacity), it.ns)
        };
        let mut near: Vec<_> = self.measured.iter().filter(is_near).map(of_point).collect();
        near.sort_by(|one, other| one.0.total_cmp(&other.0));
        let next = near.partition_point(|(filled, _)| *filled <= used);
        let (before, after) = (near.get(next.checked_sub(1)?)?, near.get(next)?);
        let part = (used - before.0) / (after.0 - before.0);
        (after.1 > STEEP * before.1).then_some((before.1, before.1 + (after.1 - before.1) * part))
    }
}
