//! `profile`: where a program's memory is, where it runs, how much it moves.

use std::io;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_document::{profile_answer, program_answer, write_json};
use nearfar_machine::Machine;
use nearfar_measure::{now_utc, read_environment};
use nearfar_model::{
    Beside, BoundShares, ClassRule, FamilyLaw, MemoryLaw, RecordFigures, bound, check_initiators,
    class_shares, classes, fit_profile, home_family,
};
use nearfar_place::{NotRun, ProfileOrigin, profile_process, profile_program};
use nearfar_record::{AnyProfile, ClassShares, Profile, ProgramProfile, Record};
use nearfar_sys::{WritableFile, may_look_into};

use super::pressure::{self, Shares};
use super::run::{command_of, status_number, status_of_start};
use crate::args::ProfileArguments;
use crate::exit_status::ExitStatus;
use crate::{live_machine, output, record_file};

pub fn run(arguments: &ProfileArguments) -> anyhow::Result<ExitStatus> {
    if arguments.out.as_deref() == Some(Path::new("-")) {
        bail!("--out names a file; what is watched may write to standard output itself");
    }
    if arguments.pressure {
        return under_pressure(arguments);
    }
    if !arguments.command.is_empty() {
        return start(arguments);
    }
    let out = find_out(arguments)?;
    let seen = arguments.file.as_deref().map(record_file::read_any_profile).transpose()?;
    if let Some(AnyProfile::Program(profile)) = &seen {
        return show_program(arguments, profile);
    }
    let record = read_record(arguments)?;
    let profile = match (seen, arguments.pid) {
        (Some(AnyProfile::Seen(profile)), _) => *profile,
        (_, Some(pid)) if !Path::new(&format!("/proc/{pid}")).exists() => {
            bail!("there is no process {pid}; `nearfar ps` and `pgrep NAME` tell numbers")
        }
        (_, Some(pid)) if is_foreign(pid) => {
            output::say(&format!(
                "nearfar: process {pid} belongs to another user, or is protected from its own: only root \
                 may look into it; try `sudo nearfar profile --pid {pid}`"
            ));
            return Ok(ExitStatus::Refused);
        }
        (_, Some(pid)) => {
            let machine = live_machine::read()?;
            profile_process(pid, &origin(&machine), arguments.seconds)
                .with_context(|| format!("cannot watch process {pid}"))?
        }
        (_, None) => bail!("nothing is named that could be watched"),
    };
    let profile = classed(profile, record.as_ref())?;
    write(out, arguments, &profile)?;
    output::answer(arguments.form(), &profile, || profile_answer(&profile))
}

fn is_foreign(pid: u32) -> bool {
    let looked = may_look_into(Path::new("/"), pid);
    looked.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// The program in turns alone and beside threads that load its memory.
fn under_pressure(arguments: &ProfileArguments) -> anyhow::Result<ExitStatus> {
    let prepare = || {
        let out = find_out(arguments)?;
        let machine = live_machine::read_to_measure()?;
        let shares = Shares::of(&machine, arguments.cpus.as_ref())?;
        // Before an hour of runs: without a law they say nothing.
        let family = pressure::family_of(arguments, &machine, &shares)?;
        Ok((out, machine, shares, family, pressure::program_of(&arguments.command)?))
    };
    let (out, machine, shares, family, program) = match prepare() {
        Ok(prepared) => prepared,
        Err(error) => {
            output::complain(&error);
            return Ok(ExitStatus::NotStarted);
        }
    };
    let outcome = match pressure::measure(arguments, program, machine, &shares) {
        Ok(outcome) => outcome,
        Err(error) => {
            let Some(status) = error.downcast_ref().and_then(status_of_first_run) else {
                return Err(error);
            };
            output::complain(&error);
            return Ok(status);
        }
    };
    if let Some(signal) = outcome.interrupted_by {
        return Ok(ExitStatus::Interrupted(signal));
    }
    let profile = fit_profile(&RecordFigures::new(&outcome.record), &family)
        .map_err(|why| anyhow!("what the program's time is made of is not known: {why}"))?;
    if let Some(out) = out {
        let json = output::json_line(&profile)?;
        out.write(json.as_bytes())?;
    }
    let told = || program_answer(&profile, bound_at(&profile, Ok(&family)));
    output::answer(arguments.form(), &profile, told)
}

/// The status where a program's first run says nothing.
fn status_of_first_run(why: &NotRun) -> Option<ExitStatus> {
    match why {
        NotRun::NotStarted { error, .. } => Some(status_of_start(error)),
        NotRun::Failed { status, .. } => Some(ExitStatus::OfProgram(status_number(*status))),
        NotRun::NotBound(_) => Some(ExitStatus::NotStarted),
        NotRun::Refused(_) => None,
        NotRun::Interrupted { signal } => signal.map(ExitStatus::Interrupted),
    }
}

/// What a program's time depends on where it ran.
fn bound_at(
    profile: &ProgramProfile,
    family: Result<&FamilyLaw, String>,
) -> Result<BoundShares, String> {
    let family = family?;
    let memory = MemoryLaw { law: family.law(), capacity_ratio: profile.parts.capacity_ratio };
    bound(&profile.parts, &memory, Beside::NOTHING, 1).ok_or_else(|| "its law has no time".into())
}

/// A profile of a program beside loads, with the record that it is understood by.
fn show_program(
    arguments: &ProfileArguments,
    profile: &ProgramProfile,
) -> anyhow::Result<ExitStatus> {
    let family = record_file::read_named_or_newest(arguments.record.as_deref())
        .map_err(|error| format!("{error:#}"))
        .and_then(|(_, record)| match record.header.host == profile.host {
            true => home_family(&record, profile.initiator, profile.memory_node),
            false => Err(format!("the record is of another machine than {}", profile.host)),
        });
    let family = family.as_ref().map_err(String::clone);
    output::answer(arguments.form(), profile, || program_answer(profile, bound_at(profile, family)))
}

/// Standard output and input are the program's.
fn start(arguments: &ProfileArguments) -> anyhow::Result<ExitStatus> {
    let prepare = || Ok((find_out(arguments)?, read_record(arguments)?, live_machine::read()?));
    let (out, record, machine) = match prepare() {
        Ok(prepared) => prepared,
        Err(error) => {
            output::complain(&error);
            return Ok(ExitStatus::NotStarted);
        }
    };
    let mut command = command_of(&arguments.command)?;
    let (profile, status) = match profile_program(&mut command, &origin(&machine)) {
        Ok(done) => done,
        Err(error) => {
            let status = status_of_start(&error);
            let named = Path::new(command.get_program()).display();
            output::complain(&anyhow::Error::new(error).context(format!("cannot start '{named}'")));
            return Ok(status);
        }
    };
    // The program has run: what fails from here on is said, and its status stays its own.
    let told = classed(profile, record.as_ref()).and_then(|profile| {
        say(arguments, &profile)?;
        write(out, arguments, &profile)
    });
    if let Err(error) = told {
        output::complain(&error);
    }
    Ok(ExitStatus::OfProgram(status_number(status)))
}

fn say(arguments: &ProfileArguments, profile: &Profile) -> anyhow::Result<()> {
    if arguments.json {
        output::say(output::json_line(profile)?.trim_end());
    } else {
        output::say_answer(&profile_answer(profile), arguments.full);
    }
    Ok(())
}

fn origin(machine: &Machine) -> ProfileOrigin<'_> {
    ProfileOrigin {
        nearfar: env!("CARGO_PKG_VERSION"),
        host: record_file::host_name(),
        started: now_utc(),
        machine,
        cpu: read_environment(Path::new("/")).cpu,
    }
}

fn read_record(arguments: &ProfileArguments) -> anyhow::Result<Option<Record>> {
    arguments.record.as_deref().map(record_file::read).transpose()
}

/// The profile with its accesses by the record's classes, where a record was given.
fn classed(mut profile: Profile, record: Option<&Record>) -> anyhow::Result<Profile> {
    let (Some(record), Some(access)) = (record, &profile.access) else { return Ok(profile) };
    let header = &record.header;
    if let Err(other) = check_initiators(&profile, &header.machine.initiators()) {
        profile.notes.push(format!("no shares by the classes of {}: {other}", header.host));
        return Ok(profile);
    }
    let classes = classes(&RecordFigures::new(record), &ClassRule::default())?;
    let (shares, unclassed_share) = class_shares(&classes, access).map_err(anyhow::Error::msg)?;
    if header.host != profile.host {
        profile.notes.push(format!(
            "the program was watched on {} and the record is of {}: their initiators and nodes are \
             taken for the same",
            profile.host, header.host
        ));
    }
    profile.classes = Some(ClassShares {
        record_host: header.host.clone(),
        record_started: header.started.clone(),
        shares,
        unclassed_share,
    });
    Ok(profile)
}

/// Where the profile goes; a program is not started for one that could not be written.
fn find_out(arguments: &ProfileArguments) -> anyhow::Result<Option<WritableFile>> {
    if let (Some(record), Some(out)) = (&arguments.record, &arguments.out) {
        record_file::refuse_replacing(record, out, "--out")?;
    }
    let find = |path| WritableFile::find(path).with_context(|| cannot_write(path));
    arguments.out.as_deref().map(find).transpose()
}

fn write(
    out: Option<WritableFile>,
    arguments: &ProfileArguments,
    profile: &Profile,
) -> anyhow::Result<()> {
    let (Some(out), Some(path)) = (out, &arguments.out) else { return Ok(()) };
    out.write_by(|out| write_json(out, profile)).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write the profile '{}'", path.display())
}
