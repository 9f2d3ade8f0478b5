//! A record whose runs are written by hand.

use nearfar_record::{Actor, Affinity, Coordinates, Pinning, Record, ScalingCoordinates};

use crate::handmade_record::{Measured, add_case};

/// Adds a case of copy, whose threads are on these CPUs; none for unbound ones. Each run is useful
/// bytes/s of all threads, of which a hundredth more by half of them than by the other half.
pub fn add_runs(
    record: &mut Record,
    threads: u32,
    affinities: &[Affinity],
    cpus: &[u32],
    runs: &[f64],
) {
    let names: Vec<&str> = affinities.iter().map(|affinity| affinity.as_str()).collect();
    let id = format!("scaling/copy/sse2/t{threads}/{}", names.join("+"));
    let before = record.samples.len();
    let measured =
        Measured { initiator: 0, node: 0, kernel: "copy", variant: "sse2", threads, rounds: runs };
    add_case(record, &measured);
    let case = record.cases.last_mut().unwrap();
    case.id.clone_from(&id);
    case.coordinates = affinities
        .iter()
        .map(|&affinity| {
            Coordinates::Scaling(ScalingCoordinates {
                affinity,
                threads,
                kernel: "copy".into(),
                variant: "sse2".into(),
            })
        })
        .collect();
    for actor in &mut case.actors {
        if let Actor::Stream(stream) = actor {
            stream.thread_cpus = cpus.to_vec();
            stream.pinning = if cpus.is_empty() { Pinning::Unbound } else { Pinning::OnePerCore };
        }
    }
    for sample in &mut record.samples[before..] {
        sample.case.clone_from(&id);
        let [whole] = &sample.actors[0].threads[..] else { panic!("one thread in each sample") };
        let half = |part: u64| {
            let mut thread = whole.clone();
            thread.useful_bytes = thread.useful_bytes / 1000 * part;
            thread
        };
        sample.actors[0].threads = vec![half(505), half(495)];
    }
}
