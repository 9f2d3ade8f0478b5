//! The law of a family of curves: time of an access beside traffic of any read share.
//!
//! ```text
//! t(b, r) = t0 (1 + k(r) u^p / (1 - u))        u = b / B(r)
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | b, r | traffic that crosses to the memory, and the share of reads in it | bytes/s, 1 |
//! | t0 | time of an access without traffic | ns |
//! | B(r) | capacity: where the wait would have no end; 1 / B lies on lines between the measured read shares | bytes/s |
//! | k(r) | how long accesses wait; ln k lies on a line from the least to the most read share | 1 |
//! | p | how late the wait begins | 1 |
//!
//! With p = 1 and one read share it is the wait before one server with random arrivals and service
//! times (Kleinrock, Queueing Systems, volume 1, 1975, section 3.2). Exponent and read share are ours.
//! Least squares of the logarithms of the times, less of those far off. Curves that end before they
//! bend leave B and k open: expectations that weigh little keep them where such curves lie.
//! Holds when: accesses wait mostly for one part, the memory's controller or a link.
//! Fails when: traffic falls again while the wait grows, as past the knee of some devices.

use nearfar_stats::{FitRule, Loss, fit};

/// An access beside traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadedAccess {
    /// Reads / all bytes that cross.
    pub read_share: f64,
    /// Bytes/s; 0 without traffic, where the read share does not count.
    pub traffic: f64,
    pub ns: f64,
}

/// The fitted law.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyLaw {
    /// t0.
    pub idle_ns: f64,
    /// p.
    pub exponent: f64,
    /// By ascending read share, at least one.
    pub shares: Vec<ShareLaw>,
}

/// The law at a read share that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareLaw {
    pub read_share: f64,
    /// The most traffic that was measured, bytes/s.
    pub most_traffic: f64,
    /// B, bytes/s.
    pub capacity: f64,
    /// k.
    pub wait: f64,
}

/// What a time of the law is by nature off by where it holds, a fraction: below it points are not
/// followed. Ours: families of servers lie within 1 to 2 % of it.
const MISFIT: f64 = 0.015;
/// Residuals beyond this multiple of it weigh less.
const FAR: f64 = 2.5;
/// Expected capacity / the most traffic - 1, and the standard deviation of its logarithm.
const HEADROOM: (f64, f64) = (0.15, 2.0);
/// Standard deviation of ln p, which is expected to be 0.
const EXPONENT_ERROR: f64 = 1.0;
/// Standard deviation of ln(k of the least read share / k of the most).
const WAIT_ERROR: f64 = 1.0;
/// What a step must gain: far below what a time is off by.
const TOLERANCE: f64 = 1e-7;
/// Read shares that differ by less are one.
pub(super) const SAME_SHARE: f64 = 0.01;
/// Parameters are logarithms; beyond this one is no number of a machine.
const LARGEST: f64 = 20.0;

/// The law through these points, of which one must have traffic. From the parameters of another it
/// is found sooner. `None` where no parameters make sense.
pub fn fit_law(points: &[LoadedAccess], like: Option<&LatencyLaw>) -> Option<LatencyLaw> {
    let form = Form::of(points)?;
    let residuals = |at: &[f64]| form.residuals(at, points);
    let rule = FitRule {
        loss: Loss::SoftL1(FAR),
        longest_step: 1.0,
        tolerance: TOLERANCE,
        ..FitRule::default()
    };
    let starts = match like {
        Some(law) => vec![form.parameters(law)],
        None => form.starts(),
    };
    let fits = starts.iter().filter_map(|start| fit(start, residuals, &rule));
    let best = fits.min_by(|one, other| one.loss.total_cmp(&other.loss))?;
    Some(form.law(&best.parameters))
}

impl LatencyLaw {
    /// Where the wait would have no end, bytes/s; `None` for a read share beyond those measured.
    pub fn capacity(&self, read_share: f64) -> Option<f64> {
        let line = |value: fn(&ShareLaw) -> f64| self.between(read_share, value);
        Some(1.0 / line(|share| 1.0 / share.capacity)?)
    }

    /// The most traffic that was measured, on lines between the read shares.
    pub fn most_traffic(&self, read_share: f64) -> Option<f64> {
        self.between(read_share, |share| share.most_traffic)
    }

    /// Time of an access, ns; `None` for a read share beyond those measured and from the capacity on.
    pub fn time_ns(&self, read_share: f64, traffic: f64) -> Option<f64> {
        let used = traffic / self.capacity(read_share)?;
        let wait = self.between(read_share, |share| share.wait.ln())?.exp();
        let rise = |used: f64| wait * used.powf(self.exponent) / (1.0 - used);
        (0.0..1.0).contains(&used).then(|| self.idle_ns * (1.0 + rise(used)))
    }

    /// The traffic beside which an access takes `rise` times the idle time, bytes/s.
    pub fn traffic_at(&self, read_share: f64, rise: f64) -> Option<f64> {
        let (mut low, mut high) = (0.0, self.capacity(read_share)?);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            let is_below = |ns: f64| ns < rise * self.idle_ns;
            match self.time_ns(read_share, middle).is_some_and(is_below) {
                true => low = middle,
                false => high = middle,
            }
        }
        Some(low)
    }

    /// A value on lines between the read shares, with room for rounding beyond the outermost.
    fn between(&self, read_share: f64, value: impl Fn(&ShareLaw) -> f64) -> Option<f64> {
        let (first, last) = (self.shares.first()?, self.shares.last()?);
        if read_share < first.read_share - SAME_SHARE || read_share > last.read_share + SAME_SHARE {
            return None;
        }
        let above = self.shares.partition_point(|share| share.read_share <= read_share);
        let low = &self.shares[above.saturating_sub(1)];
        let Some(high) = self.shares.get(above).filter(|_| above > 0) else {
            return Some(value(low));
        };
        let part = (read_share - low.read_share) / (high.read_share - low.read_share);
        Some(value(low) + (value(high) - value(low)) * part)
    }
}

/// How parameters make a law: ln t0, ln(B / most traffic - 1) of each read share, ln p, ln k of the
/// least read share and, of several, of the most.
struct Form {
    /// Read shares with their most traffic, ascending.
    shares: Vec<(f64, f64)>,
    idle_ns: f64,
}

impl Form {
    fn of(points: &[LoadedAccess]) -> Option<Self> {
        let mut sorted: Vec<&LoadedAccess> = points.iter().filter(|it| it.traffic > 0.0).collect();
        sorted.sort_by(|one, other| one.read_share.total_cmp(&other.read_share));
        let mut shares: Vec<(f64, f64)> = Vec::new();
        for point in sorted {
            match shares.last_mut() {
                Some((share, most)) if point.read_share - *share < SAME_SHARE => {
                    *most = most.max(point.traffic);
                }
                _ => shares.push((point.read_share, point.traffic)),
            }
        }
        let least = points.iter().min_by(|one, other| one.traffic.total_cmp(&other.traffic))?;
        (!shares.is_empty()).then_some(Self { shares, idle_ns: least.ns })
    }

    fn law(&self, at: &[f64]) -> LatencyLaw {
        let count = self.shares.len();
        let (first, last) = (self.shares[0].0, self.shares[count - 1].0);
        let (low, high) = (at[count + 2], at[at.len() - 1]);
        let shares = self.shares.iter().zip(&at[1..]).map(|(&(read_share, most_traffic), room)| {
            let part = if count > 1 { (read_share - first) / (last - first) } else { 0.0 };
            ShareLaw {
                read_share,
                most_traffic,
                capacity: most_traffic * (1.0 + room.exp()),
                wait: (low + (high - low) * part).exp(),
            }
        });
        let shares = shares.collect();
        LatencyLaw { idle_ns: at[0].exp(), exponent: at[count + 1].exp(), shares }
    }

    /// Of a law of the same read shares.
    fn parameters(&self, law: &LatencyLaw) -> Vec<f64> {
        let room = law.shares.iter().map(|it| (it.capacity / it.most_traffic - 1.0).ln());
        let mut at = vec![law.idle_ns.ln()];
        at.extend(room);
        at.push(law.exponent.ln());
        let ends = [law.shares.first(), law.shares.last().filter(|_| law.shares.len() > 1)];
        at.extend(ends.into_iter().flatten().map(|share| share.wait.ln()));
        at
    }

    /// The most traffic is nearly all of the capacity or most of it; accesses wait little or much, from
    /// the first traffic on or late.
    fn starts(&self) -> Vec<Vec<f64>> {
        let mut starts = Vec::new();
        for room in [0.4_f64, 0.1] {
            for wait in [0.15_f64, 0.5] {
                for exponent in [1.0_f64, 2.5] {
                    let mut at = vec![self.idle_ns.ln()];
                    at.extend(self.shares.iter().map(|_| room.ln()));
                    at.push(exponent.ln());
                    at.extend(self.shares.iter().take(2).map(|_| wait.ln()));
                    starts.push(at);
                }
            }
        }
        starts
    }

    fn residuals(&self, at: &[f64], points: &[LoadedAccess]) -> Option<Vec<f64>> {
        if at.iter().any(|value| value.abs() > LARGEST) {
            return None;
        }
        let law = self.law(at);
        let count = self.shares.len();
        let mut residuals = Vec::with_capacity(points.len() + count + 2);
        for point in points {
            let ns = match point.traffic > 0.0 {
                true => law.time_ns(point.read_share, point.traffic)?,
                false => law.idle_ns,
            };
            residuals.push((ns / point.ns).ln() / MISFIT);
        }
        let (room, room_error) = HEADROOM;
        residuals.extend(at[1..=count].iter().map(|it| (it - room.ln()) / room_error));
        residuals.push(at[count + 1] / EXPONENT_ERROR);
        residuals.push((at[count + 2] - at[at.len() - 1]) / WAIT_ERROR);
        Some(residuals)
    }
}
