//! Linear equations.

/// Solves A x = b, A row by row, by elimination with the largest pivot of each column;
/// `None` when A is singular or has a number that is not finite.
pub(crate) fn solve(rows: Vec<Vec<f64>>, right: Vec<f64>) -> Option<Vec<f64>> {
    solve_all(rows, vec![right])?.pop()
}

/// The same for several right sides.
pub(crate) fn solve_all(
    mut rows: Vec<Vec<f64>>,
    mut rights: Vec<Vec<f64>>,
) -> Option<Vec<Vec<f64>>> {
    let count = rows.len();
    for column in 0..count {
        let pivot = (column..count)
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        rights.iter_mut().for_each(|right| right.swap(column, pivot));
        let (above, below) = rows.split_at_mut(column + 1);
        let pivot_row = &above[column];
        if !(pivot_row[column].abs() > 0.0 && pivot_row[column].is_finite()) {
            return None;
        }
        for (offset, row) in below.iter_mut().enumerate() {
            let factor = row[column] / pivot_row[column];
            if factor != 0.0 {
                for (value, pivot) in row[column..].iter_mut().zip(&pivot_row[column..]) {
                    *value -= factor * pivot;
                }
                for right in &mut rights {
                    right[column + 1 + offset] -= factor * right[column];
                }
            }
        }
    }
    for right in &mut rights {
        for column in (0..count).rev() {
            let row = &rows[column];
            let known: f64 =
                row[column + 1..].iter().zip(&right[column + 1..]).map(|(a, x)| a * x).sum();
            right[column] = (right[column] - known) / row[column];
        }
    }
    rights.iter().flatten().all(|value| value.is_finite()).then_some(rights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_multiplied_out_is_found_again() {
        let mut random = fastrand::Rng::with_seed(1);
        for count in 1..12 {
            let mut number = || random.f64() - 0.5;
            let rows: Vec<Vec<f64>> =
                (0..count).map(|_| (0..count).map(|_| number()).collect()).collect();
            let wanted: Vec<f64> = (0..count).map(|_| number()).collect();
            let product = |row: &Vec<f64>| row.iter().zip(&wanted).map(|(a, x)| a * x).sum();
            let right = rows.iter().map(product).collect();
            for (found, wanted) in solve(rows, right).unwrap().iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-9, "{found} and {wanted}");
            }
        }
    }

    #[test]
    fn what_has_no_one_solution_is_refused() {
        assert_eq!(solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 1.0]), None);
        assert_eq!(solve(vec![vec![f64::NAN]], vec![1.0]), None);
        // A zero on the diagonal is no obstacle.
        let swapped = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        assert_eq!(solve(swapped, vec![2.0, 3.0]), Some(vec![3.0, 2.0]));
    }
}
