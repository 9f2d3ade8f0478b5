//! What threads ask of a memory node by their number, where that is not so many times
//! what one asks.

/// Demand of the threads of an initiator on a node, by their number. Between the numbers
/// that it holds it is interpolated linearly; beyond the last it stays.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandCurve {
    /// The initiator's index.
    pub initiator: u32,
    /// The memory node's number.
    pub node: u32,
    /// Threads, ascending from 1, and what they ask for together, bytes/s.
    pub demand: Vec<(u32, f64)>,
}

impl DemandCurve {
    /// Initiator and node.
    pub(crate) fn place(&self) -> (u32, u32) {
        (self.initiator, self.node)
    }

    pub(crate) fn rates(&self) -> impl Iterator<Item = f64> {
        self.demand.iter().map(|&(_, rate)| rate)
    }

    /// Whether it begins at one thread and goes upwards.
    pub(crate) fn is_ordered(&self) -> bool {
        self.demand.first().is_some_and(|&(threads, _)| threads == 1)
            && self.demand.is_sorted_by(|before, after| before.0 < after.0)
    }

    /// What one of so many threads asks for, bytes/s.
    pub(crate) fn of_one(&self, threads: f64) -> f64 {
        let threads = threads.max(1.0);
        let after = self.demand.partition_point(|&(known, _)| f64::from(known) <= threads);
        let together = match (self.demand.get(after.wrapping_sub(1)), self.demand.get(after)) {
            (Some(&(from, low)), Some(&(to, high))) => {
                let part = (threads - f64::from(from)) / (f64::from(to) - f64::from(from));
                low + part * (high - low)
            }
            (Some(&(_, last)), None) => last,
            (None, next) => next.map_or(f64::NAN, |&(_, first)| first * threads),
        };
        together / threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_its_points_and_what_lies_between() {
        let demand = vec![(1, 8.0), (3, 12.0), (4, 10.0)];
        let curve = DemandCurve { initiator: 0, node: 0, demand };
        for (threads, together) in [
            (0.25, 2.0),
            (1.0, 8.0),
            (2.0, 10.0),
            (3.0, 12.0),
            (3.5, 11.0),
            (4.0, 10.0),
            (9.0, 10.0),
        ] {
            let ours = curve.of_one(threads) * threads;
            assert!((ours - together).abs() < 1e-12, "{threads}: {ours}");
        }
        assert!(curve.is_ordered());
        assert!(!DemandCurve { demand: vec![(2, 1.0)], ..curve.clone() }.is_ordered());
        assert!(!DemandCurve { demand: vec![(1, 1.0), (1, 1.0)], ..curve }.is_ordered());
    }
}
