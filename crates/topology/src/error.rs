//! Why a machine could not be read.

use std::io;
use std::path::PathBuf;

use nearfar_machine::MAX_INDEX;

/// Why a machine's description was refused or could not be read. Every message
/// names the source, the reason, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// hwloc would load its plugins, and with them the drivers of devices.
    #[error(
        "hwloc is not asked, because it would load its plugins; set {wanted} in the environment"
    )]
    ForeignEnvironment { wanted: String },
    /// The file does not exist or may not be read.
    #[error("cannot read {}; check the path and its permissions", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// The file is larger than any machine's description.
    #[error(
        "{name} is larger than {} MiB, the most that is read; is it a topology that hwloc wrote?",
        limit_bytes >> 20
    )]
    FileTooLarge { name: String, limit_bytes: u64 },
    /// The text is not well-formed XML.
    #[error("{name} is not XML (byte {byte}: {why}); write it with `lstopo --of xml FILE`")]
    NotXml { name: String, byte: u64, why: String },
    /// Well-formed XML, but not a topology.
    #[error("{name} is XML but not an hwloc topology: {why}; write it with `lstopo --of xml FILE`")]
    NotATopology { name: String, why: String },
    /// Written by a later hwloc than the one on this machine.
    #[error(
        "{name} has topology format {version}, written by hwloc 3 or later; this machine has hwloc \
         with interface {loaded}; export it again with `lstopo --of xml --export-xml-flags v2 FILE`"
    )]
    NewerFormat { name: String, version: String, loaded: String },
    /// Written by hwloc 1, before 2018; its objects are of another kind of tree.
    #[error(
        "{name} has topology format 1, written by hwloc 1; convert it with `lstopo -i {name} \
         --of xml FILE` of hwloc 2"
    )]
    OlderFormat { name: String },
    /// A CPU or node number that no Linux has.
    #[error(
        "{name} has {what} number {index}, above {MAX_INDEX}, the largest accepted; the file is \
         damaged or was not made on Linux"
    )]
    IndexTooLarge { name: String, what: String, index: String },
    /// A value that hwloc would read otherwise than it is written.
    #[error("{name} has {attribute}=\"{value}\": {why}; correct the file or export it again")]
    UnsafeValue { name: String, attribute: String, value: String, why: String },
    /// A synthetic text that hwloc would take for something else, or would take too long over.
    #[error("{name} is not handed to hwloc: {why}")]
    UnsafeText { name: String, why: String },
    /// hwloc itself refused the description.
    #[error(
        "hwloc (interface {loaded}) refused {name}: {why}; `lstopo -i` with the same input may say more"
    )]
    Refused { name: String, why: String, loaded: String },
    /// The binding to hwloc gave up on a value.
    #[error(
        "the binding to hwloc stopped at a value in {name}: {why}; the description is damaged or \
         newer than hwloc's interface {loaded}"
    )]
    BindingPanicked { name: String, why: String, loaded: String },
    /// Its objects, or the machine that hwloc made of them, contradict each other.
    #[error("{name} contradicts itself: {}; correct the file or export it again", what.join("; "))]
    Contradictory { name: String, what: Vec<String> },
    /// A node that was measured is not in the text.
    #[error("{name} has no memory node {node}, which was measured; export the machine again")]
    NoTarget { name: String, node: u32 },
    /// Environment variables would make hwloc describe something else than this machine.
    #[error(
        "{} set in the environment: hwloc would not describe this machine as it is; unset them, or \
         read a saved topology with --xml",
        names.join(", ")
    )]
    EnvironmentOverride { names: Vec<String> },
}

/// What the binding to hwloc says, with the error's number by its sentence and not as the type that holds it.
pub(crate) fn describe_hwloc_error(error: &impl std::fmt::Display) -> String {
    let said = error.to_string();
    let Some((begin, rest)) = said.split_once(" errno ") else { return said };
    let code = rest.split_once("code: ").and_then(|(_, rest)| {
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit()).collect();
        digits.parse().ok()
    });
    match code {
        Some(code) => format!("{begin} {}", io::Error::from_raw_os_error(code)),
        None => format!("{begin} an unknown error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_hwloc_are_sentences() {
        let said = "hwloc_topology_load failed with errno Some(Errno { code: 22, description: Some(\"x\") })";
        let plain = "hwloc_topology_load failed with Invalid argument (os error 22)";
        assert_eq!(describe_hwloc_error(&said), plain);
        assert_eq!(
            describe_hwloc_error(&"f failed with errno None"),
            "f failed with an unknown error"
        );
        assert_eq!(describe_hwloc_error(&"no number"), "no number");
    }
}
