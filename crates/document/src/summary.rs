//! What the models say first, in three to six sentences.

use nearfar_model::FittedModel;

use crate::subject::{classes, latency_answer, model_findings};

use crate::document::Sources;

/// More are in the sections.
const MOST_SENTENCES: usize = 6;

/// The sentences: classes, NUMA factor, then what to do, one model after the other.
pub(crate) fn summary(sources: &Sources<'_>) -> Vec<String> {
    let of_models = sources.models.iter().filter_map(|model| match model {
        FittedModel::Classes(model) => classes::answer(model),
        FittedModel::Latency(model) => latency_answer(model),
        _ => None,
    });
    // Of each further model the first thing to do: the text below has the others.
    let advice = sources
        .models
        .iter()
        .filter(|model| !matches!(model, FittedModel::Classes(_) | FittedModel::Latency(_)));
    let sentences =
        of_models.chain(advice.filter_map(|model| model_findings(model).into_iter().next()));
    sentences.take(MOST_SENTENCES).collect()
}
