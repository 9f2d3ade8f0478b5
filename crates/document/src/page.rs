//! A document as one HTML file that opens from disk and asks the network for nothing.
//!
//! What stands in a record may be anything: text is made printable and escaped by the templates,
//! and data is packed and in letters of base64. Should that fail, the page's own policy runs no
//! script and loads nothing but what it names by its hash.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::printable::printable;
use crate::subject::{Comparison, ReportChoices, fleet_document};
use base64ct::{Base64, Encoding};
use minijinja::{Environment, HtmlEscape, context, escape_formatter};
use nearfar_fleet::{FleetComparison, FleetDrift};
use nearfar_model::beside;
use nearfar_record::Record;
use sha2::{Digest, Sha256};

use crate::chart_library::{CHART_LIBRARY, ChartLibrary, HOW_TO_GET_IT};
use crate::charts::{self, Chart, MachineDrawing, Plot};
use crate::document::Document;
use crate::figure::Behind;
use crate::page_data::PageData;
use crate::page_view::{PageHealth, PageMatrix, PageSection, PageTile};
use crate::samples::Samples;
use crate::subject::Sources;
use crate::table::Cell;

const STYLE: &str = include_str!("../page/page.css");

/// The page's own script, in one scope.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../page/theme.js"),
    include_str!("../page/samples.js"),
    include_str!("../page/selectors.js"),
    include_str!("../page/heat_map.js"),
    include_str!("../page/lines.js"),
    include_str!("../page/spread.js"),
    include_str!("../page/tabs.js"),
    include_str!("../page/page.js"),
    "})();\n"
);

/// An empty style element, which the library makes and fills by rules.
const EMPTY: &str = "";

/// What stands on a page.
struct Contents<'a> {
    document: &'a Document,
    drawing: Option<MachineDrawing>,
    charts: &'a [Chart],
    samples: &'a Samples,
    /// Names and addresses of further pages.
    links: &'a [(String, String)],
}

/// Writes a record as a page.
///
/// # Errors
/// What writing fails with; also where the program was built without the chart library, which the
/// message says how to get.
pub fn write_page(
    record: &Record,
    choices: &ReportChoices,
    out: &mut impl Write,
) -> io::Result<()> {
    let sources = Sources::of_report(record, choices);
    let (document, charts) = beside(|| Document::of(&sources), || charts::all(&sources));
    let ((samples, drawing), data) = beside(
        || {
            let samples = Samples::new(&sources.figures, behind(&document, &charts));
            (samples, charts::drawing(&sources))
        },
        || PageData::of_charts(&charts),
    );
    let (document, charts, samples) = (&document, &charts, &samples);
    write(&Contents { document, drawing, charts, samples, links: &[] }, data?, out)
}

/// Writes what differs between two records as a page.
///
/// # Errors
/// As [`write_page`].
pub fn write_comparison_page(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let document = comparison.document();
    let charts = charts::comparison(&comparison.found);
    let (document, charts, samples) = (&document, &charts, &Samples::default());
    let contents = Contents { document, drawing: None, charts, samples, links: &[] };
    write(&contents, PageData::of_charts(charts)?, out)
}

/// Writes a run of many machines as a page, with what changed since earlier ones. `links` are names of machines
/// and where their own pages are.
///
/// # Errors
/// As [`write_page`].
pub fn write_fleet_page(
    found: &FleetComparison,
    drift: Option<&FleetDrift>,
    links: &[(String, String)],
    out: &mut impl Write,
) -> io::Result<()> {
    let document = fleet_document(found, drift);
    let charts = charts::fleet(found, drift);
    let (document, charts, samples) = (&document, &charts, &Samples::default());
    let contents = Contents { document, drawing: None, charts, samples, links };
    write(&contents, PageData::of_charts(charts)?, out)
}

/// Writes a page of which the charts' data are packed already.
fn write(contents: &Contents<'_>, data: PageData, out: &mut impl Write) -> io::Result<()> {
    let Some(library) = CHART_LIBRARY else { return Err(io::Error::other(HOW_TO_GET_IT)) };
    let templates = templates().map_err(io::Error::other)?;
    let (body, data) =
        beside(|| body(contents, &library, &templates), || data.with(contents.samples));
    // What is the program's own, or has been made safe, and is not escaped.
    let scripts = context! { data => data?, library => library.script, script => SCRIPT };
    let scripts = templates.get_template("scripts.html").and_then(|of| of.render(scripts));
    for part in [body, scripts] {
        out.write_all(part.map_err(io::Error::other)?.as_bytes())?;
    }
    Ok(())
}

/// The page as far as its data.
fn body(
    contents: &Contents<'_>,
    library: &ChartLibrary,
    templates: &Environment<'_>,
) -> Result<String, minijinja::Error> {
    let Contents { document, drawing, charts, samples, links } = contents;
    let sections: Vec<PageSection> = document
        .sections
        .iter()
        .map(|section| PageSection::new(section, charts, samples, drawing.as_ref()))
        .collect();
    let page = context! {
        title => document.title,
        is_simulated => document.is_simulated,
        cautions => document.cautions,
        summary => document.summary,
        tiles => document.tiles.iter().map(|it| PageTile::new(it, samples)).collect::<Vec<_>>(),
        health => document.health.as_ref().map(PageHealth::new),
        matrices => document.matrices.iter().map(|it| PageMatrix::new(it, samples)).collect::<Vec<_>>(),
        has_tabs => sections.iter().any(PageSection::is_on_tab),
        sections => sections,
        links => links,
        program => document.program,
        held => samples.held,
        all => samples.all,
        license => library.license.lines().collect::<Vec<_>>(),
    };
    // The program's own, which is not escaped.
    let safe = context! {
        policy => policy(&[library.script, SCRIPT], &[STYLE, EMPTY]),
        style => STYLE,
    };
    templates.get_template("page.html")?.render(context! { page, safe })
}

fn templates() -> Result<Environment<'static>, minijinja::Error> {
    let mut templates = Environment::new();
    templates.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            escape_formatter(out, state, &printable(text).as_ref().into())
        }
        _ => escape_formatter(out, state, value),
    });
    templates.add_filter("code", code);
    templates.add_template("page.html", include_str!("../templates/page.html"))?;
    templates.add_template("answer.html", include_str!("../templates/answer.html"))?;
    templates.add_template("scripts.html", include_str!("../templates/scripts.html"))?;
    templates.add_template("section.html", include_str!("../templates/section.html"))?;
    templates.add_template("table.html", include_str!("../templates/table.html"))?;
    templates.add_template("machine.html", include_str!("../templates/machine.html"))?;
    Ok(templates)
}

/// A sentence whose commands, which stand between backticks, are set as code.
fn code(sentence: &str) -> minijinja::Value {
    let escaped = HtmlEscape(&printable(sentence)).to_string();
    let parts: Vec<&str> = escaped.split('`').collect();
    let mut set = String::with_capacity(escaped.len());
    for (position, part) in parts.iter().enumerate() {
        let is_last = position + 1 == parts.len();
        match (position % 2, is_last) {
            (0, _) => set += part,
            // A backtick without another stays one.
            (_, true) => set += &format!("`{part}"),
            (_, false) => set += &format!("<code>{part}</code>"),
        }
    }
    minijinja::Value::from_safe_string(set)
}

/// The samples that can be asked for.
pub(crate) fn behind(document: &Document, charts: &[Chart]) -> BTreeSet<Behind> {
    let mut behind = BTreeSet::new();
    for chart in charts {
        match &chart.plot {
            Plot::HeatMap(map) => behind.extend(map.behind().cloned()),
            Plot::Lines(lines) => behind.extend(lines.behind().cloned()),
            Plot::Spread(spread) => behind.extend(spread.behind().cloned()),
        }
    }
    let tables = document.sections.iter().flat_map(|section| &section.tables);
    let tables = tables.chain(&document.matrices);
    let cells = tables.flat_map(|table| table.rows.iter().flatten());
    let of_tiles = document.tiles.iter().flat_map(|tile| &tile.values).map(|it| &it.value);
    behind.extend(cells.chain(of_tiles).filter_map(|cell| match cell {
        Cell::Figure(figure) => figure.behind.clone(),
        _ => None,
    }));
    behind
}

/// What may run and be shown: what is named here by its hash, and pictures that charts are saved
/// as.
fn policy(scripts: &[&str], styles: &[&str]) -> String {
    let hashes = |texts: &[&str]| {
        let hash = |text: &&str| {
            let digest = Sha256::digest(text.as_bytes());
            format!("'sha256-{}'", Base64::encode_string(&digest))
        };
        texts.iter().map(hash).collect::<Vec<_>>().join(" ")
    };
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; script-src \
         {}; style-src {}; style-src-attr 'unsafe-inline'",
        hashes(scripts),
        hashes(styles)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_set_as_code_and_markup_is_not() {
        let set = |text: &str| code(text).to_string();
        assert_eq!(set("try `a <b>` or `c`"), "try <code>a &lt;b&gt;</code> or <code>c</code>");
        assert_eq!(set("one ` alone <i>"), "one ` alone &lt;i&gt;");
        assert_eq!(set("`all`"), "<code>all</code>");
    }

    /// `printf '' | openssl dgst -sha256 -binary | base64`
    #[test]
    fn hashes_are_those_of_the_policy() {
        let policy = policy(&[""], &["", ""]);
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert!(policy.contains(&format!("script-src {empty};")), "{policy}");
        assert!(policy.contains(&format!("style-src {empty} {empty};")), "{policy}");
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
    }
}
