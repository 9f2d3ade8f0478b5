//! A sparse matrix by rows times a vector: 2 floating-point operations for each number that is not
//! zero, one in a hundred.

use bytemuck::cast_slice_mut;

use super::Role::{Input, Output};
use super::{
    Buffer, Reference, Setup, Value, Words, fill_with_singles, index, launch, of, widened,
};
use crate::content::fill_with_pattern;
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Items of a group, which computes a row.
const GROUP: usize = 32;

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let rows: usize = size.of([1024, 8192, 12288, 16384]);
    // An even number: arrays are whole words of 8 bytes.
    let numbers = rows * rows / 200 * 2;
    Setup {
        workload: DeviceWorkload::Spmv,
        work: 2.0 * numbers as f64 / 1e9,
        sources: vec![include_str!("spmv.cl").into()],
        needs_double: false,
        buffers: vec![
            Buffer::of::<f32>(Input, "values", numbers),
            Buffer::of::<u32>(Input, "columns", numbers),
            Buffer::of::<u32>(Input, "starts", rows + 1),
            Buffer::of::<f32>(Input, "vector", rows),
            Buffer::of::<f32>(Output, "product", rows),
        ],
        launches: vec![launch(c"spmv", (rows, GROUP), &[0, 1, 2, 3, 4].map(Value::Of))],
        result: Reference {
            fill,
            expected,
            found: |_, outputs| widened(outputs[0]),
            tolerance: 1e-5,
        },
    }
}

fn fill(inputs: &mut [&mut [u64]]) {
    let [values, columns, starts, vector] = inputs else { unreachable!("four inputs") };
    fill_with_singles(values, 0);
    fill_with_singles(vector, 1);
    let columns = cast_slice_mut::<u64, u32>(columns);
    let (rows, numbers) = (2 * vector.len(), columns.len());
    let mut chance = vec![0; numbers];
    fill_with_pattern(&mut chance, 2 << 40);
    let start = |row: usize| row * numbers / rows;
    for (row, at) in cast_slice_mut::<u64, u32>(starts).iter_mut().enumerate() {
        // Behind the end of the last row one more makes a whole word.
        *at = index(start(row.min(rows)));
    }
    for row in 0..rows {
        let there = start(row)..start(row + 1);
        let count = there.len();
        // The row is cut into `count` parts, one column by chance of each: in order, and none twice.
        for (k, at) in there.enumerate() {
            let (begin, end) = (k * rows / count, (k + 1) * rows / count);
            columns[at] = index(begin + (chance[at] >> 32) as usize % (end - begin));
        }
    }
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let (values, columns) = (of::<f32>(inputs[0]), of::<u32>(inputs[1]));
    let (starts, vector) = (of::<u32>(inputs[2]), of::<f32>(inputs[3]));
    let row = |row: &[u32]| {
        let there = row[0] as usize..row[1] as usize;
        let term = |at| f64::from(values[at]) * f64::from(vector[columns[at] as usize]);
        there.map(term).sum()
    };
    starts[..=vector.len()].windows(2).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    #[test]
    fn a_matrix_has_one_number_in_a_hundred_of_each_row_and_no_column_twice() {
        for size in ProblemSize::ALL {
            let setup = setup(size);
            let mut inputs: Vec<Vec<u64>> =
                setup.buffers[..4].iter().map(|it| vec![0; it.bytes / 8]).collect();
            fill(&mut inputs.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
            let (columns, starts) = (of::<u32>(&inputs[1]), of::<u32>(&inputs[2]));
            let rows = inputs[3].len() * 2;
            assert_eq!(starts[rows] as usize, columns.len());
            for row in starts[..=rows].windows(2) {
                let there = &columns[row[0] as usize..row[1] as usize];
                assert!(there.len().abs_diff(rows / 100) <= 1);
                assert!(there.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(there.last().is_some_and(|&last| (last as usize) < rows));
            }
        }
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "width = GROUP / 2", "width = GROUP / 8");
        is_seen(setup, "sum = 0.0f", "sum = 0.001f");
    }
}
