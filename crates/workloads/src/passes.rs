//! What passes over arrays move between memory and a cache that keeps what was touched last.
//!
//! A pass goes through each of its arrays once, from end to end and through all at the same pace. An
//! element is still in the cache when no more than the cache holds was touched since its last touch.

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

/// A pass: its phase, or none where the clock does not take it.
#[derive(Debug, Clone)]
pub struct Pass {
    phase: Option<&'static str>,
    flops: f64,
    touches: Vec<Touch>,
}

impl Pass {
    pub fn new(phase: &'static str, flops: f64, touches: Vec<Touch>) -> Self {
        Self { phase: Some(phase), flops, touches }
    }

    /// What comes before the clock starts, and leaves arrays in the cache.
    pub fn untimed(touches: Vec<Touch>) -> Self {
        Self { phase: None, flops: 0.0, touches }
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
    // Of each array the last pass that wrote it, and the part of it whose change is in the cache yet.
    let mut unsaved: Vec<(&'static str, &'static str, f64)> = Vec::new();
    for (at, pass) in passes.iter().enumerate() {
        if let Some(phase) = pass.phase {
            of_phase(&mut phases, phase).flops += pass.flops;
        }
        for touch in &pass.touches {
            let lost = lost_share(&passes[..=at], touch.array, cache_bytes);
            let known = unsaved.iter().position(|it| it.0 == touch.array);
            if let Some(known) = known {
                let (array, writer, part) = unsaved.swap_remove(known);
                of_array(&mut phases, writer, array).written_bytes += part * lost * touch.bytes;
                unsaved.push((array, writer, part * (1.0 - lost)));
            }
            let Some(phase) = pass.phase else { continue };
            of_array(&mut phases, phase, touch.array).read_bytes += lost * touch.bytes;
            if touch.is_written {
                unsaved.retain(|it| it.0 != touch.array);
                unsaved.push((touch.array, phase, 1.0));
            }
        }
    }
    // What is in the cache at the end stays there.
    for (array, writer, part) in unsaved {
        let last = passes.iter().rev().find_map(|pass| pass.touch(array));
        let lost =
            part * lost_share(&[passes, &[Pass::untimed(vec![])]].concat(), array, cache_bytes);
        of_array(&mut phases, writer, array).written_bytes +=
            lost * last.map_or(0.0, |touch| touch.bytes);
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
    // What was touched since its own last touch, of the array's first element and of its last one.
    let mut since = [0.0, 0.0];
    let mut seen: Vec<&str> = Vec::new();
    for touch in between.iter().flat_map(|pass| &pass.touches) {
        if !seen.contains(&touch.array) {
            seen.push(touch.array);
            since = since.map(|bytes| bytes + touch.bytes);
        }
    }
    for (place, pass) in [first, last].into_iter().enumerate() {
        let others = pass.touches.iter().filter(|touch| !seen.contains(&touch.array));
        since[place] += others.map(|touch| touch.bytes).sum::<f64>();
    }
    let [least, most] = if since[0] <= since[1] { since } else { [since[1], since[0]] };
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
}
