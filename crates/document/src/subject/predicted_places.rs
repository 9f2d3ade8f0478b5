//! What to know of predictions at several places.

/// A place, and whether its prediction lies within the traffic that was measured; else why it has none.
pub(super) type PredictedPlace<'a> = (String, Result<bool, &'a str>);

/// Where the law stands alone; where no place has a prediction, which is the answer, why each has none.
pub(super) fn findings(places: &[PredictedPlace<'_>]) -> Vec<String> {
    let beyond = places.iter().filter(|(_, found)| *found == Ok(false));
    let beyond: Vec<&str> = beyond.map(|(place, _)| place.as_str()).collect();
    let beyond = (!beyond.is_empty()).then(|| {
        format!(
            "Beyond the traffic that was measured, where the law stands alone: {}.",
            beyond.join(", ")
        )
    });
    let is_known = places.iter().any(|(_, found)| found.is_ok());
    let unknown = places.iter().filter(|_| !is_known).filter_map(|(place, found)| {
        let why = found.err()?;
        Some(format!("{place}: {why}."))
    });
    beyond.into_iter().chain(unknown).collect()
}
