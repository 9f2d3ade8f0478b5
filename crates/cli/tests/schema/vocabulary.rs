//! Every warning that the program can give, by a match that is exhaustive as those of the
//! record's own words are.

use std::iter::successors;

use nearfar_measure::Caution;

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
        SmallWorkingSet { .. } => Some(ShortChase { smallest_multiple: 1.5 }),
        ShortChase { .. } => Some(UnknownCaches),
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
