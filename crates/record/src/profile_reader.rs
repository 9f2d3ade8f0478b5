//! Reads a profile, whoever wrote it, and refuses what cannot be one.

use std::collections::BTreeSet;
use std::io::{self, Read};

use nearfar_units::{excerpt, excerpt_of};
use serde::de::DeserializeOwned;

use crate::contradiction::check_count;
use crate::profile::{AccessShares, PROFILE_SCHEMA, Profile, ProfileCounter};

/// Longer profiles are refused before they are parsed.
pub const MAX_PROFILE_BYTES: u64 = 64 << 20;

/// Why a profile could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The input failed.
    #[error("the profile cannot be read")]
    Io(#[from] io::Error),
    #[error("the profile is longer than 64 MiB, which no profile is")]
    TooLong,
    /// The format is another.
    #[error(
        "the profile's format is '{}'; this program reads {wanted}, as `nearfar profile {}--out \
         FILE -- PROGRAM` writes it",
        excerpt(found),
        if *wanted == PROFILE_SCHEMA { "" } else { "--pressure " }
    )]
    Schema { found: String, wanted: &'static str },
    /// It is not what it should be.
    #[error("the profile cannot be understood: {what}")]
    Malformed { what: String },
}

/// Reads a profile.
///
/// # Errors
/// When the input fails, is no profile of this format, or holds a number that cannot be.
pub fn read_profile(input: impl Read) -> Result<Profile, ProfileError> {
    let profile: Profile = parse_profile(input, PROFILE_SCHEMA)?;
    check(&profile).map_err(|what| malformed(&what))?;
    Ok(profile)
}

fn malformed(what: &str) -> ProfileError {
    const LONGEST: usize = 400;
    ProfileError::Malformed { what: excerpt_of(what, LONGEST) }
}

/// All of an input, where it is no longer than a profile can be.
pub(crate) fn profile_text(input: impl Read) -> Result<Vec<u8>, ProfileError> {
    let mut text = Vec::new();
    input.take(MAX_PROFILE_BYTES + 1).read_to_end(&mut text)?;
    match text.len() as u64 > MAX_PROFILE_BYTES {
        true => Err(ProfileError::TooLong),
        false => Ok(text),
    }
}

/// Reads JSON whose `schema` is this one.
pub(crate) fn parse_profile<P: DeserializeOwned>(
    input: impl Read,
    wanted: &'static str,
) -> Result<P, ProfileError> {
    let text = profile_text(input)?;
    #[derive(serde::Deserialize)]
    struct Beginning {
        schema: Option<String>,
    }
    let beginning: Beginning =
        serde_json::from_slice(&text).map_err(|error| malformed(&error.to_string()))?;
    match beginning.schema {
        Some(schema) if schema == wanted => (),
        found => {
            return Err(ProfileError::Schema { found: found.unwrap_or_default(), wanted });
        }
    }
    serde_json::from_slice(&text).map_err(|error| malformed(&error.to_string()))
}

/// What every profile is.
fn check(profile: &Profile) -> Result<(), String> {
    not_negative("wall_seconds", profile.wall_seconds)?;
    not_negative("cpu_seconds", profile.cpu_seconds)?;
    let mut initiators = BTreeSet::new();
    for initiator in &profile.initiators {
        if !initiators.insert(initiator.index) {
            return Err(format!("initiator {} stands twice among the initiators", initiator.index));
        }
    }
    let known = |what: &str, initiator: u32| match initiators.contains(&initiator) {
        true => Ok(()),
        false => {
            Err(format!("{what} names initiator {initiator}, which is not among the initiators"))
        }
    };
    let mut before = 0.0;
    for look in &profile.looks {
        not_negative("at_seconds", look.at_seconds)?;
        if look.at_seconds < before {
            return Err(format!("the look at {} s stands behind a later one", look.at_seconds));
        }
        before = look.at_seconds;
        for (&initiator, &seconds) in &look.cpu_seconds {
            known("a look", initiator)?;
            not_negative("cpu_seconds of a look", seconds)?;
        }
        let bytes = look.bytes.iter().flat_map(|bytes| bytes.values());
        if bytes.copied().try_fold(0_u64, u64::checked_add).is_none() {
            return Err("a look counts more bytes than there can be".into());
        }
    }
    if profile.access.is_some() == profile.access_unknown.is_some() {
        return Err("access and access_unknown must be given one without the other".into());
    }
    if let Some(access) = &profile.access {
        check_access(access)?;
        access.cpu_time.keys().try_for_each(|&initiator| known("cpu_time", initiator))?;
        access.pairs.iter().try_for_each(|pair| known("a pair", pair.initiator))?;
    }
    if let Some(classes) = &profile.classes {
        share("unclassed_share", classes.unclassed_share)?;
        for of in &classes.shares {
            share("share of a class", of.share)?;
            share("alpha_relative", of.alpha_relative)?;
        }
    }
    profile.counters.iter().try_for_each(check_counter)?;
    for (name, value) in profile.figures.values() {
        if let Some(value) = value {
            not_negative(name, value)?;
        }
        if value.is_some() == profile.figures.unknown.contains_key(name) {
            return Err(format!("{name} must have a value or a reason, and not both"));
        }
    }
    for name in ["local_dram_share", "llc_miss_rate"] {
        let value = profile.figures.values().into_iter().find(|(known, _)| *known == name);
        if let Some((_, Some(value))) = value {
            share(name, value)?;
        }
    }
    Ok(())
}

fn check_access(access: &AccessShares) -> Result<(), String> {
    share("local_share", access.local_share)?;
    let mut total = 0.0;
    for pair in &access.pairs {
        share("share", pair.share)?;
        total += pair.share;
    }
    access.cpu_time.values().try_for_each(|&value| share("cpu_time", value))?;
    access.pages.values().try_for_each(|&value| share("pages", value))?;
    // Shares were rounded when they were written, and there may be many of them.
    if total > 1.0 + 1e-6 {
        return Err(format!("the shares of the pairs add up to {total}, above 1"));
    }
    Ok(())
}

fn check_counter(counter: &ProfileCounter) -> Result<(), String> {
    let ProfileCounter { quantity, count, counted_share, unavailable, .. } = counter;
    check_count(*quantity, *count, *counted_share, unavailable.is_some())?;
    counter.check.as_ref().map_or(Ok(()), |check| {
        not_negative("expected", check.expected)?;
        not_negative("counted", check.counted)
    })
}

fn not_negative(name: &str, value: f64) -> Result<(), String> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(()),
        false => Err(format!("{name} is {value}; it is a number from 0 on")),
    }
}

fn share(name: &str, value: f64) -> Result<(), String> {
    // A sum of rounded shares can lie a little above 1.
    match (0.0..=1.0 + 1e-9).contains(&value) {
        true => Ok(()),
        false => Err(format!("{name} is {value}; a share is from 0 to 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{
        CountedQuantity, CounterCheck, PairShare, ProfileFigures, ProfileLook, ProfiledInitiator,
        ProfiledProgram, ProgramEnd,
    };

    fn profile() -> Profile {
        let unknown = ["arithmetic_flops_per_byte", "llc_miss_rate", "memory_level_parallelism"];
        Profile {
            schema: PROFILE_SCHEMA.into(),
            nearfar: "0.1.0".into(),
            host: "here".into(),
            started: "2025-03-01T12:00:00Z".into(),
            program: ProfiledProgram {
                name: "triad".into(),
                pid: 7,
                attached: false,
                end: Some(ProgramEnd::Exited(0)),
            },
            cpu: crate::Cpu::default(),
            initiators: vec![ProfiledInitiator {
                index: 0,
                cpus: "0-1".parse().unwrap(),
                cpu_node: Some(0),
                memory_nodes: vec![0],
            }],
            wall_seconds: 2.0,
            cpu_seconds: 1.9,
            most_threads: 2,
            most_bytes: Some(4096),
            looks: vec![ProfileLook {
                at_seconds: 0.01,
                processes: 1,
                threads: 2,
                cpu_seconds: [(0, 0.01)].into(),
                bytes: Some([(0, 4096)].into()),
            }],
            access: Some(AccessShares {
                local_share: 1.0,
                cpu_time: [(0, 1.0)].into(),
                pages: [(0, 1.0)].into(),
                pairs: vec![PairShare { initiator: 0, memory_node: 0, share: 1.0 }],
            }),
            access_unknown: None,
            classes: None,
            counters: vec![ProfileCounter {
                quantity: CountedQuantity::Cycles,
                events: vec!["cycles".into()],
                meaning: Some("cycles".into()),
                source: Some("Linux".into()),
                count: Some(1e9),
                counted_share: Some(1.0),
                check: Some(CounterCheck { work: "x".into(), expected: 1.0, counted: 1.0 }),
                unavailable: None,
            }],
            figures: ProfileFigures {
                gflop_per_s: Some(1.0),
                dram_read_gb_per_s: Some(12.0),
                operational_flops_per_byte: Some(1.0 / 12.0),
                local_dram_share: Some(1.0),
                instructions_per_cycle: Some(0.5),
                unknown: unknown.map(|name| (name.into(), "not counted".into())).into(),
                ..ProfileFigures::default()
            },
            notes: Vec::new(),
        }
    }

    fn read_again(profile: &Profile) -> Result<Profile, ProfileError> {
        read_profile(serde_json::to_vec(profile).unwrap().as_slice())
    }

    #[test]
    fn what_is_written_is_read_again_as_the_same() {
        assert_eq!(read_again(&profile()).unwrap(), profile());
    }

    #[test]
    fn what_no_profile_holds_is_refused_by_name() {
        type Damage = fn(&mut Profile);
        let cases: [(Damage, &str); 10] = [
            (|it| it.wall_seconds = -1.0, "wall_seconds"),
            (|it| it.looks[0].cpu_seconds = [(9, 1.0)].into(), "initiator 9"),
            (|it| it.looks[0].bytes = Some([(0, u64::MAX), (1, 1)].into()), "more bytes"),
            (|it| it.access_unknown = Some("why".into()), "access_unknown"),
            (|it| it.counters[0].count = None, "a count or a reason"),
            (|it| it.counters[0].counted_share = Some(1.5), "for 1.5 of the time"),
            (|it| it.figures.gflop_per_s = None, "gflop_per_s"),
            (|it| it.figures.local_dram_share = Some(2.0), "local_dram_share"),
            (|it| it.initiators.push(it.initiators[0].clone()), "stands twice"),
            (
                |it| {
                    let pair = it.access.as_ref().unwrap().pairs[0].clone();
                    it.access.as_mut().unwrap().pairs.push(pair);
                },
                "add up to 2",
            ),
        ];
        for (damage, told) in cases {
            let mut damaged = profile();
            damage(&mut damaged);
            let error = read_again(&damaged).unwrap_err().to_string();
            assert!(error.contains(told), "{told:?} is not in {error:?}");
        }
    }

    #[test]
    fn other_files_are_named_for_what_they_are() {
        let other = read_profile(&br#"{"schema":"nearfar.topo/1"}"#[..]).unwrap_err();
        assert!(other.to_string().contains("'nearfar.topo/1'"), "{other}");
        for text in ["", "[]", "{", "{}", "{\"schema\":1}"] {
            assert!(read_profile(text.as_bytes()).is_err(), "{text:?}");
        }
        let endless = io::repeat(b' ');
        assert!(matches!(read_profile(endless), Err(ProfileError::TooLong)));
    }
}
