//! Every word that a record can hold for programs. Each function walks its enum
//! with an exhaustive match, so that a new variant does not compile until it is
//! listed, and then fails the tests until it is described.

use std::iter::successors;

use nearfar_record::{Disturbance, ReasonCode};

pub fn reason_codes() -> Vec<ReasonCode> {
    use ReasonCode::*;
    let next = |code: &ReasonCode| match code {
        OneNode => Some(OneCluster),
        OneCluster => Some(OnePackage),
        OnePackage => Some(OneCore),
        OneCore => Some(OneMemoryKind),
        OneMemoryKind => Some(NoWindow),
        NoWindow => Some(UnknownCache),
        UnknownCache => Some(UnmeasuredInput),
        UnmeasuredInput => Some(NoRatio),
        NoRatio => Some(FullSuiteOnly),
        FullSuiteOnly => Some(NoVariant),
        NoVariant => Some(ScreenedOut),
        ScreenedOut => Some(NodeNotAllowed),
        NodeNotAllowed => Some(CpusNotAllowed),
        CpusNotAllowed => Some(Budget),
        Budget => Some(TooLarge),
        TooLarge => Some(NoDevice),
        NoDevice => Some(OtherInterface),
        OtherInterface => Some(NoRoom),
        NoRoom => Some(Denied),
        Denied => Some(Misplaced),
        Misplaced => Some(Unproven),
        Unproven => Some(WrongData),
        WrongData => Some(Threads),
        Threads => Some(NotSimulated),
        NotSimulated => Some(Contradiction),
        Contradiction => Some(DeviceFailed),
        DeviceFailed => Some(NotPinned),
        NotPinned => Some(CommandFailed),
        CommandFailed => Some(TimedOut),
        TimedOut => Some(NoMetric),
        NoMetric => None,
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
