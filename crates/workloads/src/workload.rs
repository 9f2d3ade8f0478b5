//! The workloads by their names and sizes.

use std::fmt;
use std::str::FromStr;

use nearfar_units::{excerpt, from_word, nearest_name, words, words_of};
use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::size::Class;
use crate::{Cg, Ep};

/// A workload without its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadName {
    Cg,
    Ep,
}

words!(WorkloadName);

/// A size of a workload: by its class, or by the number that its literature counts sizes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    Class(Class),
    /// Of `bfs` the scale: the logarithm of the number of vertices.
    Number(u32),
}

/// A workload of a size: `cg.A`, `bfs.18`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Workload {
    pub name: WorkloadName,
    pub size: Size,
}

/// What a workload is, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadFacts {
    /// What it computes.
    pub computes: &'static str,
    /// What limits it on memory far from a cache.
    pub bound_by: &'static str,
    /// Where it is from.
    pub source: &'static str,
}

/// Why a text names no workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWorkload {
    #[error("'{}' is no workload; {}`nearfar workload list` shows them", excerpt(.0), meant(.0))]
    Name(String),
    #[error("'{}' is no size of {name}: {}", excerpt(.size), sizes(*.name))]
    Size { name: WorkloadName, size: String },
}

fn meant(text: &str) -> String {
    let nearest = nearest_name(text, words_of::<WorkloadName>().iter().copied());
    nearest.map_or_else(String::new, |name| format!("did you mean '{name}'? "))
}

fn sizes(name: WorkloadName) -> String {
    let classes = words_of::<Class>().join(", ");
    match name.numbers() {
        Some((least, most, what)) => format!("there are {classes}, and {what} {least} to {most}"),
        None => format!("there are {classes}"),
    }
}

impl WorkloadName {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Cg, Self::Ep];

    /// The numbers that its sizes may have besides classes, and what they count.
    fn numbers(self) -> Option<(u32, u32, &'static str)> {
        None
    }

    pub fn facts(self) -> WorkloadFacts {
        let [computes, bound_by, source] = match self {
            Self::Cg => [
                "eigenvalue of a sparse matrix by conjugate gradients",
                "bandwidth of loads, gathers",
                "NPB 3.4",
            ],
            Self::Ep => ["pairs of Gaussian deviates", "arithmetic", "NPB 3.4"],
        };
        WorkloadFacts { computes, bound_by, source }
    }
}

impl Workload {
    /// It with its sizes set, ready to be run.
    pub fn program(self) -> Box<dyn Program> {
        let class = match self.size {
            Size::Class(class) => class,
            Size::Number(_) => Class::S,
        };
        match self.name {
            WorkloadName::Cg => Box::new(Cg::new(class)),
            WorkloadName::Ep => Box::new(Ep::new(class)),
        }
    }

    pub fn of_class(name: WorkloadName, class: Class) -> Self {
        Self { name, size: Size::Class(class) }
    }

    /// Bytes of all its arrays, by one thread.
    pub fn bytes(self) -> u64 {
        self.program().arrays(1).iter().map(|array| array.bytes as u64).sum()
    }

    /// A workload by its name and a size's text.
    ///
    /// # Errors
    /// When it has no such size.
    pub fn new(name: WorkloadName, size: &str) -> Result<Self, NoWorkload> {
        let number = |number: u32| {
            let (least, most, _) = name.numbers()?;
            (least..=most).contains(&number).then_some(Size::Number(number))
        };
        let class = from_word(size).map(Size::Class);
        let size_of = class.or_else(|| size.parse().ok().and_then(number));
        let size = size_of.ok_or_else(|| NoWorkload::Size { name, size: size.into() })?;
        Ok(Self { name, size })
    }
}

impl FromStr for WorkloadName {
    type Err = NoWorkload;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        from_word(text).ok_or_else(|| NoWorkload::Name(text.into()))
    }
}

impl FromStr for Workload {
    type Err = NoWorkload;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, size) = text.split_once('.').unwrap_or((text, ""));
        Self::new(name.parse()?, size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(class) => class.fmt(out),
            Self::Number(number) => number.fmt(out),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&format!("{}.{}", self.name, self.size))
    }
}
