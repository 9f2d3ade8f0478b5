//! What passes over arrays move between memory and a cache that keeps what was touched last.
//!
//! A pass goes through each of its arrays once, from end to end and through all at the same pace: onward,
//! back, or across, a bit of each part of an array at a time. An element is still in the cache when no
//! more than the cache holds was touched since its last touch.

use crate::traffic::{ArrayTraffic, PhaseTraffic};

/// An array as a pass goes through it.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    array: &'static str,
    bytes: f64,
    is_written: bool,
}

impl Touch {
    pub fn read(array: &'static str, bytes: f64) -> Self {
        Self { array, bytes, is_written: false }
    }

    pub fn written(array: &'static str, bytes: f64) -> Self {
        Self { array, bytes, is_written: true }
    }
}

/// The order in which a pass goes through its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Onward,
    Back,
    /// In each part of an array, of those an onward pass takes one after the other, to the same place.
    Across,
}

/// Parts of an array, where a pass goes across those of another.
const PARTS: u32 = 64;

/// A pass: its phase, or none where the clock does not take it.
#[derive(Debug, Clone)]
pub struct Pass {
    phase: Option<&'static str>,
    order: Order,
    flops: f64,
    touches: Vec<Touch>,
}

impl Pass {
    pub fn new(phase: &'static str, flops: f64, touches: Vec<Touch>) -> Self {
        Self { phase: Some(phase), order: Order::Onward, flops, touches }
    }

    /// What comes before the clock starts, and leaves arrays in the cache.
    pub fn untimed(touches: Vec<Touch>) -> Self {
        Self { phase: None, order: Order::Onward, flops: 0.0, touches }
    }

    /// From the arrays' ends to their beginnings.
    pub fn back(self) -> Self {
        Self { order: Order::Back, ..self }
    }

    pub fn across(self) -> Self {
        Self { order: Order::Across, ..self }
    }

    /// The same before the clock starts.
    pub fn before_the_clock(self) -> Self {
        Self { phase: None, flops: 0.0, ..self }
    }

    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    fn touch(&self, array: &str) -> Option<&Touch> {
        self.touches.iter().find(|touch| touch.array == array)
    }
}

/// What all passes of each phase move, in the order of the phases' first passes.
pub fn traffic_of(passes: &[Pass], cache_bytes: f64) -> Vec<PhaseTraffic> {
    let mut phases: Vec<PhaseTraffic> = Vec::new();
    // Of each array the phase that wrote it last, and how many of the bytes are in the cache yet.
    let mut unsaved: Vec<(&'static str, &'static str, f64)> = Vec::new();
    for (at, pass) in passes.iter().enumerate() {
        if let Some(phase) = pass.phase {
            of_phase(&mut phases, phase).flops += pass.flops;
        }
        for touch in &pass.touches {
            let lost = lost_share(&passes[..=at], touch.array, cache_bytes);
            let known = unsaved.iter().position(|it| it.0 == touch.array);
            if let Some(known) = known {
                let (array, writer, bytes) = unsaved.swap_remove(known);
                of_array(&mut phases, writer, array).written_bytes += lost * bytes;
                unsaved.push((array, writer, bytes * (1.0 - lost)));
            }
            let Some(phase) = pass.phase else { continue };
            of_array(&mut phases, phase, touch.array).read_bytes += lost * touch.bytes;
            if touch.is_written {
                unsaved.retain(|it| it.0 != touch.array);
                unsaved.push((touch.array, phase, touch.bytes));
            }
        }
    }
    // What is in the cache at the end stays there.
    for (array, writer, bytes) in unsaved {
        let lost = lost_share(&[passes, &[Pass::untimed(vec![])]].concat(), array, cache_bytes);
        of_array(&mut phases, writer, array).written_bytes += lost * bytes;
    }
    phases
}

/// The part of an array that the last of these passes no longer finds in the cache.
fn lost_share(passes: &[Pass], array: &str, cache_bytes: f64) -> f64 {
    let Some((last, earlier)) = passes.split_last() else { return 1.0 };
    let Some(before) = earlier.iter().rposition(|pass| pass.touch(array).is_some()) else {
        return 1.0;
    };
    let (first, between) = (&earlier[before], &earlier[before + 1..]);
    // What was touched since an element's last touch: between the two passes, in the rest of the first,
    // in the last up to the element, and in either of these.
    let mut since = 0.0;
    let mut seen: Vec<&str> = Vec::new();
    for touch in between.iter().flat_map(|pass| &pass.touches) {
        if !seen.contains(&touch.array) {
            seen.push(touch.array);
            since += touch.bytes;
        }
    }
    let others = |of: &Pass, with: &Pass, are_in_both: bool| -> f64 {
        let others = of.touches.iter().filter(|touch| {
            !seen.contains(&touch.array) && with.touch(touch.array).is_some() == are_in_both
        });
        others.map(|touch| touch.bytes).sum()
    };
    let in_first = others(first, last, false);
    let in_last = others(last, first, false);
    let in_both = [others(first, last, true), others(last, first, true)];
    // By the share of the first pass that was done at the element, that of the last pass, and the share
    // of an array that was neither touched later in the first nor earlier in the last.
    let distance = |[done, reached, spared]: [f64; 3]| {
        let in_either = in_both[0] * (1.0 - done) + in_both[1] * done;
        since + in_first * (1.0 - done) + in_last * reached + in_either * (1.0 - spared)
    };
    let lost = |ends: [[f64; 3]; 2]| beyond(ends.map(distance), cache_bytes);
    match [first.order, last.order] {
        [before, now] if before == now => lost([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]),
        [Order::Onward, Order::Back] | [Order::Back, Order::Onward] => {
            lost([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
        }
        _ => {
            let parts = (0..PARTS).map(|part| (f64::from(part) + 0.5) / f64::from(PARTS));
            let lost = parts.map(|done| lost([[done, 0.0, done], [done, 1.0, 0.0]]));
            lost.sum::<f64>() / f64::from(PARTS)
        }
    }
}

/// The part of what lies evenly between two distances that is farther than the cache reaches.
fn beyond(ends: [f64; 2], cache_bytes: f64) -> f64 {
    let [least, most] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
    if most <= cache_bytes {
        0.0
    } else if least > cache_bytes {
        1.0
    } else {
        (most - cache_bytes) / (most - least)
    }
}

fn of_phase<'a>(phases: &'a mut Vec<PhaseTraffic>, phase: &'static str) -> &'a mut PhaseTraffic {
    let at = phases.iter().position(|it| it.phase == phase).unwrap_or_else(|| {
        phases.push(PhaseTraffic { phase, flops: 0.0, arrays: Vec::new() });
        phases.len() - 1
    });
    &mut phases[at]
}

fn of_array<'a>(
    phases: &'a mut Vec<PhaseTraffic>,
    phase: &'static str,
    array: &'static str,
) -> &'a mut ArrayTraffic {
    let arrays = &mut of_phase(phases, phase).arrays;
    let at = arrays.iter().position(|it| it.array == array).unwrap_or_else(|| {
        arrays.push(ArrayTraffic::read(array, 0.0));
        arrays.len() - 1
    });
    &mut arrays[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_cache_holds_moves_once_and_what_it_does_not_each_time() {
        let fill = || Pass::new("fill", 0.0, vec![Touch::written("a", 100.0)]);
        let add =
            || Pass::new("add", 1.0, vec![Touch::read("a", 100.0), Touch::written("b", 100.0)]);
        let passes = [fill(), add(), add()];
        for (cache, fill, a, b) in [
            // 50 to 100 bytes of a lie between fill and add, and of both 200 between adds.
            (1000.0, [100.0, 0.0], [0.0, 0.0], [100.0, 0.0]),
            (10.0, [100.0, 100.0], [200.0, 0.0], [200.0, 195.0]),
            (150.0, [100.0, 100.0], [150.0, 0.0], [200.0, 125.0]),
        ] {
            let phases = traffic_of(&passes, cache);
            let [add, fill_only] = [&phases[1], &phases[0]];
            for (expected, found) in
                [(fill, fill_only.arrays[0]), (a, add.arrays[0]), (b, add.arrays[1])]
            {
                let is_near = |expected: f64, found: f64| (found - expected).abs() < 1e-9;
                assert!(
                    is_near(expected[0], found.read_bytes)
                        && is_near(expected[1], found.written_bytes),
                    "{cache}: {expected:?}, {found:?}"
                );
            }
            assert!((add.flops - 2.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_was_touched_last_is_found_in_the_cache_by_a_pass_back() {
        let pass = || Pass::new("pass", 0.0, vec![Touch::read("a", 100.0)]);
        for (cache, onward, back, across) in [
            (100.0, 0.0, 0.0, 0.0),
            (60.0, 100.0, 40.0, 40.0 * (1.0 - f64::ln(0.4))),
            (0.0, 100.0, 100.0, 100.0),
        ] {
            for (next, expected) in
                [(pass(), onward), (pass().back(), back), (pass().across(), across)]
            {
                let first = pass().before_the_clock();
                let found = traffic_of(&[first, next], cache)[0].arrays[0].read_bytes;
                assert!((expected - found).abs() < 0.3, "{cache}: {expected}, {found}");
            }
        }
    }
}
