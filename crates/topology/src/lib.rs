//! Fills a [`Machine`](nearfar_machine::Machine): the one that the program runs on
//! ([`read_live`]), one that hwloc wrote as XML ([`read_xml`], [`parse_xml`]), or one
//! described by hwloc's synthetic text ([`parse_synthetic`]).
//!
//! hwloc does the discovery; the kernel's files under `/sys` and `/proc` say what
//! hwloc does not (which nodes have CPUs, widths of PCIe links, interleave weights):
//! [`amend_from_sysfs`]; the firmware's tables list the memory modules:
//! [`amend_memory_modules`]. The other way round, [`live_xml`], [`machine_xml`] and
//! [`write_memory_attributes`] make XML for programs that use hwloc.
//!
//! hwloc is a C library that a damaged file can crash: files of strangers are read in a child
//! process. Where the environment is not [`HWLOC_ENVIRONMENT`] nothing is read.

mod devices;
mod distances;
mod error;
mod firmware;
mod hwloc;
mod live;
mod machine_xml;
mod memory_attributes;
mod memory_modules;
mod one_node;
mod ownership;
mod side_cache;
mod synthetic;
mod sysfs;
mod xml;

pub use error::TopologyError;
pub use hwloc::{HWLOC_CHECKS, HWLOC_ENVIRONMENT, hwloc_version};
pub use live::{amend_from_sysfs, live_xml, overrides, read_live};
pub use machine_xml::machine_xml;
pub use memory_attributes::{Caution, WithAttributes, write_memory_attributes};
pub use memory_modules::{MemorySockets, amend_memory_modules, list_memory_sockets};
pub use synthetic::parse_synthetic;
pub use xml::{parse_xml, read_xml, read_xml_text};
