//! The workloads by their names and sizes.

use std::fmt;
use std::str::FromStr;

use nearfar_devices::DeviceWorkload;
use nearfar_units::{excerpt, from_word, nearest_name, words, words_of};
use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::size::Class;
use crate::{
    Bfs, Bt, Cg, ChaseK, Ddot, Dgemm, Elastic, Ep, Ft, Gups, HashJoin, Is, Lu, LuleshFill,
    LuleshHourglass, LuleshStress, Mg, Sp,
};

/// A workload without its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadName {
    Cg,
    Mg,
    Ft,
    Is,
    Ep,
    Bt,
    Sp,
    Lu,
    Bfs,
    Elastic,
    Ddot,
    Dgemm,
    LuleshStress,
    LuleshHourglass,
    LuleshFill,
    Gups,
    HashJoin,
    ChaseK,
}

words!(WorkloadName);

/// Lists that a thread of `chase-k` follows at a time where its size is a class.
const LISTS: usize = 8;

/// A size of a workload: by its class, or by the number that its literature counts sizes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    Class(Class),
    /// Of `bfs` the scale, the logarithm of the number of vertices; of `chase-k` the lists a thread.
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
    let names = words_of::<WorkloadName>().iter().chain(words_of::<DeviceWorkload>());
    // One for devices is none here.
    let names = names.filter(|name| **name != text);
    let nearest = nearest_name(text, names.copied());
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
    pub const ALL: [Self; 18] = [
        Self::Cg,
        Self::Mg,
        Self::Ft,
        Self::Is,
        Self::Ep,
        Self::Bt,
        Self::Sp,
        Self::Lu,
        Self::Bfs,
        Self::Elastic,
        Self::Ddot,
        Self::Dgemm,
        Self::LuleshStress,
        Self::LuleshHourglass,
        Self::LuleshFill,
        Self::Gups,
        Self::HashJoin,
        Self::ChaseK,
    ];

    /// The numbers that its sizes may have besides classes, and what they count.
    fn numbers(self) -> Option<(u32, u32, &'static str)> {
        match self {
            Self::Bfs => Some((6, 31, "scales from")),
            Self::ChaseK => Some((1, 32, "lists of class A, a power of two from")),
            _ => None,
        }
    }

    pub fn facts(self) -> WorkloadFacts {
        let [computes, bound_by, source] = match self {
            Self::Cg => {
                ["sparse eigenvalue by conjugate gradients", "load streams, gathers", "NPB 3.4"]
            }
            Self::Mg => [
                "Poisson's equation by multigrid V-cycles",
                "streams of the finest grids",
                "NPB 3.4",
            ],
            Self::Ft => {
                ["diffusion by 3-D Fourier transforms", "streams with long strides", "NPB 3.4"]
            }
            Self::Is => ["integers ranked by a counting sort", "key streams, scatter", "NPB 3.4"],
            Self::Ep => ["pairs of Gaussian deviates", "arithmetic", "NPB 3.4"],
            Self::Bt => ["flow, block-tridiagonal lines", "arithmetic, then streams", "NPB 3.4"],
            Self::Sp => ["flow, pentadiagonal lines", "streams a plane apart", "NPB 3.4"],
            Self::Lu => {
                ["flow by over-relaxation sweeps", "arithmetic, streams, waiting", "NPB 3.4"]
            }
            Self::Bfs => ["breadth-first searches in a graph", "latency, edge streams", "Graph500"],
            Self::Elastic => [
                "elastic waves on staggered grids",
                "streams of 12 arrays",
                "Ondes 3D (ribeiro2010)",
            ],
            Self::Ddot => {
                ["dot product of two vectors", "two load streams", "BLAS 1 (denoyelle2019)"]
            }
            Self::Dgemm => ["product of square matrices", "arithmetic", "BLAS 3 (denoyelle2019)"],
            Self::LuleshStress => [
                "corner forces of elements' stress",
                "streams of corner forces",
                "LULESH 2.0 (denoyelle2019)",
            ],
            Self::LuleshHourglass => [
                "hourglass forces of elements",
                "streams of 48 numbers an element",
                "LULESH 2.0 (denoyelle2019)",
            ],
            Self::LuleshFill => [
                "elements' corners, gathered",
                "stores of 48 numbers an element",
                "LULESH 2.0 (denoyelle2019)",
            ],
            Self::Gups => [
                "random updates of a table",
                "latency, lines in flight",
                "HPC Challenge 1.5, RandomAccess",
            ],
            Self::HashJoin => [
                "hash join without partitions",
                "latency, lines in flight",
                "Schuh and others, SIGMOD 2016 (NOP)",
            ],
            Self::ChaseK => [
                "k linked lists at a time, 8 in classes",
                "latency",
                "McVoy and Staelin, USENIX 1996, of several lists",
            ],
        };
        WorkloadFacts { computes, bound_by, source }
    }
}

impl Workload {
    /// It with its sizes set, ready to be run.
    pub fn program(self) -> Box<dyn Program> {
        let class = match self.size {
            Size::Class(class) => class,
            Size::Number(number) => {
                return match self.name {
                    WorkloadName::Bfs => Box::new(Bfs::of_scale(number)),
                    _ => Box::new(ChaseK::new(Class::A, number as usize)),
                };
            }
        };
        match self.name {
            WorkloadName::Cg => Box::new(Cg::new(class)),
            WorkloadName::Mg => Box::new(Mg::new(class)),
            WorkloadName::Ft => Box::new(Ft::new(class)),
            WorkloadName::Is => Box::new(Is::new(class)),
            WorkloadName::Ep => Box::new(Ep::new(class)),
            WorkloadName::Bt => Box::new(Bt::new(class)),
            WorkloadName::Sp => Box::new(Sp::new(class)),
            WorkloadName::Lu => Box::new(Lu::new(class)),
            WorkloadName::Bfs => Box::new(Bfs::new(class)),
            WorkloadName::Elastic => Box::new(Elastic::new(class)),
            WorkloadName::Ddot => Box::new(Ddot::new(class)),
            WorkloadName::Dgemm => Box::new(Dgemm::new(class)),
            WorkloadName::LuleshStress => Box::new(LuleshStress::new(class)),
            WorkloadName::LuleshHourglass => Box::new(LuleshHourglass::new(class)),
            WorkloadName::LuleshFill => Box::new(LuleshFill::new(class)),
            WorkloadName::Gups => Box::new(Gups::new(class)),
            WorkloadName::HashJoin => Box::new(HashJoin::new(class)),
            WorkloadName::ChaseK => Box::new(ChaseK::new(class, LISTS)),
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
            let is_size = name != WorkloadName::ChaseK || number.is_power_of_two();
            ((least..=most).contains(&number) && is_size).then_some(Size::Number(number))
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
