//! The roof of a program that uses a fast and a slow memory at once: in place of the local and
//! remote roofs of either (denoyelle2019, section 6).

use super::chart::{Chart, LEAST_RESOLUTION};
use super::program_point::ProgramPoint;
use crate::hybrid::{Hybrid, HybridShares};

/// The roof of one program over two memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridRoof {
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    /// Share of the program's bytes in the fast memory.
    pub fast_share: f64,
    /// Useful bytes/s that the hybrid model gives; `None` where an overlap that it needs is not
    /// known.
    pub bandwidth: Option<f64>,
    /// Useful bytes/s: the lowest and the highest by the kinds of transfer that may take longest;
    /// `None` as above.
    pub range: Option<(f64, f64)>,
    /// The 95 % interval of the hybrid model, useful bytes/s, which holds `range`; `None` as above,
    /// or where the record does not tell how sure the model is.
    pub interval: Option<(f64, f64)>,
    /// FLOP/s attainable below it and the ceiling; `None` as `bandwidth`.
    pub attainable: Option<f64>,
    /// What the program reaches / attainable; `None` where either is not known.
    pub ratio: Option<f64>,
    /// What that says; `None` where what the program reaches, or `interval`, is not known.
    pub standing: Option<HybridStanding>,
    /// The hybrid model's relative RMS on points that it was not fitted to; `None` without such.
    pub relative_rms: Option<f64>,
}

/// Where a program stands to its roof over two memories. An end of the interval is passed by more
/// than 5 %, or it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HybridStanding {
    /// Above the high end: the roof is not this program's.
    Above,
    /// Within the interval, where these memories limit.
    AtMemories,
    /// Within the interval, and the ceiling is so too: memories or arithmetic limit.
    AtRidge,
    /// At the ceiling, which lies below the whole interval: arithmetic limits.
    AtCeiling,
    /// Below the low end: these memories do not limit.
    Below,
}

impl Chart {
    /// The roofs of a program with this share of loads in its bytes, for each two memories of the
    /// cluster and each share of the bytes in the fast one.
    pub fn hybrid_roofs(
        &self,
        hybrid: &Hybrid,
        point: ProgramPoint,
        load_share: f64,
        fast_shares: &[f64],
    ) -> Vec<HybridRoof> {
        let pairs = hybrid.of_cluster(self.cluster);
        let of_pair = pairs.flat_map(|pair| {
            fast_shares.iter().map(move |&fast_share| {
                let foretold = pair.predict(HybridShares::together(load_share, fast_share));
                let bandwidth = foretold.as_ref().map(|it| it.bandwidth.value.0);
                let interval = foretold.as_ref().and_then(|it| it.bandwidth.interval);
                let interval = interval.map(|[low, high]| (low.0, high.0));
                let attainable = bandwidth.map(|it| self.attainable(point.intensity, it));
                let ratio = attainable.zip(point.flops).map(|(most, flops)| flops / most);
                HybridRoof {
                    fast_node: pair.fast_node,
                    slow_node: pair.slow_node,
                    fast_share,
                    bandwidth,
                    range: foretold.as_ref().map(|it| (it.lowest.0, it.highest.0)),
                    interval,
                    attainable,
                    ratio: ratio.filter(|ratio| ratio.is_finite()),
                    standing: interval.and_then(|interval| self.stands_below(point, interval)),
                    relative_rms: pair.relative_rms(),
                }
            })
        });
        of_pair.collect()
    }

    /// Where a program stands to a roof that is known within an interval, useful bytes/s; `None`
    /// where what it reaches is not known.
    fn stands_below(&self, point: ProgramPoint, (low, high): (f64, f64)) -> Option<HybridStanding> {
        let flops = point.flops?;
        let ceiling = self.ceiling().map_or(f64::INFINITY, |ceiling| ceiling.flops.median);
        let attainable = |bandwidth| self.attainable(point.intensity, bandwidth);
        Some(if flops > attainable(high) * (1.0 + LEAST_RESOLUTION) {
            HybridStanding::Above
        } else if flops < attainable(low) * (1.0 - LEAST_RESOLUTION) {
            HybridStanding::Below
        } else if point.intensity * low >= ceiling {
            HybridStanding::AtCeiling
        } else if point.intensity * high >= ceiling {
            HybridStanding::AtRidge
        } else {
            HybridStanding::AtMemories
        })
    }
}

#[cfg(test)]
mod tests {
    use nearfar_machine::CpuSet;
    use nearfar_stats::Estimate;

    use super::super::chart::Ceiling;
    use super::*;

    fn chart() -> Chart {
        let flops = Estimate { median: 100e9, interval: (99e9, 101e9), confidence: 0.95, count: 6 };
        let (kernel, variant) = ("fma_dp".into(), "avx2".into());
        Chart {
            cluster: 0,
            cpus: CpuSet::new(),
            cpu_node: None,
            ceilings: vec![Ceiling { kernel, variant, threads: 7, flops }],
            roofs: Vec::new(),
            within_of: None,
            validations: Vec::new(),
        }
    }

    /// Only what lies outside the whole interval, and by what can be told apart, is above or below.
    #[test]
    fn a_program_is_held_against_both_ends() {
        let stands = |intensity: f64, gb_per_s: f64| {
            let point = ProgramPoint { intensity, flops: Some(intensity * gb_per_s * 1e9) };
            chart().stands_below(point, (74e9, 80.5e9)).unwrap()
        };
        // 94 and 106 % of the ends, and a little nearer.
        assert_eq!(stands(0.125, 74.0 * 0.94), HybridStanding::Below);
        assert_eq!(stands(0.125, 74.0 * 0.96), HybridStanding::AtMemories);
        assert_eq!(stands(0.125, 80.5 * 1.04), HybridStanding::AtMemories);
        assert_eq!(stands(0.125, 80.5 * 1.06), HybridStanding::Above);
        // The ceiling of 100 GFLOP/s: beside the interval, in it, below it.
        assert_eq!(stands(1.2, 78.0), HybridStanding::AtMemories);
        assert_eq!(stands(1.3, 75.0), HybridStanding::AtRidge);
        assert_eq!(stands(2.0, 50.0), HybridStanding::AtCeiling);
        assert_eq!(stands(2.0, 45.0), HybridStanding::Below);
        let unknown = ProgramPoint { intensity: 1.0, flops: None };
        assert_eq!(chart().stands_below(unknown, (74e9, 80.5e9)), None);
    }
}
