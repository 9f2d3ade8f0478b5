//! The sum of integers modulo 2^32; what is counted is bytes of them.

use super::Role::{Input, Output, Scratch};
use super::{Buffer, GROUP, Reference, Setup, Value, Words, fill_with_bits, launch, number, of};
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Groups of the first launch.
const GROUPS: usize = 512;

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let bytes: usize = size.of([1, 8, 32, 64]) << 20;
    let count = bytes / size_of::<u32>();
    let add_up = |groups, from, to, count| {
        launch(c"add_up", (groups, GROUP), &[Value::Of(from), Value::Of(to), number(count)])
    };
    Setup {
        workload: DeviceWorkload::Reduction,
        work: bytes as f64 / 1e9,
        sources: vec![include_str!("reduction.cl").into()],
        needs_double: false,
        buffers: vec![
            Buffer::of::<u32>(Input, "values", count),
            Buffer::of::<u32>(Scratch, "sums", GROUPS),
            Buffer::of::<u32>(Output, "sum", 1),
        ],
        launches: vec![add_up(GROUPS, 0, 1, count), add_up(1, 1, 2, GROUPS)],
        result: Reference {
            fill: |inputs| fill_with_bits(inputs[0], 0),
            expected,
            found: |_, outputs| vec![of::<u32>(outputs[0])[0].into()],
            tolerance: 0.0,
        },
    }
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    vec![of::<u32>(inputs[0]).iter().fold(0, |sum: u32, it| sum.wrapping_add(*it)).into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "width = GROUP / 2", "width = GROUP / 4");
        is_seen(setup, "uint sum = 0", "uint sum = 1");
    }
}
