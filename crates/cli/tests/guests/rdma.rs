//! RDMA by perftest, as Debian has it, by the recipe of `docs/sensitivity.md`, between two guests: over Ethernet by
//! the kernel's own driver (rxe). What it moves means nothing; that the recipe reads what is printed, and that its
//! pages are found, does.

use std::path::Path;

use nearfar_lab::{Architecture, Flavour, find_kernel};
use nearfar_record::read_record;
use serde_json::Value;

use crate::boot::OLD;
use crate::recipe::{judge_runs, recipe};
use crate::wire::on_a_wire;
use crate::{PROGRAMS, give_up, left, table};

/// What libibverbs opens at run time.
const FOLDERS: [&str; 2] = ["/usr/lib/x86_64-linux-gnu/libibverbs", "/etc/libibverbs.d"];

/// A device of RDMA over the guest's adapter.
fn with_device(address: &str) -> String {
    format!(
        "ip addr add {address}/24 dev eth0
         ip link set eth0 up
         rdma link add rxe0 type rxe netdev eth0 || exit 9\n"
    )
}

#[test]
#[ignore = "make outer: needs Debian's perftest"]
fn perftest_is_run_by_its_recipe() {
    let program = |path: &'static str| {
        let path = Path::new(path);
        let install = "apt-get install --no-install-recommends perftest ibverbs-providers iproute2";
        if path.is_file() { path } else { give_up(&format!("no {path:?} (Debian: {install})")) }
    };
    let programs = PROGRAMS.clone().unwrap_or_else(|error| give_up(&error));
    let programs = programs
        .with(program("/usr/bin/ib_write_bw"), &FOLDERS.map(Path::new))
        .and_then(|programs| programs.with(program("/usr/bin/rdma"), &[]))
        .unwrap_or_else(|error| give_up(&format!("{error:#}")));
    let kernel = find_kernel(OLD, Architecture::X86_64, Flavour::Generic);
    let kernel = kernel.unwrap_or_else(|error| give_up(&format!("{error:#}")));
    // A wire without flow control loses what is sent in a burst.
    let here = |text: &str| {
        let text = text.replace("-s 65536 -D 5", "-s 4096 -t 8 -n 200");
        text.replace("mlx5_0", "rxe0").replace("node17", "10.0.0.1")
    };
    let serving = here(recipe("while :; do timeout 20 ib_write_bw"));
    let peer = format!(
        "{}cat >serve <<'END'\n{serving}\nEND\n sh serve >/out/served 2>&1 &
         nc -l -p 9 >/out/farewell",
        with_device("10.0.0.1")
    );
    let asking = format!(
        "{}cat >rdma.toml <<'END'\n{}\nEND
         nearfar sensitivity --matrix --programs rdma.toml --rounds 1 --out /out/rdma.jsonl --json \
             >/out/rdma.json 2>/out/rdma.said
         echo $? >/out/rdma.status
         until echo done | nc 10.0.0.1 9; do sleep 0.5; done",
        with_device("10.0.0.2"),
        here(recipe("[[program]]\nname = \"rdma write\""))
    );
    let [peer, asking] = on_a_wire(&kernel, &programs, [&peer, &asking]);
    let file = |ending: &str| left(&asking, &format!("rdma.{ending}"));
    let record = read_record(file("jsonl").as_bytes()).unwrap();
    assert_eq!(file("status"), "0", "{:#?}\n{}", record.absent, left(&peer, "served"));
    assert!(record.absent.is_empty(), "{:?}", record.absent);
    // Two initiators with two nodes.
    assert_eq!(record.samples.len(), 4);
    judge_runs(&record);
    let told: Value = serde_json::from_str(&file("json")).unwrap();
    assert_eq!(told["best"].as_array().unwrap().len(), 4, "{told:#}");
    table::say(&format!(
        "intel-2p  {:27} perftest by its recipe: {} runs, in all {:.1} s",
        asking.release,
        record.samples.len(),
        asking.elapsed.as_secs_f64()
    ));
}
