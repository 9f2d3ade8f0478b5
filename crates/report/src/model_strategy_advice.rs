//! What to do for a program's memory, in sentences with their numbers and conditions.

use nearfar_model::{Access, Expectation, PlacementStrategy, Strategy, StrategyTime};

/// The sentences of a model.
pub(crate) fn advice(model: &Strategy, bind: &[String], interleave: &str) -> Vec<String> {
    let mut sentences: Vec<String> = [&model.regular, &model.irregular]
        .map(|expectation| of_access(expectation, bind, interleave))
        .into();
    sentences.push(break_even(model));
    let claims = [&model.regular, &model.irregular].map(|of| {
        let least = of.best().least_claim() * 100.0;
        format!("{} accesses {least:.0} %", of.access.as_str())
    });
    sentences.push(format!(
        "Do not claim a gain below max(5 %, 2 x error): for {}; gains are of the time that the \
         program waits for memory, and with fewer threads than cores they are smaller.",
        claims.join(", for ")
    ));
    sentences
}

fn of_access(expectation: &Expectation, bind: &[String], interleave: &str) -> String {
    let (best, second) = (expectation.best(), expectation.second());
    let access = match expectation.access {
        Access::Regular => "Where each thread keeps to its part of the data",
        Access::Irregular => "Where threads access all data in no order",
    };
    let how = how(best.strategy, expectation.access, bind, interleave);
    let gain = gain(best);
    let other = if expectation.is_decided() {
        format!(
            "the second, {}, takes {:.0} % longer",
            second.strategy.as_str(),
            expectation.margin * 100.0
        )
    } else {
        format!(
            "{} takes {:.0} % longer, too little to tell: take what is easier",
            second.strategy.as_str(),
            expectation.margin * 100.0
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
    if best.is_claimed() {
        format!(
            "expect {gain:.0} % over data that one thread initialised ({low:.0} to {high:.0} %)"
        )
    } else {
        format!(
            "no gain over data that one thread initialised is claimed ({gain:.0} %, anywhere from \
             {low:.0} to {high:.0} %)"
        )
    }
}

fn break_even(model: &Strategy) -> String {
    let regular = &model.regular;
    match model.break_even_share {
        Some(share) => format!(
            "If more than {:.0} % of the regular accesses go to data that one thread initialised or that \
             was not placed, interleave after all; below that, bind.",
            share * 100.0
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
