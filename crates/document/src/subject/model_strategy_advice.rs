//! What to do for a program's memory, in sentences with their numbers and conditions.

use nearfar_model::{Access, Expectation, LEAST_GAIN, PlacementStrategy, Strategy, StrategyTime};
use nearfar_units::format_significant;

/// The sentences of a model.
pub(crate) fn advice(model: &Strategy, bind: &[String], interleave: &str) -> Vec<String> {
    let regular = if is_placing_advised(model) {
        placed(model, bind, interleave)
    } else {
        of_access(&model.regular, bind, interleave)
    };
    vec![
        regular,
        of_access(&model.irregular, bind, interleave),
        break_even(model, interleave),
        "Claim of a gain its lower end, and none below 5 %; gains are of the time that the program \
         waits for memory, and with fewer threads than cores they are smaller."
            .into(),
    ]
}

/// Whether round-robin is ahead of what a program can have by placing all of its regular data.
fn is_placing_advised(model: &Strategy) -> bool {
    let is_interleaved = model.regular.best().strategy == PlacementStrategy::RoundRobin;
    is_interleaved && model.break_even_share.is_some() && model.is_placing_faster()
}

fn placed(model: &Strategy, bind: &[String], interleave: &str) -> String {
    let bound = model.regular.of(PlacementStrategy::MemoryBind);
    format!(
        "{}: {}; {}; with all of it placed, interleaved pages take {:.0} % longer.",
        access_words(Access::Regular),
        how(bound.strategy, Access::Regular, bind, interleave),
        gain(bound),
        model.placed_margin * 100.0
    )
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::Regular => "Where each thread keeps to its part of the data",
        Access::Irregular => "Where threads access all data in no order",
    }
}

fn of_access(expectation: &Expectation, bind: &[String], interleave: &str) -> String {
    let (best, second) = (expectation.best(), expectation.second());
    let access = access_words(expectation.access);
    let how = how(best.strategy, expectation.access, bind, interleave);
    let gain = gain(best);
    let (name, longer) = (second.strategy.as_str(), expectation.margin * 100.0);
    let other = if expectation.is_decided() {
        format!("the second, {name}, takes {longer:.0} % longer")
    } else if expectation.margin < LEAST_GAIN.max(expectation.noise) {
        format!("{name} takes {longer:.0} % longer, too little to tell: take what is easier")
    } else {
        let (low, high) = expectation.margin_interval;
        format!(
            "{name} takes {longer:.0} % longer, not whatever is taken ({:.0} to {:.0} %): try both",
            low * 100.0,
            high * 100.0
        )
    };
    format!("{access}: {how}; {gain}; {other}.")
}

fn how(strategy: PlacementStrategy, access: Access, bind: &[String], interleave: &str) -> String {
    let first = bind.first().map_or("", String::as_str);
    let nodes = interleave.rsplit_once(':').map_or("all", |(_, nodes)| nodes);
    match (strategy, access) {
        (PlacementStrategy::FirstTouch, _) => {
            "leave the data where one thread initialises it".into()
        }
        (PlacementStrategy::RoundRobin, _) => format!(
            "deal its pages out over the nodes, `numactl --interleave={nodes}` or the binding \
             `{interleave}`"
        ),
        (PlacementStrategy::ParallelInit, _) => {
            "initialise the data in the loop that uses it (`#pragma omp parallel for \
             schedule(static)` for both)"
                .into()
        }
        (PlacementStrategy::MemoryBind, Access::Regular) => format!(
            "pin the threads (`OMP_PLACES=cores OMP_PROC_BIND=close`) and initialise the data in the \
             loop that uses it (`schedule(static)` for both), or bind a process to each node, \
             `numactl --cpunodebind=N --membind=N`, as the binding `{first}`"
        ),
        (PlacementStrategy::MemoryBind, Access::Irregular) => {
            "bind the main arrays to the nodes of their users and let pages follow".into()
        }
    }
}

fn gain(best: &StrategyTime) -> String {
    if best.strategy == PlacementStrategy::FirstTouch {
        return "no other way is expected to be faster".into();
    }
    let [gain, low, high] =
        [best.gain, best.gain_interval.0, best.gain_interval.1].map(|gain| gain * 100.0);
    if best.claim().is_some() {
        format!(
            "expect {gain:.0} % over data that one thread initialised ({low:.0} to {high:.0} %), and \
             claim {low:.0} %"
        )
    } else {
        format!(
            "no gain over data that one thread initialised is claimed ({gain:.0} %, anywhere from \
             {low:.0} to {high:.0} %)"
        )
    }
}

fn break_even(model: &Strategy, interleave: &str) -> String {
    let regular = &model.regular;
    match model.break_even_share {
        Some(share) => format!(
            "If more than {} % of the regular accesses go to data that was not placed (that one thread \
             initialised, or that was not bound), interleave after all, `{interleave}`; below that, \
             place it.",
            format_significant(share * 100.0, 2)
        ),
        None if regular.best().strategy == PlacementStrategy::RoundRobin => {
            "Interleaved pages are as fast here as own ones: however well regular data is placed, \
             binding gains nothing."
                .into()
        }
        None => {
            "However much of the regular data is not placed, interleaving all of it gains nothing."
                .into()
        }
    }
}
