//! `network`: messages between the memory of every node and another machine, over the adapter through
//! which that is reached: by all threads of every initiator, by one in several sizes, and one at a
//! time to the peer and back.

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, MessageDirection as Way, Messages,
    NetworkCoordinates, NetworkInputs, Pages, ReasonCode, Suite,
};

use super::Planned;
use super::latency::size_word;
use super::omitted::{omitted, unusable_parts};
use super::setting::Setting;
use super::whole_initiator::WholeInitiator;
use super::working_set::{lay_out_steps, memory_working_set};

/// Of messages that fill the link: more than programs gain from.
const LARGE: u64 = 128 << 10;
/// Of a message whose time is of its way and not of its bytes.
const SMALL: u64 = 64;
/// Sizes of one thread's messages.
const SIZES: [u64; 5] = [64, 1 << 10, 16 << 10, LARGE, 1 << 20];
/// Threads that fill the fastest links of 2026, each with a connection of its own.
const MOST_THREADS: usize = 8;

/// Every suite: large messages to the peer and from it by the threads of every initiator with pages on every
/// node, and the time of a small one there and back. `standard` also without a copy, and one thread's messages in
/// several sizes next to the adapter; `full` sizes for every initiator, and 1, 2, 4 .. threads.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let name = Experiment::Network.as_str();
    let nothing =
        |code, text: String| Planned { cases: Vec::new(), absent: vec![omitted(name, code, text)] };
    if setting.variants.of(name).is_empty() {
        let text = "a simulated machine has no other machine that messages could go to";
        return nothing(ReasonCode::NoVariant, text.into());
    }
    let unnamed = NetworkInputs::default();
    let inputs = setting.inputs.network.as_ref().unwrap_or(&unnamed);
    if inputs.peer.is_none() {
        return nothing(ReasonCode::NoPeer, "no other machine was named (--peer)".into());
    }
    let mut planned =
        Planned { absent: unusable_parts(setting, Experiment::Network), ..Planned::default() };
    let suite = setting.inputs.suite;
    if suite != Suite::Quick && !inputs.zero_copy {
        planned.absent.push(no_zero_copy());
    }
    let initiators = WholeInitiator::all(setting);
    let near = near(&initiators, inputs);
    for initiator in &initiators {
        let most = initiator.thread_cpus.len().min(MOST_THREADS);
        let ways = large_ways(suite, inputs);
        for node in initiator.targets(setting) {
            let plan = Place { setting, initiator, node };
            planned.cases.extend(ways.iter().map(|&way| plan.case(way, LARGE, most)));
            planned.cases.push(plan.case(Way::RoundTrip, SMALL, 1));
            let is_nearest = initiator.targets(setting).first() == Some(&node);
            let is_near = near.is_some_and(|near| near.index() == initiator.index());
            if is_nearest && suite != Suite::Quick && (is_near || suite == Suite::Full) {
                planned.cases.extend(plan.sizes(most));
            }
            if is_nearest && suite == Suite::Full {
                let threads = [1, 2, 4].into_iter().filter(|&threads| threads < most);
                let of_ways = |threads| ways.iter().map(move |&way| plan.case(way, LARGE, threads));
                planned.cases.extend(threads.flat_map(of_ways));
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    planned.cases.retain(|case| seen.insert(case.id.clone()));
    planned
}

fn large_ways(suite: Suite, inputs: &NetworkInputs) -> Vec<Way> {
    let mut ways = vec![Way::Send, Way::Receive];
    if suite != Suite::Quick && inputs.zero_copy {
        ways.push(Way::SendWithoutCopy);
    }
    ways
}

fn no_zero_copy() -> Absent {
    let case = format!("{}/{}", Experiment::Network, Way::SendWithoutCopy);
    let text = "the kernel sends nothing without a copy here (MSG_ZEROCOPY, Linux 4.14)";
    omitted(case, ReasonCode::Denied, text)
}

/// The initiator next to the adapter; the first where its place is not known.
fn near<'a>(
    initiators: &'a [WholeInitiator],
    inputs: &NetworkInputs,
) -> Option<&'a WholeInitiator> {
    let node = inputs.adapter.as_ref().and_then(|adapter| adapter.node);
    let owner = node.and_then(|node| initiators.iter().find(|it| it.owns(node)));
    owner.or_else(|| initiators.first())
}

/// Threads of an initiator, and a node of their pages.
#[derive(Clone, Copy)]
struct Place<'a> {
    setting: Setting<'a>,
    initiator: &'a WholeInitiator,
    node: u32,
}

impl Place<'_> {
    fn sizes(self, most: usize) -> Vec<Case> {
        let of_size = |bytes: u64| {
            let one_way = [Way::Send, Way::Receive].map(|way| self.case(way, bytes, 1));
            let trip = (bytes <= LARGE).then(|| self.case(Way::RoundTrip, bytes, 1));
            one_way.into_iter().chain(trip)
        };
        debug_assert!(most > 0, "an initiator without a core");
        SIZES.into_iter().flat_map(of_size).collect()
    }

    /// Of the initiator's first threads, in turn over its caches.
    fn case(self, way: Way, message_bytes: u64, threads: usize) -> Case {
        let thread_cpus: Vec<u32> = self.initiator.thread_cpus[..threads].to_vec();
        let messages = Messages {
            way,
            binding: Binding {
                cpus: self.initiator.cpus.clone(),
                memory: MemoryPolicy::Preferred(self.node),
            },
            message_bytes,
            buffer_bytes: self.buffer_bytes(way, message_bytes, &thread_cpus),
            pages: match way {
                Way::RoundTrip => Pages::Small,
                _ => self.setting.inputs.pages,
            },
            thread_cpus,
        };
        Case {
            id: format!(
                "network/initiator{}/node{}/{way}/{}/t{threads}",
                self.initiator.index(),
                self.node,
                size_word(message_bytes)
            ),
            coordinates: vec![Coordinates::Network(NetworkCoordinates {
                initiator: self.initiator.index(),
                cpu_node: self.initiator.initiator.cpu_node,
                memory_node: self.node,
                way,
                message_bytes,
                threads: u32::try_from(threads).unwrap_or(u32::MAX),
            })],
            actors: vec![Actor::Messages(messages)],
        }
    }

    /// Of a thread: one way all together are beyond the caches, so that messages come from memory; what goes
    /// there and back is one message each way, as of a program that asks and is answered.
    fn buffer_bytes(self, way: Way, message_bytes: u64, thread_cpus: &[u32]) -> u64 {
        const PAGE: u64 = 4096;
        let step = message_bytes * way.ways();
        if way == Way::RoundTrip {
            return step.next_multiple_of(PAGE);
        }
        let setting = self.setting;
        let caches = setting.places.cache_bytes(thread_cpus.iter().copied(), &[self.node]);
        let available = setting.available_on(self.node);
        let set = memory_working_set(caches, available, setting.inputs, 1);
        let slices = lay_out_steps(set, &[1], thread_cpus.len() as u64);
        slices.slice_bytes.max(step.next_multiple_of(PAGE))
    }
}
