//! From counts to figures. What is not known stays unknown, with the reason of its counter.

use std::collections::BTreeMap;

use nearfar_record::{
    CountedQuantity, ProfileCounter, ProfileFigures, counted_ratio, counted_share,
};

const LINE_BYTES: f64 = 64.0;

/// The figures of a program that ran for this many seconds. On a machine with one memory node nothing
/// is remote, so that its counter need not be believed.
pub(crate) fn figures(
    counters: &[ProfileCounter],
    wall_seconds: f64,
    is_only_node: bool,
) -> ProfileFigures {
    use CountedQuantity as Quantity;
    let count = |quantity: Quantity| -> Result<f64, String> {
        let counter = counters.iter().find(|counter| counter.quantity == quantity);
        let why = |why: &str| format!("{}: {why}", quantity.words());
        match counter {
            Some(ProfileCounter { count: Some(count), .. }) => Ok(*count),
            Some(ProfileCounter { unavailable: Some(reason), .. }) => Err(why(reason)),
            _ => Err(why("it was not counted")),
        }
    };
    let per_second = |count: f64| counted_ratio(count, wall_seconds, "no time was seen to pass");
    // A CPU counts all operations together, or those of each precision.
    let of_both =
        || Ok::<f64, String>(count(Quantity::FlopsDouble)? + count(Quantity::FlopsSingle)?);
    let flops = || match (count(Quantity::Flops), of_both()) {
        (Ok(flops), _) | (Err(_), Ok(flops)) => Ok(flops),
        (Err(all), Err(each)) => {
            let has_each = counters
                .iter()
                .any(|it| it.quantity == Quantity::FlopsDouble && !it.events.is_empty());
            Err(if has_each { each } else { all })
        }
    };
    let lines = || {
        let local = count(Quantity::LocalDramLines)?;
        Ok::<f64, String>(if is_only_node {
            local
        } else {
            local + count(Quantity::RemoteDramLines)?
        })
    };
    let mut unknown = BTreeMap::new();
    let mut note = |name: &str, figure: Result<f64, String>| match figure {
        Ok(value) => Some(value),
        Err(why) => {
            unknown.insert(name.to_string(), why);
            None
        }
    };
    let gflop_per_s = note("gflop_per_s", flops().and_then(|it| Ok(per_second(it)? / 1e9)));
    let dram_read_gb_per_s =
        note("dram_read_gb_per_s", lines().and_then(|it| Ok(per_second(it * LINE_BYTES)? / 1e9)));
    let arithmetic_flops_per_byte = note(
        "arithmetic_flops_per_byte",
        Err("no counter of any CPU here counts the bytes that cores request: its events count \
             instructions, whatever their width"
            .into()),
    );
    let operational = || {
        let (flops, lines) = (flops()?, lines()?);
        counted_ratio(flops, lines * LINE_BYTES, "nothing was read from memory")
    };
    let operational_flops_per_byte = note("operational_flops_per_byte", operational());
    let ratio = |part: Quantity, whole: Quantity, nothing: &str| {
        counted_ratio(count(part)?, count(whole)?, nothing)
    };
    let local = || {
        counted_share(count(Quantity::LocalDramLines)?, lines()?, "nothing was read from memory")
    };
    let local_dram_share = note("local_dram_share", local());
    let misses = || {
        let (misses, all) = (count(Quantity::LlcMisses)?, count(Quantity::LlcRequests)?);
        counted_share(misses, all, "no request reached the last-level cache")
    };
    let llc_miss_rate = note("llc_miss_rate", misses());
    let instructions_per_cycle = note(
        "instructions_per_cycle",
        ratio(Quantity::Instructions, Quantity::Cycles, "no cycle was counted"),
    );
    let memory_level_parallelism = note(
        "memory_level_parallelism",
        ratio(Quantity::MissOccupancy, Quantity::MissCycles, "no line was ever under way"),
    );
    ProfileFigures {
        gflop_per_s,
        dram_read_gb_per_s,
        arithmetic_flops_per_byte,
        operational_flops_per_byte,
        local_dram_share,
        llc_miss_rate,
        instructions_per_cycle,
        memory_level_parallelism,
        unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(quantity: CountedQuantity, count: Result<f64, &str>) -> ProfileCounter {
        ProfileCounter {
            quantity,
            events: vec!["event".into()],
            meaning: None,
            source: None,
            count: count.ok(),
            counted_share: count.ok().map(|_| 1.0),
            check: None,
            unavailable: count.err().map(Into::into),
        }
    }

    /// A triad of 1e9 elements that took 2 s: 2 FLOPs an element, and three lines of 64 bytes for
    /// eight of them, one of which is read because it is written.
    fn triad() -> Vec<ProfileCounter> {
        use CountedQuantity::*;
        [
            (Cycles, 4e9),
            (Instructions, 1e9),
            (FlopsDouble, 2e9),
            (FlopsSingle, 0.0),
            (LocalDramLines, 3e8),
            (RemoteDramLines, 0.75e8),
            (LlcRequests, 4e8),
            (LlcMisses, 3e8),
            (MissOccupancy, 3e10),
            (MissCycles, 3e9),
        ]
        .map(|(quantity, count)| counter(quantity, Ok(count)))
        .into()
    }

    #[test]
    fn counts_of_a_triad_give_its_figures() {
        let found = figures(&triad(), 2.0, false);
        let near = |value: Option<f64>, expected: f64| {
            assert!(value.is_some_and(|it| (it / expected - 1.0).abs() < 1e-12), "{value:?}");
        };
        near(found.gflop_per_s, 1.0);
        near(found.dram_read_gb_per_s, 12.0);
        near(found.operational_flops_per_byte, 1.0 / 12.0);
        near(found.local_dram_share, 0.8);
        near(found.llc_miss_rate, 0.75);
        near(found.instructions_per_cycle, 0.25);
        near(found.memory_level_parallelism, 10.0);
        assert_eq!(found.arithmetic_flops_per_byte, None);
        assert_eq!(found.unknown.len(), 1, "{:?}", found.unknown);
    }

    #[test]
    fn each_figure_without_its_counters_says_which_is_missing_and_why() {
        let mut counters = triad();
        for (position, counter) in counters.iter_mut().enumerate() {
            if position >= 4 {
                (counter.count, counter.counted_share) = (None, None);
                counter.unavailable = Some("not believed".into());
            }
        }
        let found = figures(&counters, 2.0, false);
        assert!(found.gflop_per_s.is_some() && found.dram_read_gb_per_s.is_none());
        let why = &found.unknown["operational_flops_per_byte"];
        assert_eq!(why, "lines read from local memory: not believed");
        assert!(found.unknown["llc_miss_rate"].contains("not believed"));
        for (name, value) in found.values() {
            assert_eq!(value.is_none(), found.unknown.contains_key(name), "{name}");
        }
    }

    #[test]
    fn nothing_counted_and_no_time_give_reasons_and_no_number_that_is_none() {
        for (counters, seconds) in [(Vec::new(), 1.0), (triad(), 0.0), (triad(), f64::NAN)] {
            let found = figures(&counters, seconds, false);
            assert_eq!(found.gflop_per_s, None);
            assert!(found.values().iter().all(|(_, it)| it.is_none_or(f64::is_finite)));
        }
        let none = CountedQuantity::ALL.map(|quantity| counter(quantity, Ok(0.0)));
        let found = figures(&none, 1.0, false);
        assert_eq!(found.gflop_per_s, Some(0.0));
        assert_eq!(found.unknown["operational_flops_per_byte"], "nothing was read from memory");
    }

    #[test]
    fn nothing_is_remote_on_a_machine_with_one_node() {
        let mut counters = triad();
        (counters[5].count, counters[5].counted_share) = (None, None);
        counters[5].unavailable = Some("there is no other memory node".into());
        assert_eq!(figures(&counters, 2.0, false).dram_read_gb_per_s, None);
        let found = figures(&counters, 2.0, true);
        assert!(found.dram_read_gb_per_s.is_some_and(|it| (it / 9.6 - 1.0).abs() < 1e-12));
        assert!(found.local_dram_share.is_some_and(|it| (it - 1.0).abs() < 1e-12));
    }

    #[test]
    fn a_part_above_its_whole_is_no_share() {
        let mut counters = triad();
        counters[7].count = Some(5e8);
        let found = figures(&counters, 2.0, false);
        assert!(found.unknown["llc_miss_rate"].contains("contradict"));
    }
}
