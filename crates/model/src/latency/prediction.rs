//! Time of an access beside traffic that was not measured, by the family of each pair.

use nearfar_record::{Estimate, Outcome};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::Latency;
use super::family::CurveFamily;

/// What is asked of families.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveQuestion {
    /// Reads / all bytes that cross to the memory, 0 to 1.
    pub read_share: f64,
    /// What crosses.
    pub traffic: BytesPerSecond,
    /// Of this initiator alone.
    pub initiator: Option<u32>,
    /// Of this node alone.
    pub memory_node: Option<u32>,
}

/// Time of an access of each pair beside the same traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveAnswer {
    /// Reads / all bytes that cross to the memory.
    pub read_share: f64,
    /// What crosses to the memory beside the accesses.
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: BytesPerSecond,
    /// By initiator and node.
    pub pairs: Vec<PairLatency>,
}

/// Time of an access of an initiator to a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairLatency {
    /// The initiator of the thread and of the traffic.
    pub initiator: u32,
    /// The node that all access.
    pub memory_node: u32,
    /// Whether the node is one of the initiator's own.
    pub is_local: bool,
    /// Time of an access; the interval is of what would be measured there.
    #[serde(rename = "latency_ns")]
    pub latency: Outcome<Estimate<Nanoseconds>>,
    /// That / the idle one; null where it is not known.
    pub rise: Option<f64>,
    /// Whether the traffic is within what was measured: beyond it the law stands alone.
    pub is_within_measured: bool,
}

impl Latency {
    /// Time of an access beside traffic, of the pairs that are asked for.
    ///
    /// # Errors
    /// Where there is no such pair, or of one that was asked for why it is not known.
    pub fn beside_traffic(&self, asked: &CurveQuestion) -> Result<CurveAnswer, String> {
        let is_asked = |family: &&CurveFamily| {
            asked.initiator.is_none_or(|it| it == family.initiator)
                && asked.memory_node.is_none_or(|it| it == family.memory_node)
        };
        let pairs = self.families.iter().filter(is_asked).map(|family| family.pair(asked));
        let pairs: Vec<PairLatency> = pairs.collect();
        match pairs.as_slice() {
            [] => {
                let known = self.families.iter();
                let known = known.map(|it| format!("{} on {}", it.initiator, it.memory_node));
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(format!(
                    "latency beside traffic was not measured of that pair; of initiator on node: {known}"
                ));
            }
            [only] => only.latency.as_result().map(|_| ()).map_err(String::from)?,
            _ => {}
        }
        Ok(CurveAnswer { read_share: asked.read_share, traffic: asked.traffic, pairs })
    }
}

impl CurveFamily {
    fn pair(&self, asked: &CurveQuestion) -> PairLatency {
        let law = self.law.as_result().map_err(String::from);
        let latency = law.clone().and_then(|law| law.time(asked.read_share, asked.traffic));
        let idle = law.as_ref().ok().map(|law| law.idle.value);
        let time = latency.as_ref().ok().map(|time| time.value);
        PairLatency {
            initiator: self.initiator,
            memory_node: self.memory_node,
            is_local: self.is_local,
            rise: time.zip(idle).map(|(time, idle)| time / idle),
            is_within_measured: law.is_ok_and(|law| {
                law.most_traffic(asked.read_share).is_some_and(|most| asked.traffic.0 <= most.0)
            }),
            latency: latency.into(),
        }
    }
}
