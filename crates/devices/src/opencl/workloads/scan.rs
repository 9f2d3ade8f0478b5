//! Exclusive prefix sums of integers modulo 2^32; what is counted is bytes of them.

use super::Role::{Input, Output, Scratch};
use super::{
    Buffer, GROUP, GROUP_SCAN, Reference, Setup, Value, Words, counted, fill_with_bits, launch,
    number, of,
};
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Elements of a group's block.
const BLOCK: usize = 2048;

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let bytes: usize = size.of([1, 8, 32, 64]) << 20;
    let count = bytes / size_of::<u32>();
    let blocks = count / BLOCK;
    Setup {
        workload: DeviceWorkload::Scan,
        work: bytes as f64 / 1e9,
        sources: vec![GROUP_SCAN.into(), include_str!("scan.cl").into()],
        needs_double: false,
        buffers: vec![
            Buffer::of::<u32>(Input, "values", count),
            Buffer::of::<u32>(Scratch, "sums", blocks),
            Buffer::of::<u32>(Output, "scanned", count),
        ],
        launches: vec![
            launch(c"block_sums", (blocks, GROUP), &[0, 1].map(Value::Of)),
            launch(c"scan_in_place", (1, GROUP), &[Value::Of(1), number(blocks)]),
            launch(c"scan_blocks", (blocks, GROUP), &[0, 1, 2].map(Value::Of)),
        ],
        result: Reference {
            fill: |inputs| fill_with_bits(inputs[0], 0),
            expected,
            found: |_, outputs| counted(of(outputs[0])).collect(),
            tolerance: 0.0,
        },
    }
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let mut sum = 0_u32;
    let before = of::<u32>(inputs[0]).iter().map(|value| {
        let before = sum;
        sum = sum.wrapping_add(*value);
        f64::from(before)
    });
    before.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "step *= 2", "step *= 4");
        is_seen(setup, "carried = 0", "carried = 1");
        is_seen(setup, "tile += GROUP", "tile += 2 * GROUP");
    }
}
