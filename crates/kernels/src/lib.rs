//! The memory kernels that nearfar measures with, on `f64`.
//!
//! * [`CATALOG`] says what there is: what each [`Kernel`] loads, stores and computes per element.
//! * [`Kernel::in_variant`] gives its [`TimedLoop`] for one instruction set; [`TimedLoop::run`]
//!   runs it over [`Operands`] with [`Constants`]. The caller names the [`Variant`]: nothing is
//!   dispatched behind its back.
//! * [`Pattern`] is the data in the arrays. With [`Checksum`] and [`Kernel::expected`] every run
//!   can be checked, so that a figure stands for work that was done.
//! * [`Mix`] and [`Flops`] are loops for which no catalog is long enough: any ratio of loads,
//!   stores and arithmetic. They are assembled when they are asked for.
//! * [`add_in_sequence`] tells the clock at which a core runs.
//! * [`Chase`] follows pointers through memory, each of which says where the next one is.
//! * [`ExchangedLine`] is handed back and forth between two CPUs.
//!
//! ```
//! use nearfar_kernels::{Constants, Operands, Pattern, find};
//!
//! let triad = find("triad").ok_or("the catalog has no triad")?;
//! let timed_loop = triad.in_variant(triad.variants()[0])?;
//!
//! let pattern = Pattern::new(1);
//! let (mut a, mut b, mut c) = (vec![0.0; 1024], vec![0.0; 1024], vec![0.0; 1024]);
//! pattern.fill(&mut b, 0);
//! pattern.fill(&mut c, 1024);
//! let constants = Constants::for_pass(0);
//! timed_loop.run(Operands::zip(&mut a, &b, &c), &constants, 1);
//! assert_eq!(Some(a[7]), triad.expected(&constants, 7, b[7], c[7]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod additions;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod body;
mod catalog;
mod chase;
mod checksum;
mod constants;
mod cycle;
mod exchange;
mod generated;
mod line;
mod operands;
mod pattern;
mod portable;
mod timed_loop;
mod unavailable;
mod variant;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod walk;
#[cfg(target_arch = "x86_64")]
mod x86_64;

// What an architecture's module offers: the bodies of its instruction sets, and the loops beside
// them. Where there is none every loop is portable.
#[cfg(target_arch = "aarch64")]
use aarch64 as architecture;
#[cfg(target_arch = "x86_64")]
use x86_64 as architecture;

pub use additions::add_in_sequence;
pub use catalog::{CATALOG, Kernel, Operation, find};
pub use chase::{Chase, Laying};
pub use checksum::Checksum;
pub use constants::Constants;
pub use cycle::Cycle;
pub use exchange::{ExchangedLine, Handing, Side};
pub use generated::{
    Arithmetic, FlopLoop, FlopOperation, Flops, InvalidMix, Mix, MixLoop, Precision, UnknownFlops,
};
pub use operands::Operands;
pub use pattern::Pattern;
pub use timed_loop::TimedLoop;
pub use unavailable::Unavailable;
pub use variant::{UnknownVariant, Variant};
