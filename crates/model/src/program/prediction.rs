//! A program's time at every placement of a record.

use nearfar_machine::{CpuSet, GroupBy};
use nearfar_record::{Estimate, Experiment, Outcome, ProgramParts, ProgramProfile, Record, Suite};
use nearfar_stats::drawn_residuals;
use nearfar_units::{BytesPerSecond, Nanoseconds, Ratio, Seconds};
use serde::Serialize;

use super::bound::{BoundBy, BoundShares, bound};
use super::figures::{PartEstimates, alone, estimate};
use super::fit::normal_errors;
use super::law::{Beside, MemoryLaw, SolvedProgram, solve};
use super::measured::MeasuredTimes;
use crate::class_rule::ClassRule;
use crate::classes::classes;
use crate::inapplicable::measuring_command;
use crate::latency::{
    CurveFamily, FamilyLaw, Latency, LatencyLaw, LoadedAccess, LoadedCurve, latency,
};
use crate::pairs::{PlacedCell, pairs};
use crate::record_figures::RecordFigures;

/// What is asked of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramQuestion {
    /// Copies of it that run at the same time, on the same pair.
    pub copies: u32,
    /// What others move to the same memory.
    pub beside: Beside,
}

/// More copies than any machine has cores.
pub const MOST_COPIES: u32 = 4096;

impl ProgramQuestion {
    /// One copy and nothing beside it.
    pub const ALONE: Self = Self { copies: 1, beside: Beside::NOTHING };
}

/// A program's time at each pair of an initiator and a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramAnswer {
    /// The program.
    pub program: String,
    /// The host of its runs.
    pub ran_on: String,
    /// Whether the record is of that machine.
    pub is_same_machine: bool,
    /// Copies of it that run at the same time.
    pub copies: u32,
    /// What others move to the same memory.
    #[serde(rename = "beside_gb_per_s")]
    pub beside: BytesPerSecond,
    /// The share of reads in that.
    pub beside_read_share: f64,
    /// What its time is made of.
    pub parts: PartEstimates,
    /// Its runs alone; null where it has not run.
    #[serde(rename = "measured_s")]
    pub measured: Option<Estimate<Seconds>>,
    /// By time, the shortest first; those without one last.
    pub places: Vec<PlaceTime>,
}

/// A program on the CPUs of an initiator with its memory on a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceTime {
    pub initiator: u32,
    pub memory_node: u32,
    /// Whether the node is one of the initiator's own.
    pub is_local: bool,
    /// Whether its runs were here.
    pub is_home: bool,
    /// Its time; the interval is of what would be measured.
    #[serde(rename = "time_s")]
    pub time: Outcome<Estimate<Seconds>>,
    /// What its runs took here: those of its profile, alone, or the record's own of a workload that only
    /// declares its traffic; null where there are none, or others run beside it.
    #[serde(rename = "measured_s")]
    pub measured: Option<Estimate<Seconds>>,
    /// `time_s` / its time alone where its runs were; null where either is not known.
    pub slowdown: Option<Estimate<Ratio>>,
    /// The same by the rule that performance is relative alpha, the bandwidth of a pair / that of
    /// another (braithwaite2012, section 4.4); null where the record has no classes that hold both.
    pub slowdown_by_alpha: Option<f64>,
    /// What its time depends on there; null without one.
    pub depends_on: Option<BoundShares>,
    /// The part that it depends on most.
    pub bound_by: Option<BoundBy>,
    /// What crosses for one copy; null without a time.
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: Option<BytesPerSecond>,
    /// Time of an access meanwhile; null without a time.
    #[serde(rename = "access_ns")]
    pub access: Option<Nanoseconds>,
    /// Whether all that crosses is within what the record measured: beyond it the law stands alone.
    pub is_within_measured: bool,
}

const SEED: u64 = 5;
/// What the law leaves out, of times that are not those of runs: a part of them, and a part of how far
/// they are from the time alone (a logarithm).
const LEFT_OUT: f64 = 0.01;
const LEFT_OUT_OF_CHANGE: f64 = 0.03;

/// The time of a program by the family of a pair, and how it comes about.
///
/// # Errors
/// Where others alone fill the memory.
pub fn time_at(
    profile: &ProgramProfile,
    family: &FamilyLaw,
    asked: &ProgramQuestion,
    is_same_machine: bool,
) -> Result<(Estimate<Seconds>, SolvedProgram), String> {
    let at = |parts: &ProgramParts, law: &LatencyLaw| {
        let capacity_ratio = if is_same_machine { parts.capacity_ratio } else { 1.0 };
        solve(parts, &MemoryLaw { law, capacity_ratio }, asked.beside, asked.copies)
    };
    let solved = at(&profile.parts, family.law()).ok_or_else(|| {
        format!(
            "the {:.1} GB/s beside it fill the memory, which carries {:.1}",
            asked.beside.traffic / 1e9,
            family.law().capacity(asked.beside.read_share).unwrap_or(f64::NAN) / 1e9
        )
    })?;
    let change = alone(profile).map_or(0.0, |it| (solved.seconds / it.value.0).ln().abs());
    let left_out = profile.misfit.hypot(LEFT_OUT).hypot(LEFT_OUT_OF_CHANGE * change);
    let laws = std::iter::once(family.law()).chain(family.drawn_laws()).cycle().skip(1);
    let each = drawn_residuals(&normal_errors(), profile.drawn.len(), SEED).into_iter();
    let each = each.filter_map(|errors| errors.first().copied());
    let drawn = profile.drawn.iter().zip(laws).zip(each).map(|((parts, law), error)| {
        let seconds = at(parts, law).map_or(f64::INFINITY, |it| it.seconds);
        seconds * (left_out * error).exp()
    });
    Ok((estimate(solved.seconds, &drawn.collect::<Vec<_>>()), solved))
}

/// A program's time at each pair of a record that has a family of curves.
///
/// # Errors
/// Why the record says nothing of it, and what measures more.
pub fn predict_program(
    figures: &RecordFigures<'_>,
    profile: &ProgramProfile,
    asked: &ProgramQuestion,
) -> Result<ProgramAnswer, String> {
    predicted(figures, profile, asked).map_err(|why| {
        let latency = [Experiment::Latency];
        let command = measuring_command(figures.record(), &latency, Suite::Standard);
        format!("{why}; try `{command}`")
    })
}

fn predicted(
    figures: &RecordFigures<'_>,
    profile: &ProgramProfile,
    asked: &ProgramQuestion,
) -> Result<ProgramAnswer, String> {
    let record = figures.record();
    let model = latency(figures).map_err(|without| without.to_string())?;
    if model.families.is_empty() {
        return Err("it holds no latency beside traffic".into());
    }
    let is_same_machine = record.header.host == profile.host;
    let measured = alone(profile);
    let alphas = Alphas::of(figures);
    let own_runs = MeasuredTimes::of(figures, profile);
    let is_alone = asked.copies == 1 && asked.beside.traffic <= 0.0;
    let home = (profile.initiator, profile.memory_node);
    let mut places: Vec<PlaceTime> = Vec::new();
    for family in &model.families {
        let pair = (family.initiator, family.memory_node);
        let law = law_of(figures, &model, family);
        let time = law
            .as_ref()
            .map_err(String::clone)
            .and_then(|law| find_cores(record, profile, asked.copies, pair.0).map(|()| law))
            .and_then(|law| time_at(profile, law, asked, is_same_machine));
        let ratio = |time: &Estimate<Seconds>| {
            let alone = measured.as_ref()?.value.0;
            let ends = time.interval.map(|ends| ends.map(|it| Ratio(it.0 / alone)));
            let value = Ratio(time.value.0 / alone);
            Some(Estimate { value, interval: ends, confidence: time.confidence, cases: Vec::new() })
        };
        let capacity_ratio = if is_same_machine { profile.parts.capacity_ratio } else { 1.0 };
        let depends_on = law.as_ref().ok().and_then(|law| {
            let memory = MemoryLaw { law: law.law(), capacity_ratio };
            bound(&profile.parts, &memory, asked.beside, asked.copies)
        });
        let depends_on = depends_on.filter(|_| time.is_ok());
        let solved = time.as_ref().ok().map(|(_, solved)| *solved);
        places.push(PlaceTime {
            initiator: family.initiator,
            memory_node: family.memory_node,
            is_local: family.is_local,
            is_home: is_same_machine && pair == home,
            measured: match &measured {
                _ if !is_alone || !is_same_machine => None,
                Some(alone) => (pair == home).then(|| alone.clone()),
                None => own_runs.on(pair),
            },
            slowdown: time.as_ref().ok().and_then(|(time, _)| ratio(time)),
            slowdown_by_alpha: alphas.slowdown(home, pair).filter(|_| is_same_machine),
            depends_on,
            bound_by: depends_on.map(|it| it.binding()),
            traffic: solved.map(|it| BytesPerSecond(it.bytes / it.seconds)),
            access: solved.map(|it| Nanoseconds(it.access_seconds * 1e9)),
            is_within_measured: law.is_ok_and(|law| {
                let most = solved.and_then(|it| law.law().most_traffic(it.read_share));
                most.zip(solved).is_some_and(|(most, it)| it.traffic <= most)
            }),
            time: time.map(|(time, _)| time).into(),
        });
    }
    let key = |place: &PlaceTime| place.time.found().map_or(f64::INFINITY, |time| time.value.0);
    places.sort_by(|one, other| key(one).total_cmp(&key(other)));
    Ok(ProgramAnswer {
        program: profile.name.clone(),
        ran_on: profile.host.clone(),
        is_same_machine,
        copies: asked.copies,
        beside: BytesPerSecond(asked.beside.traffic),
        beside_read_share: asked.beside.read_share,
        parts: PartEstimates::of(profile),
        measured,
        places,
    })
}

/// Why an initiator has too few cores for the copies of a program, which share none; of a program that ran on
/// another machine hardware threads are counted.
fn find_cores(
    record: &Record,
    profile: &ProgramProfile,
    copies: u32,
    initiator: u32,
) -> Result<(), String> {
    let machine = &record.header.machine;
    let cores_of = |cpus: &CpuSet| {
        machine.cores.iter().filter(|core| core.cpus.intersects(cpus)).count() as u64
    };
    let initiators = machine.initiators();
    let own = initiators.iter().find(|it| it.index == initiator);
    let (what, each, own) = match record.header.host == profile.host {
        true => ("cores", cores_of(&profile.cpus), own.map(|it| cores_of(&it.cpus))),
        false => ("CPUs", profile.cpus.len() as u64, own.map(|it| it.cpus.len() as u64)),
    };
    let (needed, own) = (each * u64::from(copies), own.unwrap_or(0));
    match copies > 1 && needed > own {
        true => Err(format!(
            "{copies} copies with {each} {what} each need {needed}, and there are {own}"
        )),
        false => Ok(()),
    }
}

/// The bandwidth of pairs, by the classes of a record.
struct Alphas(Vec<((u32, u32), f64)>);

impl Alphas {
    fn of(figures: &RecordFigures<'_>) -> Self {
        let found = classes(figures, &ClassRule::default()).ok();
        let sets = found.into_iter().flat_map(|it| it.sets);
        let pairs = sets.flat_map(|set| set.classes).flat_map(|class| class.pairs);
        Self(pairs.map(|pair| ((pair.initiator, pair.memory_node), pair.best)).collect())
    }

    fn slowdown(&self, from: (u32, u32), to: (u32, u32)) -> Option<f64> {
        let of = |wanted| self.0.iter().find(|(pair, _)| *pair == wanted).map(|(_, best)| best);
        Some(of(from)? / of(to)?)
    }
}

/// The initiator and the node whose family a program is understood by.
///
/// # Errors
/// Why the record says nothing of it.
pub fn home_family(record: &Record, initiator: u32, node: u32) -> Result<FamilyLaw, String> {
    let figures = RecordFigures::new(record);
    let model = latency(&figures).map_err(|without| without.to_string())?;
    let is_home =
        |it: &&crate::latency::CurveFamily| (it.initiator, it.memory_node) == (initiator, node);
    let family = model.families.iter().find(is_home);
    let family = family.ok_or_else(|| {
        format!("it holds no latency beside traffic of initiator {initiator} on node {node}")
    })?;
    law_of(&figures, &model, family)
}

/// Loaded points below which a law is none.
const FEWEST_POINTS: usize = 4;

/// The law of a pair, also where load hardly makes accesses longer: a program can be slowed down by
/// others all the same, because they take its bandwidth. Few threads beside the chase do not fill a
/// memory: what all threads were seen to read is carried.
fn law_of(
    figures: &RecordFigures<'_>,
    model: &Latency,
    family: &CurveFamily,
) -> Result<FamilyLaw, String> {
    let law = match family.law.as_result() {
        Ok(law) => law.clone(),
        Err(why) => through_points(model, family).ok_or(why)?,
    };
    let is_read = |it: &&PlacedCell| {
        it.kernel == "load"
            && it.row.group_by == GroupBy::Memory
            && (it.row.initiator, it.memory_node) == (family.initiator, family.memory_node)
    };
    let placed = pairs(figures).placed();
    let read = placed.iter().filter(is_read).filter_map(|it| it.cell.best());
    let most = read.map(|figure| figure.summary.sum.median).max_by(f64::total_cmp);
    Ok(match most {
        Some(most) => law.carrying(most),
        None => law,
    })
}

/// A law through the points of a pair, of which some were beside load.
fn through_points(model: &Latency, family: &CurveFamily) -> Option<FamilyLaw> {
    let is_own = |it: &&LoadedCurve| {
        (it.initiator, it.memory_node) == (family.initiator, family.memory_node)
    };
    let curves: Vec<&LoadedCurve> = model.curves.iter().filter(is_own).collect();
    let idle = curves.iter().find_map(|curve| curve.idle.as_ref());
    let idle = idle.map(|it| LoadedAccess { read_share: 1.0, traffic: 0.0, ns: it.value.0 });
    let loaded = curves.iter().flat_map(|curve| {
        let read_share = curve.read_share.as_ref().map(|it| it.value.0);
        curve.points.iter().filter_map(move |point| {
            let (traffic, ns) = (point.traffic.value.0, point.time.value.0);
            Some(LoadedAccess { read_share: read_share?, traffic, ns })
        })
    });
    let points: Vec<LoadedAccess> = idle.into_iter().chain(loaded).collect();
    let is_idle = points.first().is_some_and(|first| first.traffic <= 0.0);
    let is_enough = is_idle && points.len() > FEWEST_POINTS;
    is_enough.then(|| FamilyLaw::through(&points, Vec::new())).flatten()
}
