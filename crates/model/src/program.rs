//! What a program's time is made of, and its time where it has not run.
//!
//! ```text
//! T = busy || a, bytes / (B(r) - g) ||_3   a = || core, lines t(b, r) ||_q   ||x, y||_q = (x^q + y^q)^(1/q)
//! b = g + n bytes / T                   what crosses beside it and for all n copies of it
//! lines = exposed + kept (1 - exp(- (reads beside / lost_beside)^2))     bytes likewise
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | T | time of the program | s |
//! | busy | 1 alone; beside others its time beside cores that are kept busy / without, whatever they move | 1 |
//! | core | time that does not depend on memory | s |
//! | lines | lines waited for one after the other: those fetched / those under way at a time | 1 |
//! | bytes, r | what crosses to the memory, and the share of reads in all that crosses | bytes, 1 |
//! | q | how far core time and memory overlap: 1 not at all | 1 |
//! | g | traffic of others beside it | bytes/s |
//! | kept, lost_beside | lines more where others' reads take a shared cache, and the reads that take 1 - 1/e | 1, bytes/s |
//! | t(b, r), B(r) | time of an access and capacity by the family of curves of a pair (`latency/law.rs`) | s, bytes/s |
//!
//! Source: ours; core time that overlaps with waiting is that of Eyerman, Eeckhout, Karkhanis and
//! Smith (ACM TOCS 27(2), 2009), lines over those under way that of Chou, Fahs and Abraham (ISCA
//! 2004), waiting by measured curves that of Radulovic et al. (MEMSYS 2015) and Esmaili-Dokht et
//! al. (MICRO 2024). Assumptions and failures stand in docs/models/programs.md.
//! Pinned by `crates/model/tests/program_time` and `cargo bench -p nearfar-model --bench accuracy -- programs`.

mod bound;
mod declared;
mod figures;
mod fit;
mod law;
mod measured;
mod prediction;
mod runs;

pub use bound::{BoundBy, BoundShares, bound};
pub use declared::{DeclaredPhase, declared_parts};
pub use figures::{PartEstimates, RunsBeside, load_share, runs_beside};
pub use fit::{FittedProgram, MemoryRun, fit_program};
pub use law::{Beside, MemoryLaw, SolvedProgram, solve};
pub use prediction::{
    MOST_COPIES, PlaceTime, ProgramAnswer, ProgramQuestion, home_family, predict_program, time_at,
};
pub use runs::{ProgramRuns, fit_profile, memory_runs, pressure_runs};
