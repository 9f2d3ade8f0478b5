//! Loops that are assembled while the program runs: mixes of loads, stores and arithmetic of any
//! ratio, and arithmetic alone.
//!
//! [`Mix`] and [`Flops`] are plain data and say what is done; `generate` gives their code in one
//! instruction set. What an instruction set looks like is known only to the module of its
//! architecture, which offers `assemble_mix`, `mix_accumulators`, `assemble_flops`, `show_code`,
//! `write_non_temporal` and `fence_stores`; another architecture is another such module.

mod flop_loop;
mod flops;
mod machine_code;
mod mix;
mod mix_loop;
mod quotation;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
use aarch64 as architecture;

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as architecture;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod no_architecture;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use no_architecture as architecture;

pub use flop_loop::FlopLoop;
pub use flops::{FlopOperation, Flops, Precision, UnknownFlops};
pub use mix::{Arithmetic, InvalidMix, Mix};
pub use mix_loop::MixLoop;
