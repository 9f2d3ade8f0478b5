//! hwloc's plugins load the drivers of devices: never into this program, and the programs that it
//! starts have the variables of hwloc that their user gave them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{nearfar, run, text};

fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let (file, program) = (folder.join("source.c"), folder.join(name));
    fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    let output = run(compiler.arg(&file).arg("-o").arg(&program).args(options));
    assert!(output.status.success(), "{}", text(&output.stderr));
    program
}

#[test]
fn no_plugin_is_loaded_wherever_the_environment_says_that_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (plugins, mark) = (folder.path().join("plugins"), folder.path().join("loaded"));
    fs::create_dir(&plugins).unwrap();
    let source = format!(
        "#include <stdio.h>\n\
         __attribute__((constructor)) static void mark(void) {{ fopen(\"{}\", \"w\"); }}\n",
        mark.display()
    );
    compile(&plugins, "hwloc_planted.so", &source, &["-shared", "-fPIC"]);
    for words in [
        &["topo"][..],
        &["doctor"],
        &["topo", "--synthetic", "node:2 core:2 pu:1"],
        &["run", "--placement", "compact", "--", "true"],
    ] {
        let output = run(nearfar().args(words).env("HWLOC_PLUGINS_PATH", &plugins));
        assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output.stderr));
        assert!(!mark.exists(), "{words:?}");
    }
    // It is one that hwloc would have loaded.
    let source = "#include <hwloc.h>\n\
                  int main(void) { hwloc_topology_t t; return hwloc_topology_init(&t); }\n";
    let mut other = Command::new(compile(folder.path(), "other", source, &["-lhwloc"]));
    assert!(run(other.env("HWLOC_PLUGINS_PATH", &plugins)).status.success());
    assert!(mark.exists(), "hwloc was built without plugins");
}

/// The loader tells what it loads: of those that are installed here, too, there is none.
#[test]
fn installed_plugins_are_not_loaded() {
    let mut command = nearfar();
    let output =
        run(command.args(["topo"]).env("LD_DEBUG", "files").env_remove("HWLOC_PLUGINS_PATH"));
    let said = text(&output.stderr);
    assert!(said.contains("libhwloc.so"), "{said:.1000}");
    for library in ["/hwloc_", "libOpenCL", "libcuda", "libamdhip", "libpocl", "libnvidia"] {
        assert!(!said.contains(library), "{library}");
    }
}
