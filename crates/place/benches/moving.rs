//! How well the rate of `nearfar move` is kept, how fast it can be, and what a look costs: a process of
//! this program that holds memory is moved from node to node. A machine with one node moves nothing: of
//! it the look alone is told.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use nearfar_place::{MoveQuestion, MovedProcess, PageDeal, move_process};
use nearfar_sys::{Mapping, PageRequest, usable_nodes};

/// What the process holds; how much it reserves beside that.
const BYTES: usize = 1 << 30;
const RESERVED_BYTES: usize = 4 << 30;

/// Asked rates, bytes/s; the last one is more than any machine moves.
const RATES: [f64; 4] = [0.2e9, 0.5e9, 1e9, 1e12];

/// Promised: the rate is kept within this, where the machine can move so fast.
const WITHIN: f64 = 0.1;

fn main() -> anyhow::Result<()> {
    match env::args().nth(1).as_deref() {
        Some("hold") => hold(),
        _ => compare(),
    }
}

/// Holds memory until standard input ends.
fn hold() -> anyhow::Result<()> {
    let pages = if env::args().any(|word| word == "huge") {
        PageRequest::Transparent
    } else {
        PageRequest::Small
    };
    let mut memory = Mapping::new(BYTES, pages)?;
    memory.as_f64_mut().fill(1.0);
    let mut reserved = Mapping::new(RESERVED_BYTES, PageRequest::Small)?;
    reserved.as_f64_mut()[0] = 1.0;
    writeln!(io::stdout(), "ready")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

struct Holder(Child);

impl Holder {
    fn start(pages: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["hold", pages]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let out = child.stdout.take().context("it has no output")?;
        let holder = Self(child);
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        ensure!(line.trim() == "ready", "it holds nothing: {line}");
        Ok(holder)
    }

    fn move_to(&self, node: u32, rate: f64) -> anyhow::Result<MovedProcess> {
        let placement = format!("bind:{node}");
        let deal = PageDeal::of(&placement.parse()?, &placement.parse()?);
        let question = MoveQuestion {
            pid: self.0.id(),
            placement,
            deal: deal.context("a node is named")?,
            bytes_per_second: rate,
            files: false,
            cpus: None,
        };
        Ok(move_process(Path::new("/"), &question, &|| false, &mut |_, _| {})?)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}

fn compare() -> anyhow::Result<()> {
    let nodes: Vec<u32> = usable_nodes(Path::new("/"))?.iter().collect();
    let mut out = io::stdout();
    for pages in ["small", "huge"] {
        let holder = Holder::start(pages)?;
        let begun = Instant::now();
        let first = holder.move_to(nodes[0], RATES[RATES.len() - 1])?;
        if nodes.len() == 1 {
            let seconds = begun.elapsed().as_secs_f64();
            writeln!(
                out,
                "{pages} pages, one node: three looks at {:.2} GB in memory and {:.0} GB reserved took \
                 {seconds:.2} s; nothing is moved here",
                first.bytes() as f64 / 1e9,
                RESERVED_BYTES as f64 / 1e9
            )?;
            continue;
        }
        for (turn, rate) in RATES.into_iter().enumerate() {
            let begun = Instant::now();
            let moved = holder.move_to(nodes[(turn + 1) % 2], rate)?;
            let all = begun.elapsed().as_secs_f64();
            let found = moved.moved_bytes as f64 / moved.seconds;
            writeln!(
                out,
                "{pages} pages, at most {:.1} GB/s: {:.3} GB/s ({:+.1} %, {WITHIN} promised), in all {all:.2} s",
                rate / 1e9,
                found / 1e9,
                100.0 * (found / rate - 1.0)
            )?;
        }
    }
    Ok(())
}
