//! How near messages come to iperf3 with as many connections: over loopback, and as root over a pair of virtual
//! interfaces between two network namespaces: `cargo bench -p nearfar-measure --bench iperf`. Needs iperf3, and ip.
//! Status 1 when the promise is missed, 2 when the bench could not run.
//!
//! Both run in turns, so that neighbours disturb them alike; a figure is the median over turns. Both send
//! messages of 128 KiB, each from one buffer of that size again and again, which is what iperf3 does; beside it
//! stands what is measured otherwise: from a buffer beyond the caches. Both ends share this machine's CPUs.

use std::io::{self, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nearfar_machine::{Binding, Machine, MemoryPolicy};
use nearfar_measure::native::{NativeExecutor, Peer};
use nearfar_measure::{
    Executor, Failure, Interrupt, Window, WindowRequest, read_environment, store_method,
};
use nearfar_network::{Limits, Server, Token};
use nearfar_record::{
    Actor, Case, Coordinates, MessageDirection, Messages, NetworkCoordinates, Pages,
};
use nearfar_stats::median;
use serde_json::Value;

/// Ours / iperf3's is at least this.
const LEAST_RATIO: f64 = 0.95;

const TURNS: u32 = 9;
/// Of a turn of each.
const SECONDS: u64 = 1;
const MESSAGE_BYTES: u64 = 128 << 10;
/// Beyond the last-level cache of any machine that this runs on.
const LARGE_BUFFER: u64 = 256 << 20;

/// Ends of the wire: of RFC 2544's range, which no network has.
const NEAR: &str = "198.18.0.1";
const FAR: &str = "198.18.0.2";
/// In namespaces of one's own every port is free.
const PORT: &str = "5200";
const IPERF_PORT: &str = "5201";

fn main() -> ExitCode {
    // cargo's own argument is `--bench`; the others are this bench's, when it starts itself in a namespace.
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let kept = match words[..] {
        [] => over_both(),
        ["serve"] => serve().map(|()| true),
        ["compare"] => against_far(),
        _ => Err(anyhow::anyhow!("unknown arguments {words:?}")),
    };
    match kept {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            // Nothing is left to be done when not even this can be written.
            writeln!(io::stderr(), "error: {why:#}").ok();
            ExitCode::from(2)
        }
    }
}

fn over_both() -> anyhow::Result<bool> {
    writeln!(io::stdout(), "over loopback")?;
    let loopback = over_loopback()?;
    let wire = match Wire::new() {
        Ok(wire) => wire,
        Err(why) => {
            writeln!(io::stdout(), "no wire between two network namespaces: {why:#}")?;
            return Ok(loopback);
        }
    };
    writeln!(io::stdout(), "over a pair of virtual interfaces, MTU 1500")?;
    Ok(wire.compared()? && loopback)
}

fn token() -> Token {
    Token::new(*b"a token of this bench")
}

fn over_loopback() -> anyhow::Result<bool> {
    let server = Server::bind("127.0.0.1:0", token(), Limits::default())?;
    let peer = Peer { addresses: vec![server.address()?], token: token() };
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let _iperf = Iperf::server(Command::new("iperf3"), "127.0.0.1", &port)?;
    let iperf = Iperf { host: "127.0.0.1".into(), port };
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| server.serve(&|| ends.load(Ordering::Relaxed), &|_| {}));
        let compared = compare(&peer, &iperf);
        ends.store(true, Ordering::Relaxed);
        compared
    })
}

/// In the far namespace, until it is ended.
fn serve() -> anyhow::Result<()> {
    Server::bind(format!("{FAR}:{PORT}"), token(), Limits::default())?.serve(&|| false, &|_| {})?;
    Ok(())
}

/// In the near namespace.
fn against_far() -> anyhow::Result<bool> {
    let peer = Peer { addresses: vec![format!("{FAR}:{PORT}").parse()?], token: token() };
    compare(&peer, &Iperf { host: FAR.into(), port: IPERF_PORT.into() })
}

/// Two network namespaces with a pair of virtual interfaces between them, removed with this.
struct Wire {
    near: String,
    far: String,
}

impl Drop for Wire {
    fn drop(&mut self) {
        for name in [&self.near, &self.far] {
            ip(&["netns", "del", name]).ok();
        }
    }
}

impl Wire {
    fn new() -> anyhow::Result<Self> {
        let name = |end: &str| format!("nearfar-{end}-{}", std::process::id());
        let wire = Self { near: name("near"), far: name("far") };
        ip(&["netns", "add", &wire.near])?;
        ip(&["netns", "add", &wire.far])?;
        let (near, far) = (&*wire.near, &*wire.far);
        ip(&["-n", near, "link", "add", "wire", "type", "veth", "peer", "wire", "netns", far])?;
        for (name, address) in [(near, NEAR), (far, FAR)] {
            ip(&["-n", name, "address", "add", &format!("{address}/30"), "dev", "wire"])?;
            ip(&["-n", name, "link", "set", "wire", "up"])?;
        }
        Ok(wire)
    }

    /// A command in one of the namespaces.
    fn within(namespace: &str, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(program);
        command
    }

    fn compared(&self) -> anyhow::Result<bool> {
        let own = std::env::current_exe()?;
        let server = Self::within(&self.far, &own).arg("serve").spawn().context("ip")?;
        let _server = Ended(server);
        let iperf = Self::within(&self.far, Path::new("iperf3"));
        let _iperf = Iperf::server(iperf, FAR, IPERF_PORT)?;
        let status = Self::within(&self.near, &own).arg("compare").status()?;
        match status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => bail!("the near end: {status}"),
        }
    }
}

fn ip(words: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("ip").args(words).output().context("ip")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {}: {}", words.join(" "), said.trim());
    Ok(())
}

/// A process that is ended with this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn compare(peer: &Peer, theirs: &Iperf) -> anyhow::Result<bool> {
    theirs.await_answer()?;
    let machine = nearfar_topology::read_live(Path::new("/"))?;
    let cpus: Vec<u32> = machine.allowed_cpus.iter().collect();
    let stores = store_method(&read_environment(Path::new("/")).cpu);
    let mut kept = true;
    for connections in [1, 2] {
        let Some(cpus) = cpus.get(..connections) else { continue };
        for way in [MessageDirection::Send, MessageDirection::Receive] {
            let small = case(&machine, cpus, way, MESSAGE_BYTES)?;
            let large = case(&machine, cpus, way, LARGE_BUFFER)?;
            let executor =
                NativeExecutor::new(machine.clone(), stores, None, 1, Interrupt::default());
            let mut executor = executor.with_peer(peer.clone());
            let (mut ours, mut from_memory, mut of_iperf) = (Vec::new(), Vec::new(), Vec::new());
            for turn in 0..TURNS {
                for (case, rates) in [(&small, &mut ours), (&large, &mut from_memory)] {
                    executor.begin_round(&[case]);
                    rates.push(rate(&mut executor, case, turn)?);
                }
                of_iperf.push(theirs.rate(connections, way)?);
            }
            let medians = [&ours, &from_memory, &of_iperf].map(|rates| median(rates));
            let [Some(ours), Some(from_memory), Some(of_iperf)] = medians else {
                bail!("no turns")
            };
            let ratio = ours / of_iperf;
            kept &= ratio >= LEAST_RATIO;
            writeln!(
                io::stdout(),
                "{connections} connection(s), {way}: {:.2} GB/s, iperf3 {:.2} GB/s, ratio {ratio:.3} (promised: \
                 at least {LEAST_RATIO}); from a buffer beyond the caches {:.2} GB/s",
                ours / 1e9,
                of_iperf / 1e9,
                from_memory / 1e9
            )?;
        }
    }
    Ok(kept)
}

fn rate(executor: &mut NativeExecutor, case: &Case, round: u32) -> anyhow::Result<f64> {
    let shortest = Duration::from_secs(SECONDS);
    let of_window =
        |window: &Window| window.actors[0].useful_bytes as f64 / window.length.as_secs_f64();
    match executor.run(case, WindowRequest { round, first: 0, count: 1, shortest }) {
        Ok(windows) => Ok(of_window(windows.first().context("no window")?)),
        Err(Failure::Refused(reason)) => bail!("{}", reason.text),
        Err(Failure::Interrupted) => bail!("interrupted"),
    }
}

fn case(
    machine: &Machine,
    cpus: &[u32],
    way: MessageDirection,
    buffer_bytes: u64,
) -> anyhow::Result<Case> {
    let memory_node = machine.allowed_nodes.first().context("no memory node")?;
    let messages = Messages {
        way,
        binding: Binding {
            cpus: cpus.iter().copied().collect(),
            memory: MemoryPolicy::Preferred(memory_node),
        },
        thread_cpus: cpus.to_vec(),
        message_bytes: MESSAGE_BYTES,
        buffer_bytes,
        pages: Pages::Small,
    };
    let place = NetworkCoordinates {
        initiator: 0,
        cpu_node: None,
        memory_node,
        way,
        message_bytes: MESSAGE_BYTES,
        threads: u32::try_from(cpus.len())?,
    };
    Ok(Case {
        id: "network/bench".into(),
        coordinates: vec![Coordinates::Network(place)],
        actors: vec![Actor::Messages(messages)],
    })
}

/// Where iperf3's server listens.
struct Iperf {
    host: String,
    port: String,
}

impl Iperf {
    fn server(mut command: Command, host: &str, port: &str) -> anyhow::Result<Ended> {
        command.args(["-s", "-B", host, "-p", port]);
        Ok(Ended(command.stdout(Stdio::null()).spawn().context("iperf3")?))
    }

    fn await_answer(&self) -> anyhow::Result<()> {
        for _ in 0..100 {
            if self.rate(1, MessageDirection::Send).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("iperf3 does not answer")
    }

    /// What arrived, bytes/s.
    fn rate(&self, connections: usize, way: MessageDirection) -> anyhow::Result<f64> {
        let mut command = Command::new("iperf3");
        command.args(["-c", &self.host, "-p", &self.port, "-J", "-l", &MESSAGE_BYTES.to_string()]);
        command.args(["-t", &SECONDS.to_string(), "-P", &connections.to_string()]);
        if way == MessageDirection::Receive {
            command.arg("-R");
        }
        let output = command.output().context("iperf3")?;
        ensure!(output.status.success(), "iperf3: {}", String::from_utf8_lossy(&output.stdout));
        let told: Value = serde_json::from_slice(&output.stdout)?;
        let bits = told["end"]["sum_received"]["bits_per_second"].as_f64();
        Ok(bits.context("iperf3 says no rate")? / 8.0)
    }
}
