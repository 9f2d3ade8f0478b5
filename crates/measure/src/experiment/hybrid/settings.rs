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

/// Points at which loads are so many tenths of all bytes and the fast memory has so many tenths
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
    use TransferKind::{FastLoad, FastStore, SlowLoad, SlowStore};

    /// t of the kind beside over t of the one that dominates, from the bytes that a setting
    /// moves.
    fn ratio_of_times(point: &PointSetting, b: impl Fn(TransferKind) -> f64) -> f64 {
        let HybridPoint::Pair { dominating, beside } = point.point else { panic!("{point:?}") };
        let bytes = |kind: TransferKind| {
            let (count, pages) = if is_load(kind) {
                (point.loads, point.load_pages)
            } else {
                (point.stores, point.store_pages)
            };
            let fast = pages.map_or(0.0, PageSplit::fast_share);
            let share = if pages_of(kind) == FAST { fast } else { 1.0 - fast };
            f64::from(count) * if pages.is_some() { share } else { 0.0 }
        };
        let other = TransferKind::ALL.into_iter().filter(|&k| k != dominating && k != beside);
        let others: f64 = other.map(bytes).sum();
        assert!(others == 0.0, "{point:?} moves {others} of other kinds");
        bytes(beside) / b(beside) * b(dominating) / bytes(dominating)
    }

    #[test]
    fn pairs_of_knights_landing_by_hand() {
        // denoyelle2019, table 5: 92.0 and 38.1 GB/s.
        let point = pair(FastLoad, SlowLoad, 92.0e9, 38.1e9).unwrap();
        // 38.1 / 92 x (0.85 .. 0.92) = 0.352 .. 0.381: 3 / 8.
        assert_eq!(point.load_pages, Some(PageSplit { fast: 8, slow: 3 }));
        assert_eq!((point.loads, point.stores, point.store_pages), (1, 0, None));
        let point = pair(SlowStore, FastLoad, 30.0e9, 92.0e9).unwrap();
        // Loads for each store: 2.607 .. 2.821.
        assert_eq!((point.loads, point.stores), (8, 3));
        assert_eq!((point.load_pages, point.store_pages), (Some(FAST), Some(SLOW)));
        let point = pair(FastStore, SlowStore, 60.0e9, 30.0e9).unwrap();
        assert_eq!(point.store_pages, Some(PageSplit { fast: 7, slow: 3 }));
        assert_eq!((point.loads, point.stores, point.load_pages), (0, 1, None));
    }

    #[test]
    fn the_second_kind_always_takes_nearly_as_long() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            // 1 to 1000 GB/s, and no two more than a factor of 25 apart.
            let base = 10.0_f64.powf(random.f64() * 1.6);
            let b = [(); 4].map(|()| base * 1e9 * 25.0_f64.powf(random.f64()));
            let of =
                |kind: TransferKind| b[TransferKind::ALL.iter().position(|&k| k == kind).unwrap()];
            for dominating in TransferKind::ALL {
                for beside in TransferKind::ALL.into_iter().filter(|&kind| kind != dominating) {
                    let point = pair(dominating, beside, of(dominating), of(beside)).unwrap();
                    let ratio = ratio_of_times(&point, of);
                    assert!((0.85 - 1e-9..=0.92 + 1e-9).contains(&ratio), "{ratio}: {point:?}");
                    assert!(point.loads <= 32 && point.stores <= 32);
                    for pages in [point.load_pages, point.store_pages].into_iter().flatten() {
                        assert!(pages.fast <= 255 && pages.slow <= 255);
                    }
                }
            }
        }
    }

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

    #[test]
    fn corners_move_one_kind() {
        let point = corner(SlowStore);
        assert_eq!((point.loads, point.stores), (0, 1));
        assert_eq!((point.load_pages, point.store_pages), (None, Some(SLOW)));
        assert_eq!(corner(FastLoad).load_pages, Some(FAST));
    }
}
