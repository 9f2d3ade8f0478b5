//! The header and the library agree: names, codes, layouts.

use std::collections::BTreeSet;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

use nearfar_c::{
    Caution, Code, NO_CPU_NODE, PlaceDescription, RankedNode, RankedPlace, Running, Touched, User,
};

use crate::compiler::{compile, header, library};

/// The header without its comments.
fn declarations() -> String {
    let text = fs::read_to_string(header()).unwrap();
    let mut code = String::new();
    for part in text.split("/*") {
        code += part.split_once("*/").map_or(part, |(_, code)| code);
    }
    code
}

/// Names that are followed by a parenthesis.
fn functions(code: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = code.match_indices('(').map(|(at, _)| &code[..at]);
    let names = before.map(|text| text.rsplit(|c| !is_name(c)).next().unwrap().to_string());
    names.filter(|name| name.starts_with("nearfar_")).collect()
}

#[test]
fn what_the_header_declares_is_what_the_library_exports() {
    let library = library("libnearfar_c.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let symbols = text.lines().filter_map(|line| line.split_whitespace().nth(2));
    let exported: BTreeSet<String> = symbols.map(String::from).collect();
    let own: BTreeSet<String> =
        exported.iter().filter(|name| name.starts_with("nearfar_")).cloned().collect();
    assert_eq!(functions(&declarations()), own);
    assert!(own.len() > 10, "{own:?}");
}

/// Every number that both sides must have alike, by a name that C understands.
fn numbers() -> Vec<(String, usize)> {
    let mut all = Vec::new();
    macro_rules! layout {
        ($type:ty, $name:literal, $($field:ident),+) => {
            all.push((format!("sizeof({})", $name), size_of::<$type>()));
            $(all.push((
                format!("offsetof({}, {})", $name, stringify!($field)),
                offset_of!($type, $field),
            ));)+
        };
    }
    layout!(PlaceDescription, "nearfar_place", cpu_group, initiator, cpu_node, cpus);
    layout!(Touched, "nearfar_touched", bytes, node);
    layout!(Running, "nearfar_running", place, threads, node);
    layout!(User, "nearfar_user", place, threads, bytes);
    layout!(RankedPlace, "nearfar_ranked_place", place, seconds, ratio);
    layout!(RankedNode, "nearfar_ranked_node", seconds, ratio, node);
    let codes = [
        ("OK", Code::Ok),
        ("NULL_POINTER", Code::NullPointer),
        ("NO_RECORD", Code::NoRecord),
        ("NOT_IN_RECORD", Code::NotInRecord),
        ("NO_NODE", Code::NoNode),
        ("NO_PLACE", Code::NoPlace),
        ("BAD_THREADS", Code::BadThreads),
        ("NO_FLOW", Code::NoFlow),
        ("UNKNOWN_RUNNING", Code::UnknownRunning),
        ("NO_ROOM", Code::NoRoom),
        ("INTERNAL", Code::Internal),
    ];
    all.extend(codes.map(|(name, code)| (format!("NEARFAR_{name}"), code as usize)));
    let cautions = [
        ("SIMULATED", Caution::Simulated),
        ("CHANGED", Caution::Changed),
        ("UNSEALED", Caution::Unsealed),
        ("TORN", Caution::Torn),
    ];
    all.extend(cautions.map(|(name, caution)| (format!("NEARFAR_{name}"), caution as usize)));
    all.push(("NEARFAR_NO_CPU_NODE".into(), NO_CPU_NODE as usize));
    all
}

#[test]
fn layouts_and_codes_are_the_same_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
    let mut text = String::from(
        "#include <nearfar.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) {\n",
    );
    for (name, _) in numbers() {
        text += &format!("printf(\"%zu\\n\", (size_t)({name}));\n");
    }
    fs::write(&source, text + "char version[99];\n\
             snprintf(version, sizeof version, \"%d.%d.%d\", NEARFAR_VERSION_MAJOR, NEARFAR_VERSION_MINOR,\n\
             NEARFAR_VERSION_PATCH);\n\
             return strcmp(nearfar_version(), NEARFAR_VERSION) || strcmp(version, NEARFAR_VERSION);\n}\n").unwrap();
    compile(&source, &program);
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    let found: Vec<usize> = lines.lines().map(|line| line.parse().unwrap()).collect();
    let (names, expected): (Vec<String>, Vec<usize>) = numbers().into_iter().unzip();
    assert_eq!(
        names.iter().zip(found).collect::<Vec<_>>(),
        names.iter().zip(expected).collect::<Vec<_>>()
    );
    // A code more in the header would be none here.
    let code = declarations();
    let enums = code.split("enum {").skip(1).map(|text| text.split('}').next().unwrap());
    assert_eq!(
        enums.map(|text| text.matches('=').count()).sum::<usize>(),
        names.iter().filter(|it| it.starts_with("NEARFAR_")).count() - 1
    );
}

/// A program that was linked with the library finds no other library of that name.
#[test]
fn the_shared_library_says_what_it_is_called() {
    let library = library("libnearfar_c.so");
    let output = Command::new("readelf").args(["-d", "-W"]).arg(library).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("soname: [libnearfar_c.so.0]"), "{text}");
}
