//! The structure of the header that the ranking has not; the others are those of its own questions
//! and answers, which are laid out for C.

/// `nearfar_place`: where tasks can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct PlaceDescription {
    /// Its number among its kind.
    pub cpu_group: u32,
    /// The initiator that it belongs to.
    pub initiator: u32,
    /// Lowest node with CPUs of that initiator, or [`NO_CPU_NODE`].
    pub cpu_node: u32,
    /// How many CPUs it has.
    pub cpus: u32,
}

/// `NEARFAR_NO_CPU_NODE`: an initiator has no node with CPUs.
pub const NO_CPU_NODE: u32 = u32::MAX;
