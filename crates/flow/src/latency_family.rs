//! How long an access takes beside traffic, as points of a measured family of curves.
//!
//! A family has a curve for each read share, latency over the traffic that crosses to the memory.
//! Between the points of a curve latency lies on a line, and beyond the last it stays. Between the
//! curves of two read shares it lies on a line as well, taken at traffic that is the same part of
//! the most of each, because families end at different traffic; beyond the outermost shares it stays.

use std::collections::BTreeMap;

use nearfar_machine::Machine;

use crate::bounds::{self, BadKey, FRACTION, GIGA};
use crate::latency::NANOSECONDS;
use crate::machine_file::MachineFile;
use crate::pair_selection::{Pair, Pairs};

/// Above the traffic of any memory, GB/s.
const MOST_TRAFFIC: f64 = 1e5;

/// The curves of a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyFamily {
    /// By ascending read share.
    pub curves: Vec<FamilyCurve>,
}

/// Latency over traffic of one read share.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyCurve {
    /// Reads / all bytes that cross, 0 to 1.
    pub read_share: f64,
    /// Traffic in bytes/s and latency in ns, by ascending traffic, the first without any (where the file
    /// gives none without, it is the latency of the family's least traffic).
    pub points: Vec<(f64, f64)>,
}

impl FamilyCurve {
    /// The most traffic of its points, bytes/s.
    pub fn most_traffic(&self) -> f64 {
        self.points.last().map_or(0.0, |&(traffic, _)| traffic)
    }

    fn ns(&self, traffic: f64) -> f64 {
        let after = self.points.partition_point(|&(at, _)| at <= traffic);
        match (self.points[..after].last(), self.points.get(after)) {
            (Some(&(from, low)), Some(&(to, high))) => {
                low + (high - low) * (traffic - from) / (to - from)
            }
            (Some(&(_, last)), None) => last,
            (None, _) => self.points.first().map_or(f64::NAN, |&(_, ns)| ns),
        }
    }
}

impl LatencyFamily {
    /// What an access takes without traffic, ns: the mean over the curves.
    pub fn idle_ns(&self) -> f64 {
        let idle = self.curves.iter().map(|curve| curve.ns(0.0));
        idle.sum::<f64>() / self.curves.len() as f64
    }

    /// What an access takes beside traffic of a read share, bytes/s, in ns.
    pub fn ns(&self, read_share: f64, traffic: f64) -> f64 {
        let above = self.curves.partition_point(|curve| curve.read_share <= read_share);
        let (below, above) = (above.saturating_sub(1), above.min(self.curves.len() - 1));
        let (low, high) = (&self.curves[below], &self.curves[above]);
        let part = match high.read_share - low.read_share {
            span if span > 0.0 => ((read_share - low.read_share) / span).clamp(0.0, 1.0),
            _ => 0.0,
        };
        let between = |one: f64, other: f64| one + (other - one) * part;
        let used = traffic / between(low.most_traffic(), high.most_traffic());
        between(low.ns(used * low.most_traffic()), high.ns(used * high.most_traffic()))
    }
}

/// What the entries say of each pair, by initiator and memory node; the later prevails.
pub(crate) fn families(
    file: &MachineFile,
    machine: &Machine,
    pairs: &Pairs,
) -> Result<Vec<Vec<Option<LatencyFamily>>>, BadKey> {
    let mut found = vec![vec![None; machine.nodes.len()]; machine.initiators().len()];
    for (key, entry) in bounds::entries("curve", &file.curve)? {
        let family = family(&key, &entry.points)?;
        for pair in pairs.selected(&key, Some(&entry.pairs), None, None, None)? {
            let Pair { row, column, .. } = pairs.all[pair];
            found[row][column] = Some(family.clone());
        }
    }
    Ok(found)
}

fn family(key: &str, points: &[[f64; 3]]) -> Result<LatencyFamily, BadKey> {
    let key = format!("{key}.points");
    bounds::at_most(&key, points.len(), bounds::MOST_ENTRIES)?;
    // A share that is not negative sorts as its bits do.
    let mut by_share: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for &[share, gb_per_s, ns] in points {
        let share = bounds::number(&key, share, &FRACTION)?.abs();
        let traffic = bounds::number(&key, gb_per_s, &(0.0..=MOST_TRAFFIC))? * GIGA;
        let ns = bounds::number(&key, ns, &NANOSECONDS)?;
        by_share.entry(share.to_bits()).or_default().push((traffic, ns));
    }
    let least = by_share.values().flatten().copied();
    let Some((_, idle)) = least.min_by(|one, other| one.0.total_cmp(&other.0)) else {
        return Err(BadKey::new(key, "is empty; it has [read share, GB/s, ns]"));
    };
    let curve = |(share, mut points): (u64, Vec<(f64, f64)>)| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        if points[0].0 > 0.0 {
            points.insert(0, (0.0, idle));
        }
        let read_share = f64::from_bits(share);
        if points.len() == 1 || points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            let why = format!(
                "needs traffic above 0 with the read share {read_share}, each amount of it once"
            );
            return Err(BadKey::new(&key, why));
        }
        Ok(FamilyCurve { read_share, points })
    };
    Ok(LatencyFamily { curves: by_share.into_iter().map(curve).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_curves() -> LatencyFamily {
        let points = [
            [0.5, 0.0, 100.0],
            [1.0, 0.0, 104.0],
            [0.5, 50.0, 150.0],
            [0.5, 80.0, 300.0],
            [1.0, 100.0, 140.0],
            [1.0, 160.0, 260.0],
        ];
        family("curve[0]", &points).unwrap()
    }

    #[test]
    fn its_points_are_given_back_and_lie_on_lines() {
        let family = two_curves();
        for (share, traffic, ns) in [
            (0.5, 0.0, 100.0),
            (1.0, 0.0, 104.0),
            (0.5, 50e9, 150.0),
            (1.0, 130e9, 200.0),
            (1.0, 900e9, 260.0),
            (0.2, 80e9, 300.0),
            // Half of 120 GB/s: between 132 at 40 of 80 and, at 80 of 160, 140.
            (0.75, 60e9, 136.0),
        ] {
            let found = family.ns(share, traffic);
            assert!((found - ns).abs() < 1e-9, "{share} {traffic}: {found}, not {ns}");
        }
        assert!((family.idle_ns() - 102.0).abs() < 1e-9);
    }

    #[test]
    fn curves_without_traffic_and_doubled_points_are_refused() {
        for points in [
            &[][..],
            &[[0.5, 0.0, 100.0]],
            &[[0.5, 1.0, 100.0], [0.5, 1.0, 110.0]],
            &[[1.5, 1.0, 100.0]],
            &[[0.5, -1.0, 100.0]],
            &[[0.5, 1.0, f64::NAN]],
        ] {
            let refused = family("curve[0]", points).unwrap_err();
            assert_eq!(refused.key, "curve[0].points", "{points:?}");
        }
    }
}
