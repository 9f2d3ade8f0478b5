//! Messages between this machine and another: what was asked for, and what was seen.

use nearfar_machine::{Binding, NetworkAdapter};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::case::Pages;

/// Threads that send messages to a peer, or receive them, each over a TCP connection of its own. A message is what
/// a thread hands to the kernel, or takes from it, at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// Which way they go.
    pub way: MessageDirection,
    /// CPUs of the threads and policy of the pages that messages are sent from or received into.
    pub binding: Binding,
    /// The CPU of each thread.
    pub thread_cpus: Vec<u32>,
    /// Bytes of one message.
    pub message_bytes: u64,
    /// Bytes that a thread goes through, message after message.
    pub buffer_bytes: u64,
    pub pages: Pages,
}

impl Messages {
    /// Its variant's name in samples.
    pub const VARIANT: &'static str = "tcp";

    /// Bytes that a message counts: a round trip is one each way.
    pub fn counted_bytes(&self) -> u64 {
        self.message_bytes.saturating_mul(self.way.ways())
    }

    /// Bytes of all threads' buffers.
    pub fn working_set_bytes(&self) -> u64 {
        self.buffer_bytes.saturating_mul(self.thread_cpus.len() as u64)
    }
}

/// Which way messages go, and how they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MessageDirection {
    /// To the peer; the kernel copies them first.
    Send,
    /// To the peer from where they are (`MSG_ZEROCOPY`), as far as the kernel can.
    SendWithoutCopy,
    /// From the peer.
    Receive,
    /// To the peer and back before the next.
    RoundTrip,
}

impl MessageDirection {
    pub const ALL: [Self; 4] = [Self::Send, Self::SendWithoutCopy, Self::Receive, Self::RoundTrip];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Send => "to the peer",
            Self::SendWithoutCopy => "to the peer without a copy",
            Self::Receive => "from the peer",
            Self::RoundTrip => "to the peer and back",
        }
    }

    /// Ways that a message goes.
    pub fn ways(self) -> u64 {
        if self == Self::RoundTrip { 2 } else { 1 }
    }
}

/// Where messages stand in `network`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NetworkCoordinates {
    /// Of the threads.
    pub initiator: u32,
    /// The initiator's node that has CPUs; null for one without.
    pub cpu_node: Option<u32>,
    /// The node of the threads' pages.
    pub memory_node: u32,
    pub way: MessageDirection,
    /// Bytes of one message.
    pub message_bytes: u64,
    pub threads: u32,
}

/// What `network` was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NetworkInputs {
    /// The other machine and its port, as it was given; null where none was.
    pub peer: Option<String>,
    /// The adapter through which it is reached; null where the system does not say.
    pub adapter: Option<NetworkAdapter>,
    /// Whether the kernel can send without a copy.
    pub zero_copy: bool,
}

/// What was seen of messages around a window: from a look before it opened to one after it closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MessageSample {
    /// Messages of all threads; a round trip is one.
    pub messages: u64,
    /// Bytes of one.
    pub message_bytes: u64,
    /// What the kernel said of sends without a copy; null for other ways.
    pub without_copy: Option<WithoutCopy>,
}

/// What the kernel said of sends without a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WithoutCopy {
    /// Sends that it is done with.
    pub sends: u64,
    /// Those of them that it copied all the same, as it does on loopback.
    pub copied: u64,
}

words!(MessageDirection);
