//! How long a line takes between two CPUs before and after something: by it a guest sees that a hypervisor has
//! put them on other cores.

use std::time::Duration;

use nearfar_kernels::{ExchangedLine, Handing, Side};
use nearfar_machine::CpuSet;
use nearfar_record::{Actor, Case, CpuDistance};
use nearfar_sys::{monotonic, monotonic_ns, pin_thread};

/// Hand-overs of a look of either thread: some ten to a hundred microseconds.
const TIMES: u64 = 250;

/// Looks of which the fastest counts: what takes a CPU away makes a line seem slower, nothing makes it
/// seem faster.
const LOOKS: u64 = 8;

/// After which nobody waits for the other CPU any longer.
const PATIENCE: Duration = Duration::from_millis(100);

/// Doubles on either side of the line, so that no other thread's data is in it or in its neighbour.
const APART: usize = 16;

/// Runs a case, and looks how far the CPU of its chase or program is from that of the streams beside it, before
/// and after; no distance where the case has not both, where this process may not use one, or where they did
/// not meet within 100 ms.
pub fn with_distance<T>(case: &Case, run: impl FnOnce() -> T) -> (T, Option<CpuDistance>) {
    let cpus = first_cpus(case);
    let look = || cpus.and_then(hand_over_ns);
    let before = look();
    let ran = run();
    let distance = cpus
        .zip(before)
        .and_then(|(cpus, before_ns)| Some(CpuDistance { cpus, before_ns, after_ns: look()? }));
    (ran, distance)
}

fn first_cpus(case: &Case) -> Option<[u32; 2]> {
    let slowed = |actor: &Actor| match actor {
        Actor::Chase(chase) => Some(chase.thread_cpu),
        Actor::Command(command) => command.binding.cpus.first(),
        _ => None,
    };
    let of_streams = |actor: &Actor| match actor {
        Actor::Stream(stream) => stream.thread_cpus.first().copied(),
        _ => None,
    };
    Some([case.actors.iter().find_map(slowed)?, case.actors.iter().find_map(of_streams)?])
}

/// Time of a hand-over from one CPU to the other, ns.
fn hand_over_ns(cpus: [u32; 2]) -> Option<f64> {
    if cpus[0] == cpus[1] {
        return None;
    }
    let mut memory = vec![0.0; 2 * APART + 1];
    let [first, second] = ExchangedLine::new(&mut memory[APART..])?.sides();
    let until = monotonic() + PATIENCE;
    std::thread::scope(|scope| {
        let start = |side, cpu| {
            std::thread::Builder::new()
                .spawn_scoped(scope, move || fastest_look(side, cpu, until))
                .ok()
        };
        let threads = [start(first, cpus[0]), start(second, cpus[1])];
        let looks = threads.map(|thread| thread?.join().ok()?);
        let [one, other] = looks;
        one.zip(other).map(|(one, other)| one.min(other))
    })
}

/// Of one thread, ns a hand-over; the first look is no figure, as the other thread may not be there yet.
fn fastest_look(mut side: Side<'_>, cpu: u32, until: Duration) -> Option<f64> {
    pin_thread(&CpuSet::single(cpu)).ok()?;
    let mut fastest: Option<f64> = None;
    for look in 1..=LOOKS {
        let began = monotonic_ns();
        while side.done() < look * TIMES {
            side.hand_over(Handing::StoreLoad, look * TIMES - side.done());
            if monotonic() > until {
                return None;
            }
        }
        // Both hand it over once in this time.
        let ns = monotonic_ns().saturating_sub(began) as f64 / (2 * TIMES) as f64;
        if look > 1 {
            fastest = Some(fastest.map_or(ns, |fastest| fastest.min(ns)));
        }
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_between_two_cpus_and_not_within_one() {
        let cpus: Vec<u32> = nearfar_sys::thread_cpus().unwrap().iter().collect();
        assert_eq!(hand_over_ns([cpus[0]; 2]), None);
        assert_eq!(hand_over_ns([cpus[0], u32::from(u16::MAX)]), None);
        // On a machine that is busy the two may not meet.
        if let Some(ns) = cpus.get(1).and_then(|&other| hand_over_ns([cpus[0], other])) {
            assert!(ns > 0.0, "{ns}");
        }
    }
}
