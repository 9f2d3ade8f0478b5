//! The printed tables as a record, so that the model reads them as it reads a measurement.

use nearfar_machine::{Initiator, Machine};
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, Experiment, Header, Record, Sample, SharingCoordinates,
};

use super::facts::SharingTables;
use crate::printed_table::{printed_header, printed_sample, printed_stream, whole_bytes};

/// The printed tables of a machine whose initiator 0 is local to node 0 and initiator 1 remote.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PrintedGrid<'a> {
    /// Where they are printed, as the record's host.
    pub title: String,
    pub machine: &'a Machine,
    pub facts: &'a SharingTables,
}

/// The node whose memory all processes use.
const NODE: u32 = 0;

const VARIANT: &str = "printed";

impl PrintedGrid<'_> {
    /// A record with one case and one sample for each lone cell, and for each mixed one that is
    /// given. The processes of a group get equal parts. What the paper does not print is as a
    /// simulated machine has it: no pages, no disturbances.
    ///
    /// # Errors
    /// When the machine has too few cores, or a value is no bandwidth; in words.
    pub fn record(&self, is_given: impl Fn((usize, usize)) -> bool) -> Result<Record, String> {
        let initiators = self.machine.initiators();
        let [near, far, ..] = &initiators[..] else {
            return Err(format!("{}: the machine has fewer than two initiators", self.title));
        };
        let mut record = Record::new(self.header());
        let places = self.facts.places().filter(|&(n, m)| n + m > 0);
        let given = places.filter(|&(n, m)| n == 0 || m == 0 || is_given((n, m)));
        for (sequence, (n, m)) in (0..).zip(given) {
            let (case, sample) = self.window([near, far], [n, m], sequence)?;
            record.cases.push(case);
            record.samples.push(sample);
        }
        Ok(record)
    }

    fn header(&self) -> Header {
        let mut header = printed_header(&self.title, self.machine, Experiment::Sharing);
        header.started = "2022-01-01T00:00:00Z".into();
        header.inputs.kernels = Some(vec![self.facts.kernel.clone()]);
        header
    }

    fn window(
        &self,
        initiators: [&Initiator; 2],
        [n, m]: [usize; 2],
        sequence: u64,
    ) -> Result<(Case, Sample), String> {
        let kernel = &self.facts.kernel;
        let id = format!("sharing/node{NODE}/initiator0x{n}+initiator1x{m}/{kernel}/{VARIANT}");
        let [local_threads, remote_threads] =
            [n, m].map(|threads| u32::try_from(threads).unwrap_or(u32::MAX));
        let mut case = Case {
            id: id.clone(),
            coordinates: vec![Coordinates::Sharing(SharingCoordinates {
                memory_node: NODE,
                local_initiator: initiators[0].index,
                remote_initiator: initiators[1].index,
                local_threads,
                remote_threads,
                kernel: kernel.clone(),
                variant: VARIANT.into(),
            })],
            actors: Vec::new(),
        };
        let mut seen = Vec::new();
        let groups = [
            (initiators[0], local_threads, self.facts.local[n][m]),
            (initiators[1], remote_threads, self.facts.remote[n][m]),
        ];
        for (initiator, threads, value) in groups.into_iter().filter(|(_, threads, _)| *threads > 0)
        {
            let (stream, moved) = self.group(initiator, threads, value)?;
            case.actors.push(stream);
            seen.push(moved);
        }
        Ok((case, printed_sample(id, sequence, seen)))
    }

    fn group(
        &self,
        initiator: &Initiator,
        threads: u32,
        value: f64,
    ) -> Result<(Actor, ActorSample), String> {
        let cpus: Vec<u32> = initiator.cpus.iter().take(threads as usize).collect();
        if cpus.len() < threads as usize {
            return Err(format!("{}: the machine has no {threads} cores", self.title));
        }
        let rate = value * self.facts.unit.bytes_per_s();
        let of_each = whole_bytes(rate / f64::from(threads))
            .ok_or_else(|| format!("{}: {value} is no bandwidth", self.title))?;
        Ok(printed_stream((&self.facts.kernel, VARIANT), initiator, cpus, NODE, of_each))
    }
}
