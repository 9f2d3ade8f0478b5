//! The recipes of `docs/sensitivity.md`, and what their runs must have.

use nearfar_record::Record;

const RECIPES: &str = include_str!("../../../../docs/sensitivity.md");

/// What the documentation prints from a line on, to the end of its block.
pub fn recipe(begin: &str) -> &'static str {
    let recipe = &RECIPES[RECIPES.find(begin).unwrap()..];
    &recipe[..recipe.find("```").unwrap()]
}

/// Every run printed a metric, and its pages were found.
pub fn judge_runs(record: &Record) {
    for sample in &record.samples {
        let run = sample.run.as_ref().unwrap();
        assert!(run.metric.is_some_and(|metric| metric > 0.0), "{run:?}");
        assert!(run.pages.is_some(), "{run:?}");
    }
}
