//! The views of `model roofline` and of what `predict` asks it, with every optional field given
//! and null.

use serde_json::Value;

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    Vec::new()
}
