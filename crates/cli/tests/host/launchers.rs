//! Forms of placements for other launchers, given to numactl and systemd themselves.

use std::fs;
use std::process::Command;

use nearfar_advise::{Launcher, launcher_form};
use nearfar_flow::read_machine;
use nearfar_machine::Binding;

use crate::support::{run, text};

fn form(launcher: Launcher, binding: &str) -> String {
    let machine = read_machine("joe0").unwrap().machine;
    let binding: Binding = binding.parse().unwrap();
    launcher_form(launcher, &[binding], &machine, None).texts.remove(0)
}

#[test]
fn numactl_starts_a_program_by_its_form() {
    let cpu = nearfar_sys::thread_cpus().unwrap().first().unwrap();
    let node = nearfar_sys::usable_nodes(std::path::Path::new("/")).unwrap().first().unwrap();
    for policy in ["first-touch", "preferred", "bind", "interleave"] {
        let memory =
            if policy == "first-touch" { policy.into() } else { format!("{policy}:{node}") };
        let form = form(Launcher::Numactl, &format!("cpus={cpu} mem={memory}"));
        let said = run(Command::new("sh").args(["-c", &form.replace("CMD", "numactl --show")]));
        let (out, error) = (text(&said.stdout), text(&said.stderr));
        assert!(said.status.success(), "{form}: {error}");
        assert!(out.contains(&format!("physcpubind: {cpu} ")), "{form}: {out}");
        let name = match policy {
            "first-touch" => "policy: ",
            "preferred" => "policy: preferred",
            "bind" => "policy: bind",
            _ => "policy: interleave",
        };
        assert!(out.contains(name), "{form}: {out}");
    }
}

#[test]
fn systemd_reads_each_unit_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    for (number, memory) in
        ["first-touch", "preferred:1", "bind:0-1", "interleave:0,2-3", "weighted:0=3,1=1"]
            .into_iter()
            .enumerate()
    {
        let form = form(Launcher::Systemd, &format!("cpus=0-6,14 mem={memory}"));
        let unit = folder.path().join(format!("placed-{number}.service"));
        fs::write(&unit, form.clone() + "\nExecStart=/bin/true\n").unwrap();
        let said = run(Command::new("systemd-analyze").arg("verify").arg(&unit));
        let words = text(&said.stdout) + &text(&said.stderr);
        let own: Vec<&str> = words.lines().filter(|line| line.contains("placed-")).collect();
        assert!(said.status.success() && own.is_empty(), "{form}\n{words}");
    }
}
