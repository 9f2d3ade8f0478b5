//! Every word that a record can hold for programs. Each function walks its enum
//! with an exhaustive match, so that a new variant does not compile until it is
//! listed, and then fails the tests until it is described.

use std::iter::successors;

use nearfar_measure::Caution;
use nearfar_record::{Disturbance, ReasonCode};

pub fn reason_codes() -> Vec<ReasonCode> {
    use ReasonCode::*;
    let next = |code: &ReasonCode| match code {
        OneNode => Some(NoVariant),
        NoVariant => Some(ScreenedOut),
        ScreenedOut => Some(NodeNotAllowed),
        NodeNotAllowed => Some(CpusNotAllowed),
        CpusNotAllowed => Some(Budget),
        Budget => Some(NoRoom),
        NoRoom => Some(Denied),
        Denied => Some(Misplaced),
        Misplaced => Some(Unproven),
        Unproven => Some(WrongData),
        WrongData => Some(Threads),
        Threads => Some(NotSimulated),
        NotSimulated => Some(Contradiction),
        Contradiction => None,
    };
    successors(Some(OneNode), next).collect()
}

pub fn disturbances() -> Vec<Disturbance> {
    use Disturbance::*;
    let next = |disturbance: &Disturbance| match disturbance {
        Switched { .. } => Some(Moved { threads: 1 }),
        Moved { .. } => Some(Faulted { times: 12 }),
        Faulted { .. } => Some(Stolen { microseconds: 10_000 }),
        Stolen { .. } => Some(Throttled { microseconds: 2_500 }),
        Throttled { .. } => Some(Clock { microseconds: 1_200 }),
        Clock { .. } => None,
    };
    successors(Some(Switched { times: 3, microseconds: 900 }), next).collect()
}

pub fn cautions() -> Vec<Caution> {
    use Caution::*;
    let next = |caution: &Caution| match caution {
        VirtualMachine(_) => Some(OneNode),
        OneNode => Some(PartialSet { allowed: "0-3".into(), all: "0-7".into() }),
        PartialSet { .. } => Some(NumaBalancing),
        NumaBalancing => Some(Governor("powersave".into())),
        Governor(_) => Some(Ksm),
        Ksm => Some(CpuQuota(1.5)),
        CpuQuota(_) => Some(Load(2.0)),
        Load(_) => Some(ClockSource("hpet".into())),
        ClockSource(_) => Some(NoTransparentHugePages),
        NoTransparentHugePages => Some(HwlocOverrides(vec!["HWLOC_XMLFILE".into()])),
        HwlocOverrides(_) => Some(SmallWorkingSet { smallest_multiple: 0.5 }),
        SmallWorkingSet { .. } => Some(UnknownCaches),
        UnknownCaches => {
            Some(Disturbed { samples: 3, of: 4, mostly: "threads were descheduled: 3".into() })
        }
        Disturbed { .. } => Some(FewHugePages { fraction: 0.1 }),
        FewHugePages { .. } => Some(BudgetEnded),
        BudgetEnded => Some(FewRounds(2)),
        FewRounds(_) => None,
    };
    successors(Some(VirtualMachine("KVM".into())), next).collect()
}
