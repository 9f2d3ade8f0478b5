//! What a machine is: packages, NUMA nodes, initiators, caches, devices, and the
//! bindings of threads and data to them. Plain data: nothing here reads the
//! system (`nearfar-topology` does) or changes it (`nearfar-sys` does).
//!
//! Start with [`Machine`], then [`Initiator`] (who reads memory) and [`Binding`]
//! (where threads and pages go).

mod accelerator;
mod binding;
mod cpu_relation;
mod fnv1a;
mod index_set;
mod initiator;
mod link;
mod local_rank;
mod machine;
mod memory_attribute;
mod memory_channels;
mod memory_module;
mod module_name;
mod module_population;
mod network_adapter;
mod page_weights;
mod placement_strategy;
mod relation;
mod theoretical_maximum;

pub use accelerator::{AbsentBackend, Accelerator, Backend, HostMemory, TransferDirection};
pub use binding::{Binding, BindingError, MemoryPolicy, shares_of};
pub use cpu_relation::CpuRelation;
pub use fnv1a::Fnv1a;
pub use index_set::{CpuGroupSet, CpuSet, IndexSet, IndexSetError, MAX_INDEX, NodeSet};
pub use initiator::{CpuGroup, GroupBy, Initiator};
pub use local_rank::LocalRank;
pub use machine::{
    Cache, CacheKind, Core, Device, DeviceKind, Distances, FirmwareFigure, Link, Machine,
    MemoryKind, MemoryNode, Package, Source,
};
pub use memory_attribute::{AttributeValue, MemoryAttribute};
pub use memory_module::MemoryModule;
pub use module_population::ModulePopulation;
pub use network_adapter::{AdapterInterrupts, NetworkAdapter};
pub use page_weights::{MOST_PAGES_IN_TURN, page_weights};
pub use placement_strategy::PlacementStrategy;
pub use relation::{NodePosition, Relation, Relations};
pub use theoretical_maximum::{Direction, Scope, TheoreticalMaximum, TheoreticalMaximumError};
