//! The other reading of the rule: noise widens a class while classes are formed, instead
//! of merging them afterwards. Kept for the comparison in `docs/models/classes.md`.

use nearfar_stats::expected_range;

/// The fewest contiguous classes of which each, of m values, spans at most `span` of its
/// maximum and d2(m) `error`; among these the least sum of squares of logarithms. All classes
/// are tried, which takes time with the square of the number of values. Classes
/// as lists of indices, the largest values first.
pub fn partition(values: &[f64], span: f64, error: f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let logs: Vec<f64> = order.iter().map(|&index| -values[index].ln()).collect();
    let width = -(1.0 - span).ln() + 1e-12;
    let mut best = vec![(0, 0.0, 0)];
    for end in 1..=logs.len() {
        let mut chosen = (usize::MAX, f64::INFINITY, 0);
        for begin in 0..end {
            let class = &logs[begin..end];
            let allowed = width + error * expected_range(class.len());
            if logs[end - 1] - logs[begin] > allowed {
                continue;
            }
            let mean = class.iter().sum::<f64>() / class.len() as f64;
            let squares: f64 = class.iter().map(|log| (log - mean).powi(2)).sum();
            let (classes, above, _): (usize, f64, usize) = best[begin];
            let candidate = (classes + 1, above + squares, begin);
            if (candidate.0, candidate.1) < (chosen.0, chosen.1) {
                chosen = candidate;
            }
        }
        best.push(chosen);
    }
    let mut parts = Vec::new();
    let mut end = logs.len();
    while end > 0 {
        let begin = best[end].2;
        parts.push(order[begin..end].to_vec());
        end = begin;
    }
    parts.reverse();
    parts
}
