//! A stable radix sort of pairs of integers by their keys, 4 bits a pass. What is counted is bytes of
//! keys and values.

use super::Role::{Input, Output, Scratch};
use super::{
    Buffer, GROUP, GROUP_SCAN, Reference, Setup, Value, Words, counted, fill_with_bits, launch,
    number, of,
};
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Bits of a digit, and of a key.
const BITS: u32 = 4;
const KEY: u32 = u32::BITS;
/// Parts, each sorted by a group.
const GROUPS: usize = 1024;

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let bytes: usize = size.of([1, 8, 48, 96]) << 20;
    let pairs = bytes / size_of::<u32>();
    let counts = GROUPS << BITS;
    let buffer = |role, name| Buffer::of::<u32>(role, name, pairs);
    Setup {
        workload: DeviceWorkload::Sort,
        work: 2.0 * bytes as f64 / 1e9,
        sources: vec![GROUP_SCAN.into(), include_str!("sort.cl").into()],
        needs_double: false,
        buffers: vec![
            buffer(Input, "keys"),
            buffer(Input, "values"),
            buffer(Output, "sorted keys"),
            buffer(Output, "sorted values"),
            buffer(Scratch, "keys between"),
            buffer(Scratch, "values between"),
            Buffer::of::<u32>(Scratch, "counts", counts),
        ],
        launches: (0..KEY / BITS).flat_map(|pass| launches(pass, pairs / GROUPS, counts)).collect(),
        result: Reference {
            fill: |inputs| (0..2).for_each(|array| fill_with_bits(inputs[array], array)),
            expected,
            found: |_, outputs| counted(of(outputs[0])).chain(counted(of(outputs[1]))).collect(),
            tolerance: 0.0,
        },
    }
}

/// From the inputs to what lies between, then to the outputs and back again; the last pass, of an even
/// number, ends there.
fn launches(pass: u32, part: usize, counts: usize) -> [super::Launch; 3] {
    let (from, to) = match pass {
        0 => (0, 4),
        odd if odd % 2 == 1 => (4, 2),
        _ => (2, 4),
    };
    let (part, shift) = (number(part), Value::Number(BITS * pass));
    let buffers = [from, from + 1, 6, to, to + 1].map(Value::Of);
    [
        launch(c"count_digits", (GROUPS, GROUP), &[Value::Of(from), Value::Of(6), part, shift]),
        launch(c"scan_in_place", (1, GROUP), &[Value::Of(6), number(counts)]),
        launch(c"scatter", (GROUPS, GROUP), &[&buffers[..], &[part, shift]].concat()),
    ]
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let (keys, values) = (of::<u32>(inputs[0]), of::<u32>(inputs[1]));
    let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by_key(|(key, _)| *key);
    let keys = pairs.iter().map(|(key, _)| f64::from(*key));
    keys.chain(pairs.iter().map(|(_, value)| f64::from(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        // None that has pairs go beyond their memories.
        is_seen(setup, "earlier < item", "earlier + 1 < item");
        is_seen(setup, "to_values[place] = values[at]", "to_values[place] = values[at ^ 1]");
    }
}
