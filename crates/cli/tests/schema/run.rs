//! What became of a program's placement, with every field given and null.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nearfar_machine::Binding;
use nearfar_place::{
    CountMethod, Loss, Outcome, Placement, ProgramPages, Resolution, SeenThread, Verdict,
    Verification, WeightsBy,
};
use nearfar_report::RunView;
use serde_json::Value;

use crate::program;
use crate::{assert_valid, validator};

pub const NULLS: &[&str] = &[
    "weights_by",
    "refused[].remedy",
    "pages",
    "pages.asked_shares",
    "pages.largest_deviation",
    "pages_absent",
    "verification",
    "status",
];

fn loss(remedy: Option<&str>) -> Loss {
    Loss { what: "it".into(), reason: "no".into(), remedy: remedy.map(Into::into) }
}

fn outcome(pages: Result<ProgramPages, String>) -> Outcome {
    let threads = vec![SeenThread {
        process: 7,
        name: "work\u{1b}[2J".into(),
        cpus_allowed: [0, 1].into_iter().collect(),
        cpus_seen: [1].into_iter().collect(),
    }];
    Outcome {
        status: ExitStatus::from_raw(0),
        pages,
        threads,
        threads_unlisted: 3,
        losses: vec![loss(None)],
        notes: vec!["a sentence".into()],
    }
}

pub fn views() -> Vec<(&'static str, Value)> {
    let mut views = Vec::new();
    let binding: Binding = "cpus=0-3 mem=weighted:0=3,1=1".parse().unwrap();
    let weights = [(0, 3), (1, 1)].into();
    for by in [Some(WeightsBy::Kernel), Some(WeightsBy::Moving), None] {
        let resolution = Resolution {
            asked: binding.clone(),
            start: binding.clone(),
            weights: by.map(|by| (std::collections::BTreeMap::clone(&weights), by)),
            pinning: None,
            losses: vec![loss(Some("do this"))],
        };
        let placement: Placement = "weighted:0=3,1=1".parse().unwrap();
        let mut view = RunView::new(&placement, &resolution);
        view.say_why_absent("the program was not started");
        views.push(view);
        for (method, bytes) in [
            (CountMethod::ExitStop, [(0, 3 << 20), (1, 1 << 20)]),
            (CountMethod::Sampled, [(0, 0), (9, 0)]),
        ] {
            let pages = ProgramPages { method, bytes: bytes.into() };
            let asked = by.and_then(|_| placement.asked_shares(&binding.memory));
            let mut view = RunView::new(&placement, &resolution);
            view.tell(asked.as_ref(), &outcome(Ok(pages)), 137);
            view.verify(&Verification {
                rounds: 6,
                placed_seconds: 1.0,
                default_seconds: 1.5,
                ratio: 1.5,
                interval: (1.4, 1.6),
                verdict: Verdict::Faster,
            });
            views.push(view);
        }
        let mut view = RunView::new(&placement, &resolution);
        view.tell(None, &outcome(Err("it ended too soon".into())), 0);
        views.push(view);
    }
    for view in &views {
        let text = view.text();
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    views.iter().map(|view| ("run", serde_json::to_value(view).unwrap())).collect()
}

#[test]
fn a_program_under_a_placement() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let path = file.to_str().unwrap();
    for (placement, status) in [("interleave", 3), ("compact", 3), ("bind:1000", 3)] {
        let program =
            ["run", "--placement", placement, "--report", path, "--", "sh", "-c", "exit 3"];
        let output = program::nearfar(&program);
        assert_eq!(output.status.code(), Some(status));
        let view: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_valid(&validator("run"), &view);
        assert_eq!((&view["placement"], &view["status"]), (&placement.into(), &status.into()));
    }
}
