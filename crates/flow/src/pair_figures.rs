//! What a file's bandwidth entries say of each pair.

use crate::bounds::{self, BadKey, GB_PER_S};
use crate::machine_file::{BandwidthEntry, ByVariant, MachineFile};
use crate::pair_selection::Pairs;

/// Rates by number of threads; of each, GB/s by variant.
pub(crate) type Curve = Vec<(u32, Vec<f64>)>;

/// What the file says of a pair, GB/s by variant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures<'a> {
    pub one_thread: Option<&'a [f64]>,
    pub all_threads: Option<&'a [f64]>,
    pub curve: Option<&'a Curve>,
}

/// More threads than any machine here can have.
const THREADS: std::ops::RangeInclusive<u32> = 1..=8192;
const MOST_POINTS: usize = 256;
/// Of all pairs and variants together: bounds what a hostile file can make large.
const MOST_POINTS_IN_ALL: usize = 1 << 20;
/// More than this many threads of one cannot be, but for rounding in a printed table.
const SUPERLINEAR: f64 = 1.001;

/// One entry's figures.
#[derive(Default)]
pub(crate) struct EntryFigures {
    one_thread: Option<Vec<f64>>,
    all_threads: Option<Vec<f64>>,
    curve: Option<Curve>,
}

impl Figures<'_> {
    /// One thread alone, GB/s.
    pub fn one(&self, variant: usize) -> f64 {
        let of_curve = self.curve.and_then(|curve| curve.first()).map(|(_, rates)| rates[variant]);
        of_curve.or(self.one_thread.map(|one| one[variant])).unwrap_or(0.0)
    }

    /// The most that the threads of one initiator with this many cores reach alone, GB/s.
    pub fn best(&self, variant: usize, cores: f64) -> f64 {
        match (self.curve, self.all_threads) {
            (Some(curve), _) => curve.iter().map(|(_, rates)| rates[variant]).fold(0.0, f64::max),
            (None, Some(all)) => all[variant],
            (None, None) => self.one(variant) * cores,
        }
    }
}

/// What every number of threads up to the last of a curve reaches in a variant, GB/s: between
/// two figures on the line through them.
pub(crate) fn every_count(curve: &Curve, variant: usize) -> Vec<(u32, f64)> {
    let mut every = Vec::new();
    for pair in curve.windows(2) {
        let [(from, low), (to, high)] = pair else { continue };
        let (low, high) = (low[variant], high[variant]);
        let slope = (high - low) / f64::from(to - from);
        every.extend((*from..*to).map(|it| (it, low + slope * f64::from(it - from))));
    }
    every.extend(curve.last().map(|(threads, rates)| (*threads, rates[variant])));
    every
}

/// The figures of every entry, checked.
pub(crate) fn entry_figures(
    file: &MachineFile,
    variants: &[String],
) -> Result<Vec<EntryFigures>, BadKey> {
    let entries = bounds::entries("bandwidth", &file.bandwidth)?;
    entries.map(|(key, entry)| one_entry(&key, entry, variants)).collect()
}

/// What the matrix of a file says of each of its pairs, by their positions.
pub(crate) fn matrix_figures(
    file: &MachineFile,
    pairs: &Pairs,
    variants: usize,
) -> Result<Vec<(usize, Vec<f64>)>, BadKey> {
    let cells = pairs.cells("matrix.all_threads", file.matrix.all_threads.as_deref(), &GB_PER_S)?;
    Ok(cells.into_iter().map(|(pair, value)| (pair, vec![value; variants])).collect())
}

/// Of every pair what the entries say, the later prevailing, and of pairs without a curve the matrix before all.
pub(crate) fn pair_figures<'a>(
    file: &MachineFile,
    entries: &'a [EntryFigures],
    matrix: &'a [(usize, Vec<f64>)],
    pairs: &Pairs,
    variants: usize,
) -> Result<Vec<Figures<'a>>, BadKey> {
    let mut figures = vec![Figures::default(); pairs.all.len()];
    for ((key, entry), said) in bounds::entries("bandwidth", &file.bandwidth)?.zip(entries) {
        let BandwidthEntry { pairs: named, relation, distance, kind, .. } = entry;
        for pair in pairs.selected(&key, named.as_ref(), *relation, *distance, *kind)? {
            let of_pair = &mut figures[pair];
            if said.curve.is_some() {
                *of_pair = Figures { curve: said.curve.as_ref(), ..Figures::default() };
            }
            if let Some(one_thread) = &said.one_thread {
                *of_pair = Figures { one_thread: Some(one_thread), curve: None, ..*of_pair };
            }
            if let Some(all_threads) = &said.all_threads {
                *of_pair = Figures { all_threads: Some(all_threads), curve: None, ..*of_pair };
            }
        }
    }
    for (pair, all_threads) in matrix {
        if figures[*pair].curve.is_none() {
            figures[*pair].all_threads = Some(all_threads);
        }
    }
    let last = |curve: &Curve| curve.last().map_or(0, |&(threads, _)| threads as usize);
    let points = figures.iter().filter_map(|it| it.curve).map(last).sum::<usize>() * variants;
    if points > MOST_POINTS_IN_ALL {
        let why = format!(
            "threads goes up to {points} threads for all pairs and variants together; at most \
             {MOST_POINTS_IN_ALL}"
        );
        return Err(BadKey::new("bandwidth", why));
    }
    Ok(figures)
}

fn one_entry(
    key: &str,
    entry: &BandwidthEntry,
    variants: &[String],
) -> Result<EntryFigures, BadKey> {
    let by_variant = |name: &str, figure: Option<&ByVariant>| {
        let key = format!("{key}.{name}");
        figure.map(|figure| of_variants(&key, figure, variants)).transpose()
    };
    let said = EntryFigures {
        one_thread: by_variant("one_thread", entry.one_thread.as_ref())?,
        all_threads: by_variant("all_threads", entry.all_threads.as_ref())?,
        curve: curve(&format!("{key}.threads"), entry, variants)?,
    };
    if said.curve.is_some() && (said.one_thread.is_some() || said.all_threads.is_some()) {
        let why = "stands beside one_thread or all_threads; it is given instead of them";
        return Err(BadKey::new(format!("{key}.threads"), why));
    }
    Ok(said)
}

fn curve(key: &str, entry: &BandwidthEntry, variants: &[String]) -> Result<Option<Curve>, BadKey> {
    let Some(points) = &entry.threads else { return Ok(None) };
    if points.len() > MOST_POINTS {
        let why = format!("has {} counts; at most {MOST_POINTS}", points.len());
        return Err(BadKey::new(key, why));
    }
    let mut curve = Curve::new();
    for (count, figure) in points {
        let threads = count.parse::<u32>().ok().filter(|threads| THREADS.contains(threads));
        // "01" is no second name of "1".
        let threads = threads.filter(|threads| threads.to_string() == *count).ok_or_else(|| {
            let (least, most) = (THREADS.start(), THREADS.end());
            let count: String = count.chars().take(80).collect();
            BadKey::new(key, format!("has {count:?}, no number of threads from {least} to {most}"))
        })?;
        curve.push((threads, of_variants(&format!("{key}.{threads}"), figure, variants)?));
    }
    curve.sort_by_key(|&(threads, _)| threads);
    let Some((1, of_one)) = curve.first() else {
        return Err(BadKey::new(key, "says nothing of 1 thread"));
    };
    for (threads, rates) in &curve {
        let many = |(rate, one): (&f64, &f64)| *rate > f64::from(*threads) * one * SUPERLINEAR;
        if rates.iter().zip(of_one).any(many) {
            let why = format!("is more than {threads} times the figure of 1 thread");
            return Err(BadKey::new(format!("{key}.{threads}"), why));
        }
    }
    Ok(Some(curve))
}

fn of_variants(key: &str, figure: &ByVariant, variants: &[String]) -> Result<Vec<f64>, BadKey> {
    let figures = figure.of_variants(key, variants, &GB_PER_S)?;
    let of_variant = |(figure, variant): (Option<f64>, &String)| {
        figure.ok_or_else(|| BadKey::new(key, format!("has no figure for the variant {variant}")))
    };
    figures.into_iter().zip(variants).map(of_variant).collect()
}
