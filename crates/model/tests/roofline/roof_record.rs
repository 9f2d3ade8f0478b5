//! Records with roofs whose rounds are written by hand.

use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_record::{
    Actor, Case, Coordinates, Pages, Pinning, Record, Roof, RoofCoordinates, RoofPurpose, Sample,
    Stream,
};

use crate::handmade_record::{Measured, add_case, empty_record};

/// A roof of a cluster, or a point below one.
#[derive(Debug, Clone)]
pub struct Made<'a> {
    pub cluster: u32,
    pub roof: Roof,
    pub kernel: &'a str,
    pub variant: &'a str,
    pub threads: u32,
    pub purpose: RoofPurpose,
    /// Useful bytes/s and FLOP/s of each round.
    pub rounds: Rounds<'a>,
}

#[derive(Debug, Clone)]
pub enum Rounds<'a> {
    Bytes(&'a [f64]),
    Flops(&'a [f64]),
    Both(f64, f64),
}

impl<'a> Made<'a> {
    pub const fn roof(roof: Roof, kernel: &'a str, rounds: &'a [f64]) -> Self {
        Self {
            cluster: 0,
            roof,
            kernel,
            variant: "avx2",
            threads: 7,
            purpose: RoofPurpose::Roof,
            rounds: Rounds::Bytes(rounds),
        }
    }

    pub const fn compute(kernel: &'a str, variant: &'a str, rounds: &'a [f64]) -> Self {
        Self {
            cluster: 0,
            roof: Roof::Compute,
            kernel,
            variant,
            threads: 7,
            purpose: RoofPurpose::Roof,
            rounds: Rounds::Flops(rounds),
        }
    }

    pub const fn point(roof: Roof, kernel: &'a str, bytes: f64, flops: f64) -> Self {
        Self {
            cluster: 0,
            roof,
            kernel,
            variant: "avx2",
            threads: 7,
            purpose: RoofPurpose::Validation,
            rounds: Rounds::Both(bytes, flops),
        }
    }

    fn rounds(&self) -> Vec<(f64, f64)> {
        match self.rounds {
            Rounds::Bytes(bytes) => bytes.iter().map(|&bytes| (bytes, 0.0)).collect(),
            Rounds::Flops(flops) => flops.iter().map(|&flops| (0.0, flops)).collect(),
            Rounds::Both(bytes, flops) => vec![(bytes, flops)],
        }
    }
}

/// A record of these; its machine has no clusters, so that no node is anybody's own.
pub fn record(made: &[Made<'_>]) -> Record {
    let mut record = empty_record();
    for (number, of) in (0..).zip(made) {
        add(&mut record, number, of);
    }
    record
}

fn add(record: &mut Record, number: u32, of: &Made<'_>) {
    let id = format!("roofs/{number}");
    record.cases.push(Case {
        id: id.clone(),
        coordinates: vec![Coordinates::Roofs(RoofCoordinates {
            cluster: of.cluster,
            actor: 0,
            roof: of.roof,
            kernel: of.kernel.into(),
            variant: of.variant.into(),
            threads: of.threads,
            purpose: of.purpose,
        })],
        actors: vec![Actor::Stream(Stream {
            kernel: of.kernel.into(),
            variant: of.variant.into(),
            binding: Binding { cpus: CpuSet::new(), memory: MemoryPolicy::Preferred(0) },
            write_memory: None,
            threads: of.threads,
            pinning: Pinning::OnePerCore,
            thread_cpus: vec![0],
            working_set_bytes: 1 << 30,
            llc_multiple: Some(4.0),
            pages: Pages::Transparent,
            pause_cycles: 0,
        })],
    });
    let template = template();
    for (round, (bytes, flops)) in (0..).zip(of.rounds()) {
        let mut sample = Sample { case: id.clone(), round, ..template.clone() };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates in tests are positive and below 1e13"
        )]
        let (bytes, flops) = (bytes as u64, flops as u64);
        for actor in &mut sample.actors {
            (actor.useful_bytes, actor.flops) = (bytes, flops);
            for thread in &mut actor.threads {
                (thread.useful_bytes, thread.flops) = (bytes, flops);
            }
        }
        record.samples.push(sample);
    }
}

/// A sample of one second by one thread.
fn template() -> Sample {
    let mut record = empty_record();
    let measured = Measured {
        initiator: 0,
        node: 0,
        kernel: "load",
        variant: "avx2",
        threads: 1,
        rounds: &[1e9],
    };
    add_case(&mut record, &measured);
    record.samples.remove(0)
}
