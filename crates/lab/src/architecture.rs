//! The architectures of guests.

use serde::Deserialize;

/// An architecture that a guest can have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    #[default]
    #[serde(rename = "x86_64")]
    X86_64,
    Aarch64,
}

impl Architecture {
    /// QEMU's program, and Debian's package of it.
    pub(crate) fn qemu(self) -> (&'static str, &'static str) {
        match self {
            Self::X86_64 => ("qemu-system-x86_64", "qemu-system-x86"),
            Self::Aarch64 => ("qemu-system-aarch64", "qemu-system-arm"),
        }
    }

    /// Debian's word for it.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// What a kernel is told. What makes an emulated boot short: no calibration of delays, no
    /// mitigations.
    pub(crate) fn kernel_arguments(self) -> &'static str {
        match self {
            Self::X86_64 => {
                "console=ttyS0,115200 panic=-1 mitigations=off no_timer_check lpj=4000000 clocksource=hpet \
                 tsc=reliable rcupdate.rcu_expedited=1 quiet"
            }
            Self::Aarch64 => {
                "console=ttyAMA0 panic=-1 mitigations=off rcupdate.rcu_expedited=1 quiet"
            }
        }
    }

    /// The program of binutils of that name that reads programs of this architecture.
    pub(crate) fn binutils(self, name: &str) -> String {
        match self {
            Self::X86_64 => name.into(),
            Self::Aarch64 => format!("aarch64-linux-gnu-{name}"),
        }
    }
}
