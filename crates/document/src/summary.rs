//! What the models say first, in three to six sentences.

use crate::subject::{ClassesView, FittedView, latency_answer};
use nearfar_units::format_significant;

use crate::document::Sources;

/// More are in the sections.
const MOST_SENTENCES: usize = 6;

/// The sentences: classes, NUMA factor, then what to do, one model after the other.
pub(crate) fn summary(sources: &Sources<'_>) -> Vec<String> {
    let of_models = sources.models.iter().filter_map(|model| match model {
        FittedView::Classes(view) => classes_sentence(view),
        FittedView::Latency(view) => latency_answer(&view.result),
        _ => None,
    });
    // Of each further model the first thing to do: the text below has the others.
    let advice = sources
        .models
        .iter()
        .filter(|model| !matches!(model, FittedView::Classes(_) | FittedView::Latency(_)));
    let sentences = of_models.chain(advice.filter_map(|model| model.advice().into_iter().next()));
    sentences.take(MOST_SENTENCES).collect()
}

fn classes_sentence(view: &ClassesView) -> Option<String> {
    let first = view.classes.first()?;
    let gb = |value| format_significant(value, 3);
    let best = format!("{} GB/s", gb(first.max_gb_per_s));
    let threads = view.threads.words();
    let kernels = view.kernels.join(", ");
    let Some(last) = view.classes.last().filter(|_| view.classes.len() > 1) else {
        return Some(format!(
            "Every pair of cores and memory node that was measured is alike: {best} ({kernels}, \
             {threads}, best round)."
        ));
    };
    Some(format!(
        "Pairs of cores and memory node fall into {} bandwidth classes: the fastest reaches {best}, \
         the slowest {} GB/s, {} of it ({kernels}, {threads}, best round).",
        view.classes.len(),
        gb(last.max_gb_per_s),
        format_significant(last.alpha_relative, 2)
    ))
}
