//! The structures of the header, field by field.

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

/// `nearfar_touched`: data of a task on a memory node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Touched {
    /// Bytes that the task reads or writes there.
    pub bytes: u64,
    pub node: u32,
}

/// `nearfar_running`: threads that run already.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Running {
    /// Where.
    pub place: usize,
    /// How many.
    pub threads: f64,
    /// The node that they access.
    pub node: u32,
}

/// `nearfar_user`: threads that will touch data together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct User {
    /// Where they run.
    pub place: usize,
    /// How many.
    pub threads: f64,
    /// Bytes that they touch, all of them together.
    pub bytes: u64,
}

/// `nearfar_ranked_place`: a place with what a task's data takes from there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct RankedPlace {
    /// Its position.
    pub place: usize,
    /// Time, seconds.
    pub seconds: f64,
    /// Time / time of the best.
    pub ratio: f64,
}

/// `nearfar_ranked_node`: a memory node with what data takes there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct RankedNode {
    /// Time, seconds.
    pub seconds: f64,
    /// Time / time of the best.
    pub ratio: f64,
    pub node: u32,
}
