//! Programs that people run, under `nearfar run --placement interleave` in a guest of four nodes: a database, a
//! store in memory, and the memory of three languages. Their pages and their exit status.

use std::path::{Path, PathBuf};
use std::process::Command;

use nearfar_lab::{Ended, Programs};
use serde_json::Value;
use tempfile::TempDir;

use crate::boot::NEW;
use crate::{PROGRAMS, give_up, in_guest_with, left};

/// Sources of the small ones.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/programs");

/// Before a program that is to be looked at: pages stay where the policy puts them.
const QUIET: &str = "echo 0 >/proc/sys/kernel/numa_balancing\n";

/// A guest's own /tmp hides what lies there here; the clone may be there.
fn folder() -> TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// A program of this machine.
fn found(name: &str, package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(name));
    all.find(|path| path.is_file()).unwrap_or_else(|| {
        give_up(&format!(
            "{name} is missing (Debian: apt-get install --no-install-recommends {package})"
        ))
    })
}

fn call(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| give_up(&format!("{command:?}: {error}")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

fn in_guest(programs: &[&Path], folders: &[&Path], script: &str) -> Ended {
    let mut all = PROGRAMS.clone().unwrap_or_else(|error| give_up(&error));
    for (number, program) in programs.iter().enumerate() {
        let folders = if number == 0 { folders } else { &[] };
        let with = |all: Programs| all.with(program, folders);
        all = with(all).unwrap_or_else(|error| give_up(&format!("{error:#}")));
    }
    in_guest_with(&all, "amd-2p", NEW, 640, &[], &format!("{QUIET}{script}")).1
}

fn bytes(by_node: &Value) -> [f64; 4] {
    [0, 1, 2, 3].map(|node| by_node[node.to_string()].as_f64().unwrap_or_default())
}

/// A quarter of the memory on each node, or nearly: the least piece is a huge page.
fn assert_interleaved(by_node: &Value, least_mib: f64, report: &Value) {
    let found = bytes(by_node);
    let all: f64 = found.iter().sum();
    assert!(all >= least_mib * f64::from(1 << 20), "{report:#}");
    for of_node in found {
        assert!((of_node / all - 0.25).abs() < 0.05, "{found:?} {report:#}");
    }
}

/// What a run left: its report, after its status was held against what it must be.
fn report(ended: &Ended, name: &str, status: u8) -> Value {
    let said = left(ended, &format!("{name}.said"));
    assert_eq!(left(ended, &format!("{name}.status")), status.to_string(), "{said}");
    let mut report: Value = serde_json::from_str(&left(ended, &format!("{name}.json"))).unwrap();
    report["said"] = said.into();
    assert_eq!(report["status"], status, "{report:#}");
    assert_eq!(report["refused"], Value::Array(Vec::new()), "{report:#}");
    report
}

/// A line of a guest's script: a program under `nearfar run`, by nobody. An emulated machine is slow, so that
/// looks from beside are few: where a program has its memory to its end, it is counted then.
fn run(name: &str, options: &str, command: &str) -> String {
    format!(
        "as-nobody nearfar run --placement interleave {options} --report=/out/{name}.json -- {command} \
         >/out/{name}.said 2>&1\necho $? >/out/{name}.status\n"
    )
}

/// Python and its library.
fn python() -> (PathBuf, PathBuf) {
    let python = found("python3", "python3");
    let asked = "import os, sys, sysconfig\n\
                 print(os.path.realpath(sys.executable), sysconfig.get_path('stdlib'))";
    // A shim of another version is no program for a guest.
    let python =
        if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3".into() } else { python };
    let said = call(Command::new(python).args(["-c", asked]));
    let (python, library) = said.split_once(' ').unwrap();
    (python.into(), library.into())
}

/// The verdict of a run, and what the first line would say of it.
fn is_as_asked(report: &Value) -> bool {
    report["memory"]["verdict"]["is_as_asked"].as_bool().unwrap_or_else(|| panic!("{report:#}"))
}

/// Maps a file, reads it, and tells what the kernel says of its pages.
const MAPS_A_FILE: &str = "\
import mmap, sys
with open(sys.argv[1], 'rb') as file:
    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    sum(pages[at] for at in range(0, len(pages), 4096))
    print(next(line for line in open('/proc/self/numa_maps') if sys.argv[1] in line))
";

/// A file that lies against the placement decides, although the program's own memory is where it was asked for.
#[test]
#[ignore = "make outer: needs Python"]
fn the_verdict_of_python_covers_the_file_that_it_maps() {
    let (python, library) = python();
    let python_line = format!("{} -I -S", python.display());
    let write = |node: u32| {
        format!(
            "nearfar run --placement local:{node} -- {python_line} -c \
             \"open('/tmp/on.{node}', 'wb').write(bytes(64 << 20))\"\nchmod 666 /tmp/on.{node}\n"
        )
    };
    let map = |node: u32| {
        run(&format!("on.{node}"), "--follow", &format!("{python_line} map.py /tmp/on.{node}"))
            .replace("--placement interleave", "--placement local:1")
    };
    let script = format!(
        "cat >map.py <<'END'\n{MAPS_A_FILE}\nEND\n{}{}{}{}",
        write(0),
        write(1),
        map(0),
        map(1)
    );
    let ended = in_guest(&[&python], &[&library], &script);
    for node in [0, 1] {
        let report = report(&ended, &format!("on.{node}"), 0);
        let maps = left(&ended, &format!("on.{node}.said"));
        let pages = |of: u32| -> u64 {
            let count = maps.split_whitespace().find_map(|it| it.strip_prefix(&format!("N{of}=")));
            count.map_or(0, |count| count.parse().unwrap())
        };
        assert!(pages(node) > 16_000 && pages(1 - node) == 0, "{maps}");
        assert_eq!(is_as_asked(&report), node == 1, "{maps}: {report:#}");
    }
}

#[test]
#[ignore = "make outer: needs Python"]
fn processes_of_python_are_interleaved() {
    let (python, library) = python();
    let program = std::fs::read_to_string(format!("{SOURCES}/pool.py")).unwrap();
    let script = format!(
        "cat >pool.py <<'END'\n{program}\nEND\n{}",
        run("pool", "--follow", &format!("{} -I -S pool.py 4 32 1 3", python.display()))
    );
    let ended = in_guest(&[&python], &[&library], &script);
    let report = report(&ended, "pool", 3);
    assert!(left(&ended, "pool.said").contains(&(4_u64 << 25).to_string()));
    let processes = report["processes"].as_array().unwrap().iter();
    let own = processes.map(|it| &it["own_bytes_by_node"]).filter(|own| bytes(own)[0] > 4e6);
    assert_eq!(own.clone().count(), 4, "{report:#}");
    own.for_each(|own| assert_interleaved(own, 32.0, &report));
    assert!(is_as_asked(&report), "{report:#}");
}

#[test]
#[ignore = "make outer: needs Go"]
fn goroutines_are_interleaved() {
    let folder = folder();
    let program = folder.path().join("fill");
    let mut build = Command::new(found("go", "golang-go"));
    build.env("CGO_ENABLED", "0").env("GOCACHE", folder.path().join("cache"));
    call(build.args(["build", "-o"]).arg(&program).arg(format!("{SOURCES}/fill.go")));
    let script = run("go", "--follow", &format!("{} 4 128 0 4", program.display()));
    let report = report(&in_guest(&[&program], &[], &script), "go", 4);
    assert_interleaved(&report["memory"]["own_bytes_by_node"], 128.0, &report);
}

#[test]
#[ignore = "make outer: needs a JDK"]
fn threads_of_java_are_interleaved() {
    let folder = folder();
    let (image, classes) = (folder.path().join("java"), folder.path().join("classes"));
    let package = "default-jdk-headless";
    let mut link = Command::new(found("jlink", package));
    link.args([
        "--add-modules",
        "java.base",
        "--strip-debug",
        "--no-header-files",
        "--no-man-pages",
    ]);
    call(link.arg("--output").arg(&image));
    let mut compile = Command::new(found("javac", package));
    call(compile.arg("-d").arg(&classes).arg(format!("{SOURCES}/Fill.java")));
    let program = image.join("bin/java");
    let command =
        format!("{} -Xms192m -Xmx192m -cp {} Fill 4 128 0 9", program.display(), classes.display());
    let ended = in_guest(&[&program], &[&image, &classes], &run("java", "--follow", &command));
    let report = report(&ended, "java", 9);
    assert_interleaved(&report["memory"]["own_bytes_by_node"], 128.0, &report);
    assert!(is_as_asked(&report), "{report:#}");
}

#[test]
#[ignore = "make outer: needs Redis 7 or later"]
fn a_store_in_memory_is_interleaved() {
    let (server, client) =
        (found("redis-server", "redis-server"), found("redis-cli", "redis-tools"));
    let ask = format!("{} -s /tmp/redis.sock", client.display());
    let script = format!(
        "(for try in $(seq 300); do {ask} ping && break; sleep 0.2; done
          {ask} debug populate 150000 key 512; {ask} dbsize; {ask} shutdown nosave) >/out/asked 2>&1 &
        {}wait",
        run(
            "redis",
            "--follow",
            &format!(
                "{} --port 0 --unixsocket /tmp/redis.sock --unixsocketperm 777 --save '' \
                 --enable-debug-command local",
                server.display()
            )
        )
    );
    let ended = in_guest(&[&server, &client], &[], &script);
    let report = report(&ended, "redis", 0);
    assert!(left(&ended, "asked").contains("150000"), "{}", left(&ended, "asked"));
    assert_interleaved(&report["memory"]["own_bytes_by_node"], 80.0, &report);
    assert!(is_as_asked(&report), "{report:#}");
}

/// The server's shared buffers are memory that it shares with its backends, without a file; what is told is what
/// one process has touched of them.
#[test]
#[ignore = "make outer: needs PostgreSQL"]
fn a_database_s_buffers_are_interleaved() {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|all| all.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    versions.retain(|version| version.join("bin/initdb").exists());
    versions.sort();
    let Some(version) = versions.pop() else {
        give_up(
            "PostgreSQL is missing (Debian: apt-get install --no-install-recommends postgresql)",
        )
    };
    let share = Path::new("/usr/share/postgresql").join(version.file_name().unwrap());
    let programs =
        ["postgres", "initdb", "pg_ctl", "pgbench"].map(|name| version.join("bin").join(name));
    let bin = version.join("bin").display().to_string();
    let script = format!(
        "as-nobody {bin}/initdb -D /tmp/data -A trust -U nobody --locale=C --no-sync --wal-segsize=1 \
             >/out/initdb 2>&1
        (for try in $(seq 300); do as-nobody {bin}/pgbench -h /tmp -i -s 3 postgres && break; sleep 0.2; done
         as-nobody {bin}/pgbench -h /tmp -c 4 -T 30 postgres
         as-nobody {bin}/pg_ctl -D /tmp/data -m fast stop) >/out/asked 2>&1 &
        {}wait",
        run("postgres", "--follow", &format!("{bin}/postgres -D /tmp/data -k /tmp -c listen_addresses="))
    );
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    let library = version.join("lib");
    let ended = in_guest(&programs, &[&library, &share], &script);
    let report = report(&ended, "postgres", 0);
    let asked = left(&ended, "asked");
    assert!(asked.contains("tps = ") && asked.contains("failed transactions: 0"), "{asked}");
    let shared = report["memory"]["shared"].as_array().unwrap();
    let buffers = shared.iter().find(|it| it["kind"] == "unnamed");
    let buffers = buffers.unwrap_or_else(|| panic!("{report:#}"));
    assert_interleaved(&buffers["bytes_by_node"], 15.0, &report);
    assert!(is_as_asked(&report), "{report:#}");
}
