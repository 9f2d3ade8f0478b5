//! What changes a process for good: each case runs in a process of its own, which
//! this program starts by its own path, and has one thread at its start.

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_sys::{
    AddressRange, Mapping, PageRequest, ProofMethod, Refusal, base_page_bytes, bind_range,
    limit_self, probe_calls, prove, usable_nodes, with_hwloc_environment,
};

const CASE: &str = "NEARFAR_SYS_TEST_CASE";

#[expect(clippy::print_stdout, reason = "the parent process reads it")]
fn main() -> ExitCode {
    match env::var(CASE).as_deref() {
        Err(_) => {
            check_hwloc_sees_our_variables_alone();
            check_the_environment_stays_while_threads_run();
            check_limits_hold();
            check_mappings_leave_nothing();
            check_proof_goes_down_the_ladder_where_a_filter_blocks_it();
            println!("own_process: 5 checks passed");
        }
        Ok("environment") => {
            let before = variables();
            let own = [("HWLOC_PLUGINS_PATH", "/nowhere")];
            let seen = with_hwloc_environment(&own, variables).expect("one thread runs");
            println!("{seen}, then as before: {}", variables() == before);
        }
        Ok("threads") => {
            let (stop, wait) = std::sync::mpsc::channel::<()>();
            let other = std::thread::spawn(move || wait.recv().is_err());
            let refusal = with_hwloc_environment(&[], || panic!("asked all the same"));
            let refusal = refusal.expect_err("two threads run");
            assert!(matches!(refusal, Refusal::ThreadsRunning { .. }));
            println!("{refusal}; {}", variables());
            drop(stop);
            assert!(other.join().expect("the other thread ends"));
            // The kernel counts a joined thread until it has left for good.
            while let Err(refusal) = with_hwloc_environment(&[], || ()) {
                assert!(matches!(refusal, Refusal::ThreadsRunning { .. }), "{refusal}");
                std::thread::yield_now();
            }
            block(libc::SYS_unshare);
            with_hwloc_environment(&[], || ()).expect("/proc says that one thread runs");
        }
        Ok("memory") => {
            limit_self(60, 256 << 20).expect("limits can be lowered");
            limit_self(600, 1 << 40).expect("higher limits change nothing");
            let refusal = Mapping::new(512 << 20, PageRequest::Small).expect_err("over the limit");
            Mapping::new(16 << 20, PageRequest::Small).expect("below the limit");
            println!("{refusal}");
        }
        Ok("cpu") => {
            limit_self(1, 1 << 40).expect("limits can be lowered");
            let mut turns = 0_u64;
            loop {
                turns = std::hint::black_box(turns.wrapping_add(1));
            }
        }
        Ok("core") => {
            println!("{}", core_limits());
            limit_self(60, 1 << 40).expect("limits can be lowered");
            println!("{}", core_limits());
            std::process::abort();
        }
        Ok("unmap") => {
            let before = address_space();
            for bytes in [1, 5 << 20, 64 << 20] {
                for request in [PageRequest::Small, PageRequest::Transparent] {
                    let mapping = Mapping::new(bytes, request).expect("there is room");
                    assert!(address_space() >= before + mapping.bytes());
                    drop(mapping);
                    assert_eq!(address_space(), before, "{bytes} bytes, {request:?}");
                }
            }
        }
        Ok("filter") => {
            let nodes = usable_nodes(Path::new("/")).expect("nodes");
            let mut mapping = Mapping::new(4 << 20, PageRequest::Small).expect("there is room");
            mapping.as_f64_mut().fill(1.0);
            let exact = prove(&mapping, &nodes).expect("nothing is blocked yet");
            for (blocked, next) in [
                (libc::SYS_move_pages, ProofMethod::GetMempolicy),
                (libc::SYS_get_mempolicy, ProofMethod::NumaMaps),
            ] {
                block(blocked);
                let found = prove(&mapping, &nodes).expect("the next rung holds");
                assert_eq!(found.method, next);
                assert_eq!((found.nodes, found.absent), (exact.nodes.clone(), exact.absent));
            }
            let node = nodes.first().expect("a node");
            bind_range(&mapping, &MemoryPolicy::Preferred(node)).expect("unread, but set");
            block(libc::SYS_mbind);
            let refusal = bind_range(&mapping, &MemoryPolicy::Preferred(node));
            println!("{}", refusal.expect_err("mbind is blocked"));
            for (call, outcome) in probe_calls(&nodes) {
                if outcome.is_err() {
                    println!("{call}");
                }
            }
            // A range that is no whole mapping leaves numa_maps nothing to say.
            let part = AddressRange::from(&mapping).part(0, 1 << 20);
            let two = nodes.union(&NodeSet::single(node + 1));
            println!("{}", prove(part, &two).expect_err("no rung is left"));
            let one = prove(part, &NodeSet::single(node));
            if nodes.len() == 1 {
                assert_eq!(one.expect("one node is allowed").method, ProofMethod::OneAllowedNode);
            } else {
                one.expect_err("the kernel allows more nodes");
            }
        }
        Ok(other) => panic!("no case {other}"),
    }
    ExitCode::SUCCESS
}

/// Soft and hard limit of core files, by /proc/self/limits.
fn core_limits() -> String {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("limits");
    let line = limits.lines().find(|line| line.starts_with("Max core file size"));
    let numbers: Vec<&str> = line.expect("a line").split_whitespace().skip(4).take(2).collect();
    numbers.join(" ")
}

/// Bytes in all mappings of this process (the first number of statm, in pages).
fn address_space() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages = text.split(' ').next().expect("a number");
    pages.parse::<usize>().expect("a number") * base_page_bytes()
}

/// Makes the kernel answer EPERM to one system call of this process from now on, as
/// the default profiles of containers do (seccomp(2)).
fn block(call: libc::c_long) {
    let step = |code: u32, equal: u8, other: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).expect("16 bits"),
        jt: equal,
        jf: other,
        k,
    };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let mut steps = [
        // The number of the call is the first word of the data that a filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            u32::try_from(call).expect("small"),
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
    // SAFETY: no memory is involved.
    let status = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(status, 0);
    // SAFETY: the kernel reads the program and its four steps, all live.
    let status =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

fn run(case: &str) -> Output {
    Command::new(env::current_exe().expect("own path"))
        .env_clear()
        .env(CASE, case)
        .env("HWLOC_XMLFILE", "/tmp/elsewhere.xml")
        .env("HWLOC_", "")
        .env("MY_HWLOC_PLUGINS", "kept")
        .output()
        .expect("start of this program")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn check_hwloc_sees_our_variables_alone() {
    let said = stdout(&run("environment"));
    assert_eq!(said, "HWLOC_PLUGINS_PATH=/nowhere MY_HWLOC_PLUGINS=kept, then as before: true\n");
}

fn check_the_environment_stays_while_threads_run() {
    let said = stdout(&run("threads"));
    assert!(said.contains("threads run") && said.contains("HWLOC_XMLFILE="), "{said}");
}

/// What the environment says of hwloc, sorted.
fn variables() -> String {
    let is_of_hwloc = |(name, _): &(String, String)| name.contains("HWLOC");
    let mut found: Vec<_> = env::vars().filter(is_of_hwloc).collect();
    found.sort();
    let texts: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
    texts.join(" ")
}

fn check_mappings_leave_nothing() {
    assert_eq!(stdout(&run("unmap")), "");
}

fn check_proof_goes_down_the_ladder_where_a_filter_blocks_it() {
    let said = stdout(&run("filter"));
    let lines: Vec<&str> = said.lines().collect();
    let [mbind, blocked @ .., unproven] = lines.as_slice() else { panic!("{said}") };
    assert!(mbind.contains("EPERM") && mbind.contains("SYS_NICE"), "{mbind}");
    let expected = [
        "mbind",
        "mbind(weighted-interleave)",
        "get_mempolicy",
        "move_pages",
        "mincore and get_mempolicy",
    ];
    assert_eq!(blocked, expected);
    for method in ProofMethod::ALL {
        assert!(unproven.contains(&method.to_string()), "{method} in {unproven}");
    }
}

fn check_limits_hold() {
    let said = stdout(&run("memory"));
    assert!(said.contains("ENOMEM") && said.contains("ulimit -v"), "{said}");
    assert_eq!(run("cpu").status.signal(), Some(24), "24 is SIGXCPU");
    let aborted = run("core");
    let status = aborted.status;
    assert_eq!((status.signal(), status.core_dumped()), (Some(6), false), "6 is SIGABRT");
    let said = String::from_utf8_lossy(&aborted.stdout).into_owned();
    let (before, after) = said.trim_end().split_once('\n').expect("two lines");
    let expected = if before.ends_with(" 0") { "0 0" } else { "1 1" };
    assert_eq!(after, expected, "was {before}");
}
