//! Programs: their time by the law, and what runs tell of them.

mod fit;
mod law;
mod runs;

use nearfar_model::{FamilyLaw, LoadedAccess};

/// Bytes/s.
pub const CAPACITY: f64 = 40e9;

/// One server with random arrivals and service times.
pub fn queued(idle_ns: f64, used: f64) -> f64 {
    idle_ns * (1.0 + 0.2 * used / (1.0 - used))
}

/// The curves of such a server, of three read shares alike.
pub fn family(idle_ns: f64) -> FamilyLaw {
    let mut points = vec![LoadedAccess { read_share: 1.0, traffic: 0.0, ns: idle_ns }];
    for read_share in [0.5, 0.75, 1.0] {
        points.extend([0.2, 0.5, 0.8, 0.93].map(|used| LoadedAccess {
            read_share,
            traffic: used * CAPACITY,
            ns: queued(idle_ns, used),
        }));
    }
    FamilyLaw::through(&points, Vec::new()).unwrap()
}
