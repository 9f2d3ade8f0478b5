//! In which form a document is written.

use std::io::{self, Write};
use std::path::Path;

use nearfar_record::Record;

use crate::chart_library::{CHART_LIBRARY, HOW_TO_GET_IT};
use crate::{
    Document, Report, ReportChoices, write_csv, write_json, write_markdown, write_metrics,
    write_page, write_tex,
};

/// A form, by the ending of the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page with charts, in one file.
    Html,
    /// For an issue or a wiki.
    Markdown,
    /// The document as data.
    Json,
    /// For a paper: LaTeX.
    Tex,
    /// Samples in long form.
    Csv,
    /// Figures that are watched over time, in OpenMetrics text.
    Metrics,
}

impl Format {
    /// All, in the order in which messages name them.
    pub const ALL: [Self; 6] =
        [Self::Html, Self::Markdown, Self::Tex, Self::Json, Self::Csv, Self::Metrics];

    /// The ending, without its dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Tex => "tex",
            Self::Csv => "csv",
            Self::Metrics => "prom",
        }
    }

    /// The form that a file's name asks for; `None` where it asks for none that there is.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|format| format.ending().eq_ignore_ascii_case(ending))
    }

    /// Why this program cannot write the form, and what to do; `None` where it can.
    pub fn unavailable(self) -> Option<&'static str> {
        (self == Self::Html && CHART_LIBRARY.is_none()).then_some(HOW_TO_GET_IT)
    }

    /// What to do where a file's name asks for none.
    pub fn unnamed(path: &Path) -> String {
        let endings = Self::endings();
        format!("{} says no form by its ending: give the file one of {endings}", path.display())
    }

    /// All endings, as a message names them: `.json, .md`.
    fn endings() -> String {
        Self::ALL.map(|format| format!(".{}", format.ending())).join(", ")
    }
}

/// Writes a record as a document of that form.
///
/// # Errors
/// Where the output fails.
pub fn write_document(
    format: Format,
    record: &Record,
    choices: &ReportChoices,
    out: &mut impl Write,
) -> io::Result<()> {
    let document = || Document::with_choices(record, choices);
    match format {
        Format::Html => write_page(record, choices, out),
        Format::Json => write_json(out, &Report::new(record, choices)),
        Format::Markdown => write_markdown(&document(), out),
        Format::Tex => write_tex(&document(), out),
        Format::Csv => write_csv(record, out),
        Format::Metrics => write_metrics(record, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_says_its_form() {
        assert_eq!(Format::of(Path::new("a.html")), Some(Format::Html));
        assert_eq!(Format::of(Path::new("a/b.MD")), Some(Format::Markdown));
        assert_eq!(Format::of(Path::new("node.prom")), Some(Format::Metrics));
        assert_eq!(Format::of(Path::new("b.tar.json")), Some(Format::Json));
        for none in ["json", "a.", "a.docx", "a.json/b", ""] {
            assert_eq!(Format::of(Path::new(none)), None, "{none}");
        }
    }
}
