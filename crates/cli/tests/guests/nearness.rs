//! Machines whose nodes and CPUs do not fit into a tree: nodes without memory, memory without CPUs, nodes
//! across packages. What nearfar says and does is held against the kernel's own files.

use nearfar_lab::Ended;
use serde_json::Value;

use crate::boot::NEW;
use crate::{in_guest, left, table};

/// What every machine is asked. `hold CPUS NODE` starts a program of 48 MiB there, and stops it.
const SCRIPT: &str = r#"
    for node in /sys/devices/system/node/node[0-9]*; do
        echo "${node##*node} $(cat $node/cpulist)"
    done >/out/kernel
    cat /sys/devices/system/node/has_memory >/out/has_memory
    say() { name=$1; shift; "$@" >/out/$name 2>/out/$name.err; echo $? >/out/$name.status; }
    say topo.json nearfar topo --json
    say topo nearfar topo --full
    say doctor nearfar doctor --full
    say each nearfar run --each-node -- sh -c 'grep Cpus_allowed_list /proc/self/status'
    say package nearfar run --each-package -- sh -c 'grep Cpus_allowed_list /proc/self/status'
    for rank in 0 1 2 3; do
        LOCAL_RANK=$rank LOCAL_WORLD_SIZE=4 say rank.$rank \
            nearfar run --near rank -- sh -c 'grep Cpus_allowed_list /proc/self/status'
    done
    for node in $(ls -d /sys/devices/system/node/node[0-9]* | sed 's/.*node//'); do
        say local.$node nearfar run --placement local:$node -- toucher -m 16
    done
    hold() {
        ( exec nearfar run --quiet --placement bind:$2 --cpus $1 -- toucher -m 48 -h 900000 ) \
            >/dev/null 2>&1 &
        pid=$!
        while [ -e /proc/$pid ]; do
            read -r size resident shared rest </proc/$pid/statm
            [ $((resident - shared)) -lt $((40 * 256)) ] || break
            sleep 0.2
        done
        kill -STOP $pid
    }
    held() { name=$1; hold $2 $3; say ps.$name nearfar ps --json --pid $pid; say pst.$name nearfar ps --pid $pid; kill -KILL $pid; }
    measure() {
        say measured nearfar characterize --only pairs --kernel triad --working-set 8MiB --window 5ms \
            --samples 1 --out /tmp/r.jsonl
        say show.json nearfar show /tmp/r.jsonl --json
        say advise nearfar advise /tmp/r.jsonl
    }
"#;

struct Asked {
    ended: Ended,
    /// CPUs by node, by the kernel.
    cpus: Vec<(String, String)>,
}

impl Asked {
    fn of(machine: &str, more: &str) -> Self {
        let (_, ended) = in_guest(machine, NEW, 256, &[], &format!("{SCRIPT}{more}"));
        let kernel = left(&ended, "kernel");
        let split = |line: &str| {
            let (node, cpus) = line.split_once(' ').unwrap_or((line, ""));
            (node.to_string(), cpus.to_string())
        };
        let mut cpus: Vec<_> = kernel.lines().map(split).collect();
        cpus.sort();
        table::say(&format!("{machine:12} {:27} nearness", ended.release));
        Self { ended, cpus }
    }

    fn said(&self, name: &str) -> String {
        left(&self.ended, name)
    }

    fn json(&self, name: &str) -> Value {
        let text = self.said(name);
        serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{name}: {error}: {text} {}", self.said(&format!("{name}.err")))
        })
    }

    /// Every command's status, and that hwloc's own messages reach nobody.
    fn assert_status(&self, expected: &str, names: &[&str]) {
        for name in names {
            let error = self.said(&format!("{name}.err"));
            assert_eq!(self.said(&format!("{name}.status")).trim(), expected, "{name}: {error}");
            assert!(!error.contains("hwloc"), "{name}: {error}");
        }
    }

    /// CPUs, local memory by initiator.
    fn initiators(&self) -> Vec<(String, String)> {
        let topo = self.json("topo.json");
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let all = topo["initiators"].as_array().unwrap().iter();
        all.map(|own| (text(&own["cpus"]), text(&own["memory_nodes"]))).collect()
    }

    /// Initiators are the kernel's nodes with CPUs, and their own node is local where it has memory.
    fn assert_initiators_are_the_kernels(&self) {
        let with_memory: nearfar_machine::NodeSet = self.said("has_memory").trim().parse().unwrap();
        let local = |node: &str| {
            let has = with_memory.contains(node.parse().unwrap());
            if has { node.to_string() } else { String::new() }
        };
        let with_cpus = self.cpus.iter().filter(|(_, cpus)| !cpus.is_empty());
        let mut expected: Vec<_> =
            with_cpus.map(|(node, cpus)| (cpus.clone(), local(node))).collect();
        expected.sort();
        let mut found = self.initiators();
        found.sort();
        assert_eq!(found, expected);
    }

    /// All CPUs of the machine run an instance, and those of a rank.
    fn assert_instances(&self, name: &str, expected: &[&str]) {
        let text = self.said(name);
        let mut found: Vec<&str> =
            text.lines().filter_map(|line| line.split('\t').nth(1)).map(str::trim).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{text} {}", self.said(&format!("{name}.err")));
    }

    /// On which node a program's own pages are.
    fn pages_of_local(&self, node: u32) -> String {
        let inside = self.json(&format!("local.{node}"));
        let pages = inside["pages"].as_object().unwrap();
        let most = pages.iter().max_by_key(|(_, count)| count.as_u64());
        most.unwrap().0.clone()
    }
}

const ALWAYS: [&str; 4] = ["topo.json", "topo", "doctor", "each"];

#[test]
fn cpus_without_memory_run_and_are_measured_beside_the_nearest() {
    let asked = Asked::of("half-empty", "held near 0-1 1; held far 2-3 2; measure");
    asked.assert_status("0", &ALWAYS);
    asked.assert_status("0", &["rank.0", "rank.3", "measured", "show.json", "advise", "local.0"]);
    asked.assert_initiators_are_the_kernels();
    let topo = asked.said("topo");
    assert!(topo.contains("no memory") && !topo.contains("not allowed"), "{topo}");
    let doctor = asked.said("doctor");
    assert!(doctor.contains("4 of 8 CPUs have no local memory: 0-1,6-7"), "{doctor}");
    asked.assert_instances("each", &["0-1", "2-3", "4-5", "6-7"]);
    for (rank, cpus) in ["0-1", "2-3", "4-5", "6-7"].into_iter().enumerate() {
        asked.assert_instances(&format!("rank.{rank}"), &[cpus]);
    }
    assert_eq!(["1", "2"].map(|node| asked.pages_of_local(node.parse().unwrap())), ["1", "2"]);
    assert!(["1", "2"].contains(&asked.pages_of_local(0).as_str()));
    let near = asked.json("ps.near");
    assert_eq!(near["processes"][0]["is_far"], false, "{near:#}");
    let far = asked.json("ps.far");
    assert_eq!(far["processes"][0]["far_bytes_by_node"].as_object().unwrap().len(), 1, "{far:#}");
    let advice = asked.said("advise");
    assert!(!advice.contains("cannot") && advice.contains("GB/s"), "{advice}");
}

#[test]
fn where_all_memory_is_remote_nothing_is_to_be_mended() {
    let asked = Asked::of("remote", "held any 0-3 1; measure");
    asked.assert_status("0", &ALWAYS);
    asked.assert_status("0", &["rank.0", "rank.3", "measured", "advise", "local.2", "ps.any"]);
    asked.assert_initiators_are_the_kernels();
    asked.assert_instances("each", &["0-7"]);
    let ps = asked.json("ps.any");
    assert_eq!(ps["processes"][0]["is_far"], false, "{ps:#}");
    let text = asked.said("pst.any");
    assert!(!text.contains("cpuset"), "{text}");
    let topo = asked.said("topo");
    assert!(topo.contains("no memory") && !topo.contains("not allowed"), "{topo}");
}

#[test]
fn nodes_across_packages_are_as_the_kernel_has_them() {
    let asked = Asked::of("crossed", "held far 0-1 1; held near 2-3 1; measure");
    asked.assert_status("0", &ALWAYS);
    asked.assert_status("0", &["package", "measured", "advise", "local.0", "local.1"]);
    asked.assert_initiators_are_the_kernels();
    asked.assert_instances("each", &["0-1,4-5", "2-3,6-7"]);
    asked.assert_instances("package", &["0-3", "4-7"]);
    let doctor = asked.said("doctor");
    assert!(
        doctor.contains("contradict each other: nodes 0-1") && doctor.contains("libvirt"),
        "{doctor}"
    );
    for node in [0, 1] {
        assert_eq!(asked.pages_of_local(node), node.to_string());
    }
    let far = asked.json("ps.far");
    assert_eq!(far["processes"][0]["is_far"], true, "{far:#}");
    let near = asked.json("ps.near");
    assert_eq!(near["processes"][0]["is_far"], false, "{near:#}");
}

#[test]
fn memory_beside_the_only_cpus_is_not_local_for_being_nearest() {
    let asked = Asked::of("one-cpu-node", "held far 0-1 1; measure");
    asked.assert_status("0", &ALWAYS);
    asked.assert_status("0", &["local.0", "measured", "advise", "ps.far"]);
    asked.assert_status("125", &["local.1", "local.4"]);
    assert_eq!(asked.initiators(), [("0-3".to_string(), "0".to_string())]);
    let refused = asked.said("local.1.err");
    assert!(refused.contains("no CPUs are local to it"), "{refused}");
    let ps = asked.json("ps.far");
    assert_eq!(ps["processes"][0]["is_far"], true, "{ps:#}");
}
