//! Runs a command in a guest, as the tests do:
//! `guest amd-4p -- nearfar topo`, `guest --list`.
//!
//! The status is the command's; 125 when the guest cannot be run, or died.

#![expect(clippy::print_stderr, reason = "what went wrong is for whoever runs it")]
#![expect(clippy::print_stdout, reason = "a list of machines is what was asked for")]

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use nearfar_lab::{
    Architecture, Ended, Flavour, Guest, GuestMachine, Kernel, Programs, build_for_aarch64,
    find_kernel, guest_machines,
};

/// Run a command in an emulated machine with several memory nodes
#[derive(Debug, Parser)]
#[command(name = "guest", after_help = concat!(
    "Examples:\n",
    "  guest amd-4p -- nearfar topo\n",
    "  guest cxl --suite bookworm --nobody --out results -- \\\n",
    "      nearfar characterize --working-set 8MiB --window 5ms --samples 1 --out /out/r.jsonl\n",
    "  guest intel-2p --device 1=virtio-net-pci -- sh -c 'cat /sys/bus/pci/devices/*/numa_node'\n",
    "Time in a guest means nothing: never read bandwidths out of one.",
))]
struct Arguments {
    #[arg(required_unless_present_any = ["list", "fetch"])]
    machine: Option<String>,
    /// Name the machines
    #[arg(long)]
    list: bool,
    /// Fetch the kernels that the tests boot, where they are not in the cache
    #[arg(long, conflicts_with = "machine")]
    fetch: bool,
    /// Debian suite of the kernel: bookworm (6.1), trixie (6.12), trixie-backports
    #[arg(long, default_value = "trixie")]
    suite: String,
    /// Memory of each node, MiB
    #[arg(long, default_value_t = 384, value_parser = clap::value_parser!(u32).range(64..=65_536))]
    node_mib: u32,
    /// A PCIe device near a node, by QEMU's name for it
    #[arg(long, value_name = "NODE=NAME", value_parser = parse_device)]
    device: Vec<(u32, String)>,
    /// Shell lines that root runs first
    #[arg(long, value_name = "LINES", default_value = "")]
    setup: String,
    /// Run the command as nobody instead of as root
    #[arg(long)]
    nobody: bool,
    /// Programs of this machine to take along; nearfar and under_filter are, where they
    /// are built beside this program
    #[arg(long, value_name = "FILE")]
    program: Vec<PathBuf>,
    /// Folder for what the command leaves in /out
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The longest that it may take, seconds
    #[arg(long, default_value_t = 300)]
    limit: u64,
    #[arg(last = true, required_unless_present_any = ["list", "fetch"])]
    command: Vec<String>,
}

fn parse_device(text: &str) -> Result<(u32, String), String> {
    let wrong = || "write NODE=NAME, for example 1=virtio-net-pci".to_string();
    let (node, name) = text.split_once('=').ok_or_else(wrong)?;
    Ok((node.parse().map_err(|_| wrong())?, name.to_string()))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("guest: {error:#}");
            ExitCode::from(125)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.fetch {
        for suite in Kernel::SUITES {
            println!(
                "{suite}: {}",
                find_kernel(suite, Architecture::X86_64, Flavour::Cloud)?.image.display()
            );
        }
        return Ok(0);
    }
    let machines = guest_machines()?;
    let Some(name) = arguments.machine.as_ref().filter(|_| !arguments.list) else {
        machines.iter().for_each(|machine| println!("{:10} {}", machine.name, machine.title));
        return Ok(0);
    };
    let machine = find(&machines, name)?;
    let beside = beside_myself(&["nearfar", "under_filter"]);
    let programs: Vec<&Path> =
        arguments.program.iter().chain(&beside).map(PathBuf::as_path).collect();
    let programs = match machine.architecture {
        Architecture::X86_64 => Programs::gather(&programs)?,
        Architecture::Aarch64 => {
            let nearfar = env::current_exe()?.with_file_name("nearfar");
            Programs::for_aarch64(&build_for_aarch64(&nearfar)?)?
        }
    };
    let kernel = find_kernel(&arguments.suite, machine.architecture, Flavour::Cloud)?;
    let guest = Guest {
        machine,
        kernel: &kernel,
        programs: &programs,
        node_mib: arguments.node_mib,
        devices: &arguments.device,
        wire: None,
        script: &script(arguments),
        limit: Duration::from_secs(arguments.limit),
    };
    let ended = guest.run()?;
    for log in &ended.deaths {
        eprintln!("guest: died before the command began, and was booted again:\n{log}");
    }
    hand_over(&ended, arguments.out.as_deref())?;
    Ok(u8::try_from(ended.status).unwrap_or(125))
}

fn find<'a>(machines: &'a [GuestMachine], name: &str) -> anyhow::Result<&'a GuestMachine> {
    machines.iter().find(|machine| machine.name == name).with_context(|| {
        let names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
        format!("there is no machine '{name}'; there are {}", names.join(", "))
    })
}

/// Those of these programs that lie in this program's folder.
fn beside_myself(names: &[&str]) -> Vec<PathBuf> {
    let Ok(myself) = env::current_exe() else { return Vec::new() };
    names.iter().map(|name| myself.with_file_name(name)).filter(|path| path.is_file()).collect()
}

fn script(arguments: &Arguments) -> String {
    let words: Vec<String> = arguments.command.iter().map(|word| quoted(word)).collect();
    let user = if arguments.nobody { "as-nobody " } else { "" };
    format!("{}\n{user}{}\n", arguments.setup, words.join(" "))
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn hand_over(ended: &Ended, folder: Option<&Path>) -> anyhow::Result<()> {
    io::stdout().write_all(&ended.stdout)?;
    io::stderr().write_all(&ended.stderr)?;
    let Some(folder) = folder else { return Ok(()) };
    for (name, bytes) in &ended.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
