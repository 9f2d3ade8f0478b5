//! Takes the page's chart library from `web/node_modules` into the build, where `make web` has put
//! it there and it is the one that `web/plotly.sha256` names. Without it the crate builds as well.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

const PACKAGE: &str = "node_modules/plotly.js-cartesian-dist-min";

fn main() -> Result<(), Box<dyn Error>> {
    let web = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../web");
    println!("cargo::rerun-if-changed=build.rs");
    // What is published as a crate has no `web`, and cargo would build it anew each time.
    if web.exists() {
        println!("cargo::rerun-if-changed={}", web.display());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let library = if take(&web, &out)? {
        "Some(ChartLibrary { script: include_str!(\"library.js\"), \
         license: include_str!(\"library_license.txt\") })"
    } else {
        "None"
    };
    Ok(fs::write(out.join("chart_library.rs"), library)?)
}

/// Whether there is a library; it and its licence are copied then.
fn take(web: &Path, out: &Path) -> Result<bool, Box<dyn Error>> {
    if !web.exists() {
        return Ok(false);
    }
    let known = fs::read_to_string(web.join("plotly.sha256"))?;
    let (hash, name) = known.trim().split_once("  ").ok_or("web/plotly.sha256 names no file")?;
    let Ok(script) = fs::read(web.join(PACKAGE).join(name)) else { return Ok(false) };
    let found: String = Sha256::digest(&script).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != hash {
        return Err(format!(
            "web/{PACKAGE}/{name} is not the file that web/plotly.sha256 names: remove \
             web/node_modules and run `make web`"
        )
        .into());
    }
    fs::write(out.join("library.js"), script)?;
    fs::copy(web.join(PACKAGE).join("LICENSE"), out.join("library_license.txt"))?;
    Ok(true)
}
