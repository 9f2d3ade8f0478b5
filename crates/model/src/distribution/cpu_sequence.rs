//! CPUs in the order of threads, in the words of OpenMP's libraries.

/// CPUs at one distance from each other: `first`, `first + stride`, ..
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Steps {
    first: u32,
    count: u32,
    stride: u32,
}

/// Longer lists are written ascending, which is shorter: which CPUs are used stays the same, and
/// only which thread is on which differs.
const LONGEST: usize = 78;

/// As `GOMP_CPU_AFFINITY` reads it: `0-30:10 1-31:10`.
pub(super) fn gomp(cpus: &[u32]) -> String {
    written(cpus, " ", |Steps { first, count, stride }| {
        let last = first + (count - 1) * stride;
        match (count, stride) {
            (1, _) => first.to_string(),
            (_, 1) => format!("{first}-{last}"),
            _ => format!("{first}-{last}:{stride}"),
        }
    })
}

/// As `OMP_PLACES` reads it (OpenMP 4.0 and later): `{0}:4:10,{1}:4:10`.
pub(super) fn places(cpus: &[u32]) -> String {
    written(cpus, ",", |Steps { first, count, stride }| match (count, stride) {
        (1, _) => format!("{{{first}}}"),
        (_, 1) => format!("{{{first}}}:{count}"),
        _ => format!("{{{first}}}:{count}:{stride}"),
    })
}

fn written(cpus: &[u32], between: &str, word: impl Fn(Steps) -> String) -> String {
    let text = |cpus: &[u32]| steps(cpus).into_iter().map(&word).collect::<Vec<_>>().join(between);
    let in_order = text(cpus);
    if in_order.len() <= LONGEST {
        return in_order;
    }
    let mut ascending = cpus.to_vec();
    ascending.sort_unstable();
    let ascending = text(&ascending);
    if ascending.len() < in_order.len() { ascending } else { in_order }
}

/// The longest steps from the front on.
fn steps(cpus: &[u32]) -> Vec<Steps> {
    let mut all: Vec<Steps> = Vec::new();
    for &cpu in cpus {
        if let Some(last) = all.last_mut() {
            let end = last.first + (last.count - 1) * last.stride;
            let stride = if last.count == 1 { cpu.saturating_sub(end) } else { last.stride };
            if stride > 0 && end.checked_add(stride) == Some(cpu) {
                (last.count, last.stride) = (last.count + 1, stride);
                continue;
            }
        }
        all.push(Steps { first: cpu, count: 1, stride: 1 });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cpus: &[u32]) -> (String, String) {
        (gomp(cpus), places(cpus))
    }

    #[test]
    fn steps_are_written_in_the_order_of_threads() {
        for (cpus, gomp, places) in [
            (&[0][..], "0", "{0}"),
            (&[0, 1, 2, 3], "0-3", "{0}:4"),
            (&[0, 10, 20, 30, 1, 11, 21, 31], "0-30:10 1-31:10", "{0}:4:10,{1}:4:10"),
            (&[0, 64, 1, 65], "0-64:64 1-65:64", "{0}:2:64,{1}:2:64"),
            (&[5, 3, 1], "5 3 1", "{5},{3},{1}"),
            (&[7, 7, u32::MAX], "7 7-4294967295:4294967288", "{7},{7}:2:4294967288"),
            (&[], "", ""),
        ] {
            assert_eq!(words(cpus), (gomp.into(), places.into()), "{cpus:?}");
        }
    }

    /// Every CPU stands in the words once, whatever their order.
    #[test]
    fn words_name_the_cpus() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..200 {
            let mut cpus: Vec<u32> = (0..random.u32(1..200)).collect();
            random.shuffle(&mut cpus);
            cpus.truncate(random.usize(1..=cpus.len()));
            let mut named: Vec<u32> = Vec::new();
            for word in words(&cpus).0.split(' ') {
                let (range, stride) = word.split_once(':').unwrap_or((word, "1"));
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let (first, last): (u32, u32) = (first.parse().unwrap(), last.parse().unwrap());
                named.extend((first..=last).step_by(stride.parse().unwrap()));
            }
            named.sort_unstable();
            cpus.sort_unstable();
            assert_eq!(named, cpus);
        }
    }

    #[test]
    fn long_lists_are_written_ascending() {
        let scattered: Vec<u32> = (0..32).flat_map(|core| [core, core + 32]).collect();
        assert_eq!(words(&scattered), ("0-63".into(), "{0}:64".into()));
    }
}
