//! Random systems whose streams share many resources.

use fastrand::Rng;
use nearfar_flow::{Stream, System};

/// A system of up to 10 resources and 16 streams. Demands and usages lie over
/// `decades`, weights between those of equal threads and of equal slowdowns of 1 to 64
/// threads.
pub fn draw_system(random: &mut Rng, p: f64, decades: f64) -> System {
    let spread = |random: &mut Rng| 10_f64.powf(decades * (random.f64() - 0.5));
    let resources = random.usize(2..=10);
    let streams = (0..random.usize(2..=16))
        .map(|_| {
            let mut usage = Vec::new();
            for resource in 0..resources {
                if random.f64() < 0.4 {
                    usage.push((resource, spread(random)));
                }
            }
            let demand = spread(random);
            let threads = f64::from(random.u32(1..=64));
            let fairness = [0.0, 0.5, 1.0][random.usize(0..3)];
            Stream { demand, weight: threads * (demand / threads).powf(fairness), usage }
        })
        .collect();
    System { capacities: vec![1.0; resources], streams, saturation: p }
}
