//! The library that draws the page's charts, as it was found when the program was built.

/// A script and its licence.
pub(crate) struct ChartLibrary {
    pub script: &'static str,
    pub license: &'static str,
}

/// `None` where the program was built without it.
pub(crate) const CHART_LIBRARY: Option<ChartLibrary> =
    include!(concat!(env!("OUT_DIR"), "/chart_library.rs"));

/// What to say where there is none.
pub(crate) const HOW_TO_GET_IT: &str = "this program was built without the library that draws the \
                                        page's charts: in the source tree run `make web` (it needs \
                                        npm), then build again; .md and .json need no library";
