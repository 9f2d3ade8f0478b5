//! A wrong number in a paper's file does not pass: agreement and explanations both hang on the number
//! itself.

use nearfar_reproduce::{
    Status, braithwaite2012, denoyelle2019, ribeiro2010, saad2022, vladimirov2012,
};
use serde_json::{Value, json};

use crate::changed_file::{Changeable, numbers, row};

/// Names of the fields of the thesis's file that hold printed results. The matrices are inputs: most
/// of their values are not the best of their pair and decide nothing.
const OF_THESIS: [&str; 8] = ["mean", "low", "high", "sd", "max", "alpha", "d", "value"];

/// Every printed result in turn, three percent wrong; two units of the last digit are too many for a
/// row that passes.
#[test]
fn numbers_of_the_thesis() {
    let thesis = Changeable::<braithwaite2012::Facts>::new();
    let mut paths = numbers(&thesis.file, |path| {
        let mut names = path.split('/').filter(|part| part.parse::<usize>().is_err());
        names.next_back().is_some_and(|name| OF_THESIS.contains(&name))
    });
    assert_eq!(paths.len(), 169, "{paths:#?}");
    // Printed only, nothing is computed from them: the transfers of table A.2, and in equations
    // 4.10 and 4.18 the alpha of a class without a share.
    let idle = ["/data_access/rows/0/alpha/2", "/what_if/1/alpha/2"];
    paths.retain(|path| {
        !path.starts_with("/class_tables/2/transfers") && !idle.contains(&path.as_str())
    });
    for path in paths {
        // A transfer's two interfaces are equal in every class, and the better one counts: a
        // lower figure for one of them changes nothing.
        let is_doubled = path.contains("/transfers/") && path.contains("/max/");
        for side in [1.03, 0.97].into_iter().take(if is_doubled { 1 } else { 2 }) {
            let value = thesis.number(&path);
            // To digits that the table can have printed.
            let printed = thesis.file.pointer(&path).unwrap().to_string();
            let digits = printed.split('.').nth(1).map_or(0, str::len).max(digits_of(&path));
            let unit = 10_f64.powi(-i32::try_from(digits).unwrap());
            let wrong = (value * side / unit).round() * unit;
            let is_same = (wrong - value).abs() < unit / 2.0;
            let wrong = if is_same { value + unit * (side - 1.0).signum() } else { wrong };
            thesis.assert_noticed(&path, &format!("{wrong:.digits$}").parse().unwrap());
        }
    }
    for (path, wrong, item) in [
        ("/alpha_tables/0/streams/0/alpha/0", "0.3045", "table 4.1, amd-2p, memory, gnu, class 0"),
        ("/alpha_tables/1/transfers/0/alpha/1", "0.3205", "table 4.1, intel-2p, readback, class 1"),
        ("/data_access/rows/0/d", "0.4363", "equation 4.10, amd-2p, D"),
        ("/what_if/0/rows/1/d", "0.2971", "equation 4.17, amd-2p, line 2, D"),
        ("/cbench/0/max/1", "3917", "table 5.2, amd-2p, memory, class 1, maximum, MB/s"),
        ("/cbench/1/alpha/0", "0.4569", "table 5.4, amd-2p, download, class 0, alpha"),
        ("/cbench/5/max/2", "2.27", "table A.5, amd-4p, readback, class 2, maximum, GB/s"),
        ("/relative_alphas/rows/0/alpha/2", "0.3335", "amd-2p, class 2, alpha relative to class 0"),
        ("/run_statistics/rows/0/mean", "8129", "table 3.2, amd-2p, data on node 0, mean, MB/s"),
    ] {
        let paper = thesis.with(path, &wrong.parse().unwrap()).unwrap();
        assert_eq!(row(&paper, item).status, Status::Fail, "{item}");
    }
    thesis.assert_refused(&[
        ("/gamma_gb_per_s", json!(17.1)),
        ("/cbench/0/alpha", json!([0.3774])),
        ("/cbench/0/rows/0/values", json!([6395])),
        ("/cbench/0/max/0", json!(6441.5)),
        ("/cbench/0/columns/0", json!([0, 9])),
        ("/cbench/0/rows/0/values/0", json!(-1)),
        ("/relative_alphas/rows/0/machine", json!("nobody")),
    ]);
}

/// Least digits after the point of the table that a number of the thesis stands in.
fn digits_of(path: &str) -> usize {
    match path {
        _ if path.contains("alpha") || path.ends_with("/d") => 4,
        _ if path.contains("/cbench/") || path.contains("/run_statistics/") => 0,
        _ => 1,
    }
}

/// Fields of denoyelle2019 below which printed results stand.
const OF_ROOFS: [&str; 8] = [
    "/measured/",
    "/caches/",
    "/memory/",
    "/contended/",
    "/all_local/",
    "/congested/",
    "/peak_gflop_per_s/",
    "/pairs/rows/",
];

#[test]
fn numbers_of_denoyelle2019() {
    let paper = Changeable::<denoyelle2019::Facts>::new();
    let roofs = numbers(&paper.file, |path| OF_ROOFS.iter().any(|field| path.contains(field)));
    // Ten instructions a cycle, 13 figures of table 2, 11 of table 5, 16 of table 4.
    assert_eq!(roofs.len(), 10 + 13 + 11 + 16, "{roofs:#?}");
    let thetas = numbers(&paper.file, |path| path.starts_with("/overlap_theta/machines/"));
    assert_eq!(thetas.len(), 24, "{thetas:#?}");
    roofs.iter().chain(&thetas).for_each(|path| paper.assert_both_noticed(path, 0.03));
    // Bounds are compared by their sign alone: one that ours does not keep fails, by both measures.
    for bound in ["/validation_error/bounds/0/percent", "/validation_error/bounds/1/percent"] {
        let below = paper.with(bound, &json!(0.01)).unwrap();
        assert_eq!(below.count(Status::Fail), 2, "{bound}");
    }
    // The reason for the loads of table 1, by arithmetic on the paper's numbers alone.
    let printed = paper.number("/instructions_per_cycle/0/measured/load");
    let loads = paper.number("/roofs/0/caches/0") / 7.0 / 1.7 / 32.0;
    assert!((loads - 1.996).abs() < 5e-4, "{loads}");
    assert!(((loads * 100.0).floor() / 100.0 - printed).abs() < 1e-9);
    assert!(((loads * 100.0).round() / 100.0 - printed).abs() > 0.009);
    paper.assert_refused(&[]);
}

#[test]
fn numbers_of_saad2022() {
    let paper = Changeable::<saad2022::Facts>::new();
    // Others are only printed, or compared in their sign.
    let paths = numbers(&paper.file, |path| {
        let is_input = path.starts_with("/kernels") || path.contains("gain");
        !is_input && !path.ends_with("decimals")
    });
    assert_eq!(paths.len(), 100 + 2 + 5);
    for path in paths {
        for side in [1.03, 0.97] {
            let value = paper.number(&path);
            let wrong = (value * side).round();
            // Small counts and zeros by one.
            let wrong = if (wrong - value).abs() < 0.5 { value + 1.0 } else { wrong };
            paper.assert_noticed(&path, &wrong.to_string().parse().unwrap());
        }
    }
    for gain in ["/best_split/gain", "/best_split/gain_of_two_processes"] {
        let lost = paper.with(gain, &json!(-1.0)).unwrap();
        assert_eq!(lost.count(Status::Fail), 1, "{gain}");
    }
    paper.assert_refused(&[("/kernels/rows/0/values", json!([1.0]))]);
}

#[test]
fn numbers_of_vladimirov2012() {
    let paper = Changeable::<vladimirov2012::Facts>::new();
    // Each in turn two fifths wrong, which is more than any room or reason has.
    for path in [
        "/scaling/rows/0/mean",
        "/scaling/rows/1/mean",
        "/scaling/rows/1/sd",
        "/scaling/rows/1/min",
        "/scaling/rows/1/max",
        "/scaling/rows/1/modes/0",
        "/scaling/rows/1/modes/1",
        "/scaling/rows/1/modes/2",
        "/scaling/rows/1/modes/3",
        "/scaling/rows/2/mean",
        "/scaling/best_scatter/mean",
        "/findings/high_mode_gb_per_s",
        "/findings/compact_gb_per_s",
        "/findings/scatter_gain_percent",
    ] {
        paper.assert_both_noticed(path, 0.4);
    }
    // Explained rows hang on the numbers that explain them.
    for (path, wrong, item) in [
        // One thread's runs scatter no more than others, or scattered ones less by far than ours.
        ("/scaling/rows/0/sd", 0.02, "1 thread unbound, standard deviation, GB/s"),
        ("/scaling/best_scatter/sd", 0.7, "20 threads scatter, standard deviation, GB/s"),
        // No outlier of the machine reaches so far.
        ("/scaling/rows/1/min", 44.0, "20 threads unbound, minimum, GB/s"),
    ] {
        let whole = paper.with(path, &json!(paper.number(path))).unwrap();
        assert_eq!(row(&whole, item).status, Status::Explained);
        let changed = paper.with(path, &json!(wrong)).unwrap();
        assert_eq!(row(&changed, item).status, Status::Fail, "{path}");
    }
    paper.assert_refused(&[
        ("/machine/name", json!("other")),
        ("/scaling/rows/1/modes", json!([])),
        ("/scaling/rows/1/modes/0", json!(40)),
        ("/scaling/rows/1/threads", json!(21)),
        ("/findings/high_mode_gb_per_s", json!(75)),
    ]);
}

/// Every gain the other way round, every order that is judged turned, every figure that comes back
/// a unit of its last digit off.
#[test]
fn numbers_and_orders_of_ribeiro2010() {
    let paper = Changeable::<ribeiro2010::Facts>::new();
    for place in 0..paper.file["findings_percent_mean_gain"].as_array().unwrap().len() {
        let path = format!("/findings_percent_mean_gain/{place}/gain");
        paper.assert_noticed(&path, &json!(-paper.number(&path)));
    }
    for (path, value) in [
        ("/machines/itanium2/stream_read_mbs", json!(1157.06)),
        ("/machines/itanium2/stream_write_mbs", json!(780.34)),
        ("/machines/opteron/stream_read_mbs", json!(1617.07)),
        ("/machines/opteron/stream_write_mbs", json!(1458.88)),
        ("/machines/itanium2/numa_factor/0", json!(2.1)),
        ("/machines/itanium2/numa_factor/1", json!(2.4)),
        ("/machines/opteron/numa_factor/0", json!(1.1)),
        ("/machines/opteron/numa_factor/1", json!(1.6)),
        ("/orders/0/strategies/0", json!("memory-bind")),
        ("/orders/1/strategies/1", json!("first-touch")),
        ("/orders/2/strategies/0", json!("parallel-init")),
        ("/orders/3/strategies/0", json!("parallel-init")),
        ("/orders/4/strategies/0", json!("memory-bind")),
        ("/orders/6/strategies", json!(["parallel-init", "memory-bind"])),
        ("/conclusion_orders/0/best", json!("round-robin")),
        ("/conclusion_orders/1/best", json!("memory-bind")),
        ("/conclusion_orders/2/best", json!("memory-bind")),
        ("/conclusion_orders/3/best", json!("parallel-init")),
        ("/mean_gain_percent/0", json!(3)),
        ("/mean_gain_percent/1", json!(79)),
        // Of the gains that contradict each other the reason names all four.
        ("/findings_percent_mean_gain/3/gain", json!(81)),
        ("/findings_percent_mean_gain/4/gain", json!(51)),
        ("/findings_percent_mean_gain/9/gain", json!(28)),
        ("/findings_percent_mean_gain/10/gain", json!(38)),
        // The remark that explains the worst place of memory-bind.
        ("/findings_in_words/2", json!("opteron, ondes3d: memory-bind is the worst")),
    ] {
        paper.assert_noticed(path, &value);
    }
    paper.assert_refused(&[
        ("/findings_percent_mean_gain/0/machine", json!("nobody")),
        ("/findings_percent_mean_gain/0/workload", json!("nothing")),
        ("/findings_percent_mean_gain/0/than", json!("no-way")),
        ("/orders/6/strategies", json!(["memory-bind"])),
        ("/conclusion_orders/0/best", json!("no-way")),
    ]);
    // By arithmetic that shares only the paper's numbers with the code: gains of two strategies over
    // two others leave one order of those, or none.
    let gain = |better: &str, than: &str| {
        let findings = paper.file["findings_percent_mean_gain"].as_array().unwrap();
        let is_asked = |of: &&Value| {
            [&of["machine"], &of["workload"], &of["better"], &of["than"]]
                == ["itanium2", "cg", better, than]
        };
        1.0 + findings.iter().find(is_asked).unwrap()["gain"].as_f64().unwrap() / 100.0
    };
    // Half a percent of rounding in each gain does not close the gap.
    let ratio = |better, rounding: f64| {
        (gain(better, "first-touch") + rounding) / (gain(better, "parallel-init") - rounding)
    };
    for (better, exact) in [("round-robin", 1.2), ("memory-bind", 0.9137)] {
        assert!((ratio(better, 0.0) - exact).abs() < 1e-4);
    }
    assert!(ratio("memory-bind", 0.005) < 1.0 && 1.0 < ratio("round-robin", -0.005));
}
