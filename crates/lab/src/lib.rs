//! Guests with several memory nodes, on a machine that has one: QEMU emulates the
//! machine (no KVM, no root, no modules in the guest), a Debian cloud kernel boots from
//! memory and runs one program. Time in a guest means nothing; where its pages are does.
//!
//! `lab/README.md` says what is in a guest and how to run one by hand.

mod aarch64_program;
mod apt;
mod architecture;
mod c_program;
mod filter;
mod guest;
mod host_program;
mod initramfs;
mod kernel;
mod lab_program;
mod machine;
mod measuring;
mod programs;
mod wire;

pub use aarch64_program::{Aarch64Program, build_for_aarch64};
pub use architecture::Architecture;
pub use c_program::{build_keeper, build_kinds, build_load, build_peak, build_touchers};
pub use filter::SyscallFilter;
pub use guest::{Ended, Guest};
pub use kernel::{Flavour, Kernel, find_kernel};
pub use lab_program::build_lab_program;
pub use machine::{GuestMachine, guest_machines};
pub use measuring::{measuring, run_in_turn, skip, wait_for_turn};
pub use programs::Programs;
pub use wire::{Wire, WireEnd};
