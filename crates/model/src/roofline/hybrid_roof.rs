//! The roof of a program that uses a fast and a slow memory at once: in place of the local and
//! remote roofs of either (denoyelle2019, section 6).

use super::chart::Chart;
use super::program_point::ProgramPoint;
use crate::hybrid::Hybrid;

/// The roof of one program over two memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridRoof {
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    /// Node of the other.
    pub slow_node: u32,
    /// Share of the program's bytes in the fast memory.
    pub fast_share: f64,
    /// Useful bytes/s that the hybrid model gives; `None` where an overlap that it needs is not
    /// known.
    pub bandwidth: Option<f64>,
    /// FLOP/s attainable below it and the ceiling; `None` as above.
    pub attainable: Option<f64>,
    /// What the program reaches / attainable; `None` where either is not known.
    pub ratio: Option<f64>,
    /// The hybrid model's relative RMS on points that it was not fitted to; `None` without such.
    pub relative_rms: Option<f64>,
}

impl Chart {
    /// The roofs of a program with this share of loads in its bytes, for each two memories of the
    /// cluster and each share of the bytes in the fast one.
    #[must_use]
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
                let bandwidth = pair.bandwidth(load_share, fast_share);
                let attainable = bandwidth.map(|it| self.attainable(point.intensity, it));
                let ratio = attainable.zip(point.flops).map(|(most, flops)| flops / most);
                HybridRoof {
                    fast_node: pair.fast_node,
                    slow_node: pair.slow_node,
                    fast_share,
                    bandwidth,
                    attainable,
                    ratio: ratio.filter(|ratio| ratio.is_finite()),
                    relative_rms: pair.relative_rms(),
                }
            })
        });
        of_pair.collect()
    }
}
