//! Figures of simulated machines that somebody else printed, or that follow by hand from what a
//! machine's file says, by the command line's JSON.

use serde_json::Value;

use crate::records::{asked, json};
use crate::support::{refuse, run, text};

/// A place in a command's JSON, what stands there, and how far off it may be.
type Figure = (&'static str, f64, f64);

/// Command lines with figures of each.
const FIGURES: &[(&str, &[Figure])] = &[
    // braithwaite2012, tables 3.4, 4.1 and A.2: the best compiler, one thread.
    (
        "model @amd-2p classes --gamma DDR3-2133",
        &[
            ("/sets/0/classes/0/max_gb_per_s", 9.3, 0.03),
            ("/sets/0/classes/1/max_gb_per_s", 5.6, 0.03),
            ("/sets/0/classes/2/max_gb_per_s", 3.1, 0.03),
            ("/sets/0/classes/2/alpha", 3.1 / 17.0667, 0.03),
            ("/sets/0/classes/2/alpha_relative", 3.1 / 9.3, 0.03),
        ],
    ),
    (
        "model @intel-2p classes",
        &[
            ("/sets/0/classes/0/max_gb_per_s", 10.5, 0.03),
            ("/sets/0/classes/1/max_gb_per_s", 7.1, 0.03),
        ],
    ),
    (
        "model @amd-4p classes",
        &[
            ("/sets/0/classes/0/max_gb_per_s", 8.0, 0.03),
            ("/sets/0/classes/1/max_gb_per_s", 5.5, 0.03),
            ("/sets/0/classes/2/max_gb_per_s", 4.0, 0.03),
            ("/sets/0/classes/3/max_gb_per_s", 3.2, 0.03),
        ],
    ),
    // Equation 4.11 (printed as 0.4000), and 4.17.
    (
        "predict --alpha 0.5449,0.3281,0.1816 --share 0.5,0.25,0.25",
        &[
            ("/programs/0/d", 0.399_875, 1e-12),
            ("/programs/0/d_serial", 0.327_202, 3e-6),
            ("/programs/0/d_overlap", 0.7264, 1e-12),
        ],
    ),
    (
        "predict --alpha 0.5449,0.3281,0.1816 --share 1,0,0 --share 0,0,1",
        &[("/programs/1/d", 0.1816, 1e-12)],
    ),
    (
        "predict --alpha 0.2,0.5 --share 0.333,0.6665",
        &[("/programs/0/shares/0", 0.333 / 0.9995, 1e-12)],
    ),
    ("predict @amd-2p --share 0,1,0", &[("/programs/0/d_gb_per_s", 5.6, 0.03)]),
    (
        "predict @amd-2p --share 0,1,0 --gamma braithwaite2012",
        &[("/programs/0/d", 5.6 / 17.066, 0.03)],
    ),
    (
        "predict @amd-2p --data 0 --data 3",
        &[
            ("/processes/outcomes/0/slowest_lone_gb_per_s", 9.3, 0.03),
            ("/processes/outcomes/0/sum_lone_gb_per_s", 18.6, 0.03),
        ],
    ),
    // Table 5.5, from node 3: 1 / 2.3192 + 1 / 2.2828 against 1 / 5.8503 + 1 / 6.58.
    ("advise @devices --device cuda0", &[("/places/3/time_ratio", 2.692, 0.02)]),
    // vladimirov2012: unbound runs of 20 threads have modes at 53, 62, 71 and 82 GB/s, and scattered
    // ones are 17.8 % faster.
    (
        "model @runs distribution",
        &[
            ("/kernels/0/cases/3/runs/modes/modes/0/place_gb_per_s", 53.0, 0.02),
            ("/kernels/0/cases/3/runs/modes/modes/1/place_gb_per_s", 62.0, 0.02),
            ("/kernels/0/cases/3/runs/modes/modes/2/place_gb_per_s", 71.0, 0.02),
            ("/kernels/0/cases/3/runs/modes/modes/3/place_gb_per_s", 82.0, 0.02),
            ("/kernels/0/advice/effect/speedup/value", 1.178, 0.018),
        ],
    ),
    // denoyelle2019, table 2: 36.1 GB/s local, 14.3 from the farthest node, 6.2 where all use it.
    (
        "model @joe0 roofline",
        &[
            ("/charts/0/programs/0/alone_factor", 36.1 / 14.3, 0.02),
            ("/charts/0/programs/0/together_factor", 36.1 / 6.2, 0.02),
        ],
    ),
    // Half in either memory of Knights Landing: 1 / (0.5 / 38.1 + 0.611 x 0.5 / 92).
    (
        "predict @knl-flat --load-share 1 --fast-share 0.5",
        &[("/pairs/0/placements/2/gb_per_s/value", 60.8, 0.03)],
    ),
    // ribeiro2010.
    ("model @itanium2 latency", &[("/span/least", 2.0, 0.03), ("/span/most/value", 2.5, 0.03)]),
    ("model @opteron-8 latency", &[("/span/least", 1.2, 0.03), ("/span/most/value", 1.5, 0.03)]),
    // saad2022: the law of pressure, and 13842 MB/s with 3 near and 1 far.
    ("model @e5520 sharing", &[("/grids/0/fit/a", 0.384, 0.13)]),
    (
        "predict @e5520 --split 3,1 --node 1",
        &[("/grids/0/splits/0/sum_gb_per_s/value", 13.842, 0.03)],
    ),
    // The machine's file: controllers of 36 GB/s of the triad, of which load moves 1.3 times.
    ("model @eight flow", &[("/parts/64/capacity_gb_per_s/value", 36.0 * 1.3, 0.04)]),
];

#[test]
fn figures_are_those_of_papers_and_of_the_machines_files() {
    for (words, figures) in FIGURES {
        let view = json(words);
        for &(place, expected, tolerance) in *figures {
            let found = view.pointer(place).and_then(Value::as_f64);
            let is_near = found.is_some_and(|found| (found / expected - 1.0).abs() <= tolerance);
            assert!(is_near, "{words}, {place}: {found:?} is not {expected}");
        }
    }
}

/// An option that says nothing of the model that is asked for is refused: the answer was the same, byte for
/// byte.
#[test]
fn options_of_another_model_are_refused() {
    for (options, says) in [
        ("latency --gamma 1GB/s", "--gamma is of the model classes"),
        ("flow --threads all", "--threads is of the model classes"),
        ("classes --unbounded", "--unbounded is of the model hybrid"),
        ("classes --phi 25GB/s", "--phi is of the model devices"),
    ] {
        refuse(&mut asked(&format!("model @sound {options}")), 2, &[says]);
    }
}

/// What no figure can be: an interval with its ends crossed or beside its value, a zero below zero.
fn impossible(view: &Value, at: &str, found: &mut Vec<String>) {
    match view {
        Value::Number(number)
            if number.as_f64().is_some_and(|value| value == 0.0 && value.is_sign_negative()) =>
        {
            found.push(format!("{at}: {number}"));
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                impossible(value, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            let number = |value: Option<&Value>| value.and_then(Value::as_f64);
            for (name, value) in fields {
                let place = format!("{at}/{name}");
                if name.starts_with("interval")
                    && let (Some(low), Some(high)) = (number(value.get(0)), number(value.get(1)))
                {
                    let own = number(fields.get("value")).filter(|_| name == "interval");
                    if low > high || own.is_some_and(|value| value < low || value > high) {
                        found.push(format!("{place}: {value} of {own:?}"));
                    }
                }
                impossible(value, &place, found);
            }
        }
        _ => {}
    }
}

#[test]
fn no_simulated_machine_has_figures_that_cannot_be() {
    let crossed = serde_json::json!({"value": 1, "interval": [3, 2], "zero": [-0.0]});
    let mut found = Vec::new();
    impossible(&crossed, "", &mut found);
    assert_eq!(found.len(), 2, "{found:?}");
    let mut intervals = 0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl").display().to_string();
    for machine in nearfar_flow::builtin_names() {
        let words = format!("characterize --simulate {machine} --suite quick --force --out {path}");
        let output = run(&mut asked(&words));
        assert_eq!(output.status.code(), Some(0), "{machine}: {}", text(&output.stderr));
        for command in ["show", "model", "advise", "doctor"] {
            let output = run(asked(&format!("{command} {path}")).arg("--json"));
            // A fault that doctor finds in the machine is 1.
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{machine}: {}",
                text(&output.stderr)
            );
            for view in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
                let view = view.unwrap();
                intervals += view.to_string().matches("\"interval\":[").count();
                let mut found = Vec::new();
                impossible(&view, "", &mut found);
                assert!(found.is_empty(), "{machine}, {command}: {found:?}");
            }
        }
    }
    assert!(intervals > 1000, "{intervals} intervals");
}
