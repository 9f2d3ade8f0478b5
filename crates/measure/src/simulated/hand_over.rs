//! How long a hand-over takes on a simulated machine: what its file says of two CPUs that lie so to each
//! other.

use nearfar_record::{Exchange, HandOver, Reason};

use super::answers::Answers;

impl Answers {
    /// Time of one hand-over, ns.
    pub fn hand_over_ns(&self, exchange: &Exchange) -> Result<f64, Reason> {
        let file = &self.simulated.exchange;
        let relation = match exchange.thread_cpus.as_slice() {
            &[first, second] => self.simulated.machine.cpu_relation(first, second),
            _ => None,
        };
        let known = relation.and_then(|relation| file.ns.get(&relation).copied());
        let ns = known.ok_or_else(|| {
            let key = relation.map_or("two CPUs of which nothing is known", |it| it.as_str());
            self.unsaid(&format!("under [exchange] nothing of {key}"))
        })?;
        match exchange.by {
            HandOver::StoreLoad => Ok(ns),
            HandOver::CompareSwap => file
                .compare_swap
                .map(|factor| ns * factor)
                .ok_or_else(|| self.unsaid("under [exchange] nothing of compare_swap")),
        }
    }
}
