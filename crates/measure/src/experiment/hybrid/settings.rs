//! How loads, stores and pages are shared out at each point.
//!
//! Kinds of transfer are lf, sf, ls, ss: loads and stores, fast and slow. A kind that moves q bytes
//! at its own bandwidth b takes t = q / b; the kind with the largest t dominates, and what is
//! searched is the share of the others' t that is not hidden behind it (denoyelle2019,
//! equation 5).

use nearfar_record::{HybridPoint, PageSplit, TransferKind};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PointSetting {
    pub point: HybridPoint,
    /// Loads for each `stores`.
    pub loads: u32,
    pub stores: u32,
    /// Pages of the array that is read, where one is.
    pub load_pages: Option<PageSplit>,
    /// Pages of the array that is written, where one is.
    pub store_pages: Option<PageSplit>,
}

const FAST: PageSplit = PageSplit { fast: 1, slow: 0 };
const SLOW: PageSplit = PageSplit { fast: 0, slow: 1 };

/// Of two kinds the one beside takes so much of the time of the one that dominates. Nearer to
/// 1 an error in b would exchange them; farther away their overlap would hardly show (a simulation
/// of the fit: 0.85 to 0.92 are equivalent, 0.95 leaves thetas unidentified).
const NEARLY_AS_LONG: (f64, f64) = (0.85, 0.92);

/// Most loads and stores of a step: a loop of few stays short.
const MOST_ACCESSES: u32 = 32;

/// The kernel's largest weight of a node.
const MOST_PAGES: u32 = 255;

fn is_load(kind: TransferKind) -> bool {
    matches!(kind, TransferKind::FastLoad | TransferKind::SlowLoad)
}

/// All pages in the memory of a kind.
fn pages_of(kind: TransferKind) -> PageSplit {
    match kind {
        TransferKind::FastLoad | TransferKind::FastStore => FAST,
        TransferKind::SlowLoad | TransferKind::SlowStore => SLOW,
    }
}

/// One kind alone.
pub(super) fn corner(of: TransferKind) -> PointSetting {
    let (load, pages) = (is_load(of), pages_of(of));
    PointSetting {
        point: HybridPoint::Corner { of },
        loads: u32::from(load),
        stores: u32::from(!load),
        load_pages: load.then_some(pages),
        store_pages: (!load).then_some(pages),
    }
}

/// Two kinds of these bandwidths alone, bytes/s, such that the second takes nearly as long as the
/// first and all others nothing. `None` where no small numbers have that ratio.
pub(super) fn pair(
    dominating: TransferKind,
    beside: TransferKind,
    b_dominating: f64,
    b_beside: f64,
) -> Option<PointSetting> {
    // t_beside / t_dominating = (q_beside / b_beside) / (q_dominating / b_dominating)
    let per_time = b_beside / b_dominating;
    let (low, high) = (NEARLY_AS_LONG.0 * per_time, NEARLY_AS_LONG.1 * per_time);
    let point = HybridPoint::Pair { dominating, beside };
    if is_load(dominating) == is_load(beside) {
        // One array, its pages in both memories.
        let (of_beside, of_dominating) = ratio_within(low, high, MOST_PAGES)?;
        let pages = if pages_of(dominating) == FAST {
            PageSplit { fast: of_dominating, slow: of_beside }
        } else {
            PageSplit { fast: of_beside, slow: of_dominating }
        };
        let load = is_load(dominating);
        return Some(PointSetting {
            point,
            loads: u32::from(load),
            stores: u32::from(!load),
            load_pages: load.then_some(pages),
            store_pages: (!load).then_some(pages),
        });
    }
    // Two arrays, each in one memory.
    let (of_beside, of_dominating) = ratio_within(low, high, MOST_ACCESSES)?;
    let (read, written) = (pages_of(dominating), pages_of(beside));
    Some(if is_load(dominating) {
        PointSetting {
            point,
            loads: of_dominating,
            stores: of_beside,
            load_pages: Some(read),
            store_pages: Some(written),
        }
    } else {
        PointSetting {
            point,
            loads: of_beside,
            stores: of_dominating,
            load_pages: Some(written),
            store_pages: Some(read),
        }
    })
}

/// Two numbers from 1 to `most` whose ratio is from `low` to `high`: those with the smallest
/// sum, so that loops and turns of pages are short; of several the one in the middle.
fn ratio_within(low: f64, high: f64, most: u32) -> Option<(u32, u32)> {
    let middle = f64::midpoint(low, high);
    let off = |&(above, below): &(u32, u32)| (f64::from(above) / f64::from(below) - middle).abs();
    (2..=2 * most).find_map(|sum| {
        let parts = (1..sum).map(|above| (above, sum - above));
        parts
            .filter(|&(above, below)| above.max(below) <= most)
            .filter(|&(above, below)| {
                let ratio = f64::from(above) / f64::from(below);
                low <= ratio && ratio <= high
            })
            .min_by(|one, two| off(one).total_cmp(&off(two)))
    })
}

/// Points at which loads are this many tenths of all bytes and the fast memory has this many tenths
/// of both arrays: all of an 11 x 11 grid but the corners, or six off its edges.
pub(super) fn surface(all: bool) -> Vec<PointSetting> {
    let (loads, fast): (Vec<u32>, Vec<u32>) =
        if all { ((0..=10).collect(), (0..=10).collect()) } else { (vec![2, 5, 8], vec![3, 7]) };
    let is_edge = |tenths: u32| tenths == 0 || tenths == 10;
    let cells = loads.iter().flat_map(|&loads| fast.iter().map(move |&fast| (loads, fast)));
    cells
        .filter(|&(loads, fast)| !(is_edge(loads) && is_edge(fast)))
        .map(|(loads, fast)| {
            let pages = of_tenths(fast);
            let pages = PageSplit { fast: pages.0, slow: pages.1 };
            let (loads, stores) = of_tenths(loads);
            PointSetting {
                point: HybridPoint::Surface,
                loads,
                stores,
                load_pages: (loads > 0).then_some(pages),
                store_pages: (stores > 0).then_some(pages),
            }
        })
        .collect()
}

/// So many tenths and the rest, in the smallest numbers.
fn of_tenths(tenths: u32) -> (u32, u32) {
    let divides = |divisor: &u32| tenths.is_multiple_of(*divisor);
    let divisor = [10, 5, 2].into_iter().find(divides).unwrap_or(1);
    (tenths / divisor, (10 - tenths) / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TransferKind::{FastLoad, SlowLoad, SlowStore};

    #[test]
    fn bandwidths_too_far_apart_have_no_pair() {
        assert!(pair(FastLoad, SlowStore, 100e9, 1e9).is_none());
        assert!(pair(FastLoad, SlowLoad, 100e9, 1e9).is_some());
        for b in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(pair(FastLoad, SlowLoad, 1.0, b).is_none(), "{b}");
            assert!(pair(FastLoad, SlowLoad, b, 1.0).is_none(), "{b}");
        }
    }

    #[test]
    fn the_surface_has_all_cells_but_the_corners() {
        let all = surface(true);
        assert_eq!(all.len(), 117);
        for (position, point) in all.iter().enumerate() {
            assert!(!all[..position].contains(point), "{point:?} twice");
        }
        let few = surface(false);
        assert_eq!(few.len(), 6);
        assert!(few.iter().all(|point| all.contains(point)));
        assert!(few.iter().all(|point| point.loads > 0 && point.stores > 0));
        assert_eq!((few[0].loads, few[0].stores), (1, 4));
        assert_eq!(few[0].load_pages, Some(PageSplit { fast: 3, slow: 7 }));
    }
}
