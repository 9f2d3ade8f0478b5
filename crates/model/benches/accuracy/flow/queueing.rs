//! Laws that are not the model's, to hold it against.

use nearfar_flow::{Capacities, Load};

/// What a byte of each load takes of each part: 1 / capacity, summed over its pages.
fn times(capacities: &Capacities, loads: &[Load]) -> Vec<Vec<f64>> {
    let (initiators, nodes) = (capacities.one_thread.len(), capacities.nodes.len());
    let count = initiators * nodes + nodes + initiators + capacities.links.len();
    let of_load = |load: &Load| {
        let mut times = vec![0.0; count];
        let initiator = load.initiator as usize;
        for &(node, share) in &load.shares {
            let column = capacities.nodes.iter().position(|&it| it == node).unwrap();
            let mut add = |place: usize, capacity: Option<f64>| {
                times[place] += capacity.map_or(0.0, |capacity| share / capacity);
            };
            add(initiator * nodes + column, capacities.path[initiator][column]);
            add(initiators * nodes + column, capacities.controller[column]);
            add(initiators * nodes + nodes + initiator, capacities.issue[initiator]);
            for (index, link) in capacities.links.iter().enumerate() {
                if link.crosses.contains(&(load.initiator, node)) {
                    add(initiators * nodes + nodes + initiators + index, Some(link.capacity));
                }
            }
        }
        times
    };
    loads.iter().map(of_load).collect()
}

/// Seconds that a thread of a load takes for a byte with nothing in its way.
fn thread_time(capacities: &Capacities, load: &Load) -> f64 {
    let row = &capacities.one_thread[load.initiator as usize];
    let time = |&(node, share): &(u32, f64)| {
        share / row[capacities.nodes.iter().position(|&it| it == node).unwrap()]
    };
    load.shares.iter().map(time).sum()
}

/// A closed network of queues: each thread has this many lines under way, which wait in the queue of
/// every part, first come first served, and think in between. Approximate mean value analysis
/// (Schweitzer; Bard 1979): a line finds the queue of the others and of its own class less its
/// part.
pub fn closed_queueing(capacities: &Capacities, loads: &[Load], lines: f64) -> Vec<f64> {
    let services = times(capacities, loads);
    let parts = services.first().map_or(0, Vec::len);
    let population: Vec<f64> = loads.iter().map(|load| lines * f64::from(load.threads)).collect();
    // The think time is what is left of a lone thread's time; by the byte, for `lines` at once.
    let think: Vec<f64> = (loads.iter().zip(&services))
        .map(|(load, service)| {
            let own: f64 = service.iter().sum();
            (thread_time(capacities, load) * lines - own).max(0.1 * own)
        })
        .collect();
    let mut queue = vec![vec![0.0; parts]; loads.len()];
    let mut rates = vec![0.0; loads.len()];
    for _ in 0..20_000 {
        let all: Vec<f64> = (0..parts).map(|part| queue.iter().map(|it| it[part]).sum()).collect();
        let mut moved = 0.0_f64;
        for (class, service) in services.iter().enumerate() {
            let found = |part: usize| all[part] - queue[class][part] / population[class];
            let waits: Vec<f64> =
                (0..parts).map(|part| service[part] * (1.0 + found(part))).collect();
            let rate = population[class] / (think[class] + waits.iter().sum::<f64>());
            moved = moved.max((rate / rates[class] - 1.0).abs());
            rates[class] = rate;
            for part in 0..parts {
                // Half steps: whole ones can go to and fro.
                queue[class][part] = 0.5 * (queue[class][part] + rate * waits[part]);
            }
        }
        if moved < 1e-9 {
            break;
        }
    }
    rates
}

/// Hard limits and sum over threads of ln(rate) the largest (Kelly 1997), each thread with at most
/// its own rate. By the dual: prices of the parts go up where more is asked than they carry.
pub fn proportionally_fair(capacities: &Capacities, loads: &[Load]) -> Vec<f64> {
    let usages = times(capacities, loads);
    let parts = usages.first().map_or(0, Vec::len);
    let most: Vec<f64> = (loads.iter())
        .map(|load| f64::from(load.threads) / thread_time(capacities, load))
        .collect();
    let scale = most.iter().copied().fold(0.0, f64::max);
    let mut prices = vec![0.0_f64; parts];
    let rates = |prices: &[f64]| -> Vec<f64> {
        let of_load = |index: usize| {
            let price: f64 = usages[index].iter().zip(prices).map(|(usage, it)| usage * it).sum();
            let wanted = f64::from(loads[index].threads) / price.max(1e-300);
            wanted.min(most[index])
        };
        (0..loads.len()).map(of_load).collect()
    };
    // The price of one part at a time, to where it is just full: the dual is convex and smooth in
    // each.
    for _ in 0..400 {
        let mut moved = 0.0_f64;
        for part in 0..parts {
            if usages.iter().all(|usage| usage[part] == 0.0) {
                continue;
            }
            let filled = |price: f64, prices: &mut Vec<f64>| {
                let before = std::mem::replace(&mut prices[part], price);
                let rates = rates(prices);
                prices[part] = before;
                usages.iter().zip(&rates).map(|(usage, rate)| usage[part] * rate).sum::<f64>()
            };
            let mut price = 0.0;
            if filled(0.0, &mut prices) > 1.0 {
                let (mut low, mut high) = (0.0, 1.0);
                while filled(high, &mut prices) > 1.0 {
                    (low, high) = (high, 2.0 * high);
                }
                for _ in 0..50 {
                    price = 0.5 * (low + high);
                    if filled(price, &mut prices) > 1.0 { low = price } else { high = price }
                }
            }
            moved =
                moved.max((price - prices[part]).abs() / (price + prices[part] + 1e-12 * scale));
            prices[part] = price;
        }
        if moved < 1e-7 {
            break;
        }
    }
    rates(&prices)
}
