//! The roof of a program that uses a fast and a slow memory at once: in place of the local and
//! remote roofs of either (denoyelle2019, section 6).

use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, FlopsPerSecond};
use serde::Serialize;

use super::chart::{Chart, LEAST_RESOLUTION};
use super::conclusions::ProgramPoint;
use crate::hybrid::{Hybrid, HybridShares};

/// What of its bytes a program loads, and has in the fast memory, with the model of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramShares<'a> {
    /// The record's hybrid model.
    pub hybrid: &'a Hybrid,
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Shares of the bytes in the fast memory.
    pub fast_shares: &'a [f64],
}

/// The roof of one program over two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridRoof {
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    /// Share of the program's bytes in the fast memory.
    pub fast_share: f64,
    /// What the hybrid model gives; null where an overlap that it needs is not known. Without an
    /// interval where the record does not tell how sure the model is.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Option<Estimate<BytesPerSecond>>,
    /// The lowest and the highest by the kinds of transfer that may take longest, which the interval
    /// holds; null as above.
    #[serde(rename = "range_gb_per_s")]
    pub range: Option<[BytesPerSecond; 2]>,
    /// What is attainable below it and the ceiling; null as above.
    #[serde(rename = "attainable_gflop_per_s")]
    pub attainable: Option<FlopsPerSecond>,
    /// What the program reaches / attainable; null where either is not known.
    pub ratio: Option<f64>,
    /// What that says; null where what the program reaches, or the interval, is not known.
    pub standing: Option<HybridStanding>,
    /// The hybrid model's relative RMS on points that it was not fitted to; null without such.
    pub relative_rms: Option<f64>,
}

/// Where a program stands to its roof over two memories. An end of the interval is passed by more
/// than 5 %, or it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
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
    /// The roofs of a program with these shares, for each two memories of the initiator and each share
    /// of the bytes in the fast one.
    pub(super) fn hybrid_roofs(
        &self,
        point: ProgramPoint,
        shares: ProgramShares<'_>,
    ) -> Vec<HybridRoof> {
        let ProgramShares { hybrid, load_share, fast_shares } = shares;
        let of_pair = hybrid.of_initiator(self.initiator).flat_map(|pair| {
            fast_shares.iter().map(move |&fast_share| {
                let predicted = pair.predict(HybridShares::together(load_share, fast_share));
                let bandwidth = predicted.as_ref().map(|it| it.bandwidth.clone());
                let interval = bandwidth.as_ref().and_then(|it| it.interval);
                let interval = interval.map(|[low, high]| (low.0, high.0));
                let attainable =
                    bandwidth.as_ref().map(|it| self.attainable(point.intensity, it.value.0));
                let ratio = attainable.zip(point.flops).map(|(most, flops)| flops.0 / most);
                HybridRoof {
                    fast_node: pair.fast_node,
                    slow_node: pair.slow_node,
                    fast_share,
                    bandwidth,
                    range: predicted.as_ref().map(|it| [it.lowest, it.highest]),
                    attainable: attainable.map(FlopsPerSecond),
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
        let flops = point.flops?.0;
        let ceiling = self.ceiling().map_or(f64::INFINITY, |ceiling| ceiling.flops.value.0);
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
    use super::super::chart::Ceiling;
    use super::super::conclusions::IntensityKind;
    use super::*;

    fn chart() -> Chart {
        let flops = Estimate::computed(100e9, (99e9, 101e9), Vec::new());
        let (kernel, variant) = ("fma_dp".into(), "avx2".into());
        let ceilings = vec![Ceiling { kernel, variant, threads: 7, flops }];
        Chart { ceilings, ..Chart::default() }
    }

    fn point(intensity: f64, flops: Option<f64>) -> ProgramPoint {
        let flops = flops.map(FlopsPerSecond);
        ProgramPoint { kind: IntensityKind::Arithmetic, intensity, flops }
    }

    /// Only what lies outside the whole interval, and by what can be told apart, is above or below.
    #[test]
    fn a_program_is_held_against_both_ends() {
        let stands = |intensity: f64, gb_per_s: f64| {
            let point = point(intensity, Some(intensity * gb_per_s * 1e9));
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
        assert_eq!(chart().stands_below(point(1.0, None), (74e9, 80.5e9)), None);
    }
}
