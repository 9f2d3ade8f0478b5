//! All rows of the thesis, in its order.

use crate::error::ReproduceError;
use crate::paper::Paper;
use crate::row::Row;

use super::facts::Facts;
use super::machines::Machines;
use super::{alphas, cbench, data_access, run_statistics, stream_classes};

/// The paper's key.
pub const KEY: &str = "braithwaite2012";

/// The thesis's numbers, as the repository holds them.
///
/// # Errors
/// When the file contradicts itself.
pub fn facts() -> Result<Facts, ReproduceError> {
    Facts::parse(include_str!("../../../../papers/braithwaite2012.json"))
}

/// Works the thesis's tables out from these numbers and machines.
///
/// # Errors
/// When the numbers contradict each other, or a model refuses what they ask of it.
pub fn reproduce(facts: &Facts, machines: &Machines) -> Result<Paper, ReproduceError> {
    let mut rows = conventions(facts);
    rows.extend(run_statistics::rows(&facts.run_statistics));
    rows.extend(stream_classes::rows(facts, "3.4", machines)?);
    rows.extend(alphas::absolute_rows(facts, machines)?);
    rows.extend(data_access::rows(facts, machines)?);
    let (chapter_5, appendix): (Vec<_>, Vec<_>) =
        facts.cbench.iter().partition(|matrix| matrix.classes_table.starts_with('5'));
    rows.extend(cbench::rows(facts, &chapter_5, machines)?);
    rows.extend(alphas::relative_rows(facts, machines)?);
    rows.extend(stream_classes::rows(facts, "A.2", machines)?);
    rows.extend(cbench::rows(facts, &appendix, machines)?);
    rows.extend(stream_classes::asymmetry_rows(&facts.asymmetry, machines)?);
    Ok(Paper { key: facts.key.clone(), title: facts.title.clone(), rows })
}

fn conventions(facts: &Facts) -> Vec<Row> {
    vec![
        Row::given(
            "convention, gamma, one channel of DDR3-2133, GB/s".into(),
            facts.gamma_gb_per_s,
            "an input: what alphas of memory are relative to",
        ),
        Row::given(
            "convention, phi, PCIe 2.0 x16, GB/s".into(),
            facts.phi_gb_per_s,
            "an input: what alphas of transfers are relative to; the link carries 8.0 GB/s each way",
        ),
    ]
}
