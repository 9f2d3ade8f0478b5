//! Guest machines as data, and what QEMU must be told to make one.

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::architecture::Architecture;

/// A machine that QEMU emulates.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestMachine {
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    #[serde(default)]
    pub architecture: Architecture,
    /// The CPU's maker: `GenuineIntel`, `AuthenticAMD`, as CPUID gives it; of AArch64 `Fujitsu`.
    pub vendor: String,
    /// Packages, dies in each, cores in each, threads in each.
    pub topology: [u32; 4],
    /// Memory nodes in the order of their numbers.
    pub node: Vec<GuestNode>,
    /// The firmware's distances, from row to column; empty for one node.
    #[serde(default)]
    pub distances: Vec<Vec<u8>>,
    /// What the firmware claims of latency and bandwidth (HMAT).
    pub claims: Option<Claims>,
}

/// A memory node of a guest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestNode {
    /// CPUs of its own: this many of those that are left.
    pub cpus: u32,
    /// Which ones these are, where they are not those that are left: ranges.
    #[serde(default)]
    pub cpu_ranges: Vec<[u32; 2]>,
    /// Its share of the guest's memory for each node: 0 makes it a node without memory.
    #[serde(default = "one_share")]
    pub memory_shares: u32,
    /// The node with CPUs that it is near to, for machines with claims.
    pub near: Option<u32>,
    /// Memory-side cache, MiB.
    pub side_cache_mib: Option<u32>,
}

fn one_share() -> u32 {
    1
}

/// Rows: nodes with CPUs; columns: all nodes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Access latency, ns.
    pub latency_ns: Vec<Vec<u32>>,
    /// Access bandwidth, MB/s.
    pub bandwidth_mb_per_s: Vec<Vec<u32>>,
}

const MACHINES: [(&str, &str); 11] = [
    ("a64fx", include_str!("../../../lab/machines/a64fx.toml")),
    ("amd-2p", include_str!("../../../lab/machines/amd-2p.toml")),
    ("amd-4p", include_str!("../../../lab/machines/amd-4p.toml")),
    ("crossed", include_str!("../../../lab/machines/crossed.toml")),
    ("cxl", include_str!("../../../lab/machines/cxl.toml")),
    ("half-empty", include_str!("../../../lab/machines/half-empty.toml")),
    ("intel-2p", include_str!("../../../lab/machines/intel-2p.toml")),
    ("knl", include_str!("../../../lab/machines/knl.toml")),
    ("one-cpu-node", include_str!("../../../lab/machines/one-cpu-node.toml")),
    ("one-node", include_str!("../../../lab/machines/one-node.toml")),
    ("remote", include_str!("../../../lab/machines/remote.toml")),
];

/// All guest machines.
///
/// # Errors
/// When a file is not one, which the tests exclude.
pub fn guest_machines() -> anyhow::Result<Vec<GuestMachine>> {
    let read = |text: &str| -> anyhow::Result<GuestMachine> {
        let machine: GuestMachine = toml::from_str(text)?;
        machine.check()?;
        Ok(machine)
    };
    let named = |(name, text): &(&str, &str)| {
        read(text).with_context(|| format!("lab/machines/{name}.toml"))
    };
    MACHINES.iter().map(named).collect()
}

impl GuestMachine {
    pub fn cpus(&self) -> u32 {
        self.topology.iter().product()
    }

    pub fn threads_per_core(&self) -> u32 {
        self.topology[3]
    }

    /// The numbers of the CPUs of a node; empty where it has none.
    pub fn cpus_of(&self, node: usize) -> Vec<u32> {
        let Some(own) = self.node.get(node) else { return Vec::new() };
        let first: u32 = self.node.iter().take(node).map(|node| node.cpus).sum();
        let named = own.cpu_ranges.iter().flat_map(|&[from, to]| from..=to);
        if own.cpu_ranges.is_empty() {
            (first..first + own.cpus).collect()
        } else {
            named.collect()
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        let of_nodes: u32 = self.node.iter().map(|node| node.cpus).sum();
        let nodes = self.node.len();
        ensure!(
            of_nodes == self.cpus(),
            "nodes have {of_nodes} CPUs, the topology {}",
            self.cpus()
        );
        ensure!(
            nodes == 1 || is_matrix(&self.distances, nodes, nodes),
            "distances are not nodes x nodes"
        );
        let with_cpus = self.node.iter().filter(|node| node.cpus > 0).count();
        if let Some(claims) = &self.claims {
            ensure!(
                is_matrix(&claims.latency_ns, with_cpus, nodes)
                    && is_matrix(&claims.bandwidth_mb_per_s, with_cpus, nodes),
                "claims are not nodes with CPUs x nodes"
            );
        }
        Ok(())
    }

    /// QEMU's arguments for CPUs, memory, distances and claims, with so much memory on
    /// each node.
    pub fn qemu_arguments(&self, node_mib: u32) -> Vec<String> {
        let [packages, dies, cores, threads] = self.topology;
        let hmat = if self.claims.is_some() { "on" } else { "off" };
        let (machine, cpu, die) = match self.architecture {
            // Without cx16: QEMU 7.2's emulation of cmpxchg16b now and then kills kernels
            // from 6.12 on (double fault in the slab allocator). Without erms: kernels
            // then clear pages by words, of which emulation does one at a time as it does bytes.
            Architecture::X86_64 => (
                format!("q35,sata=off,smbus=off,hmat={hmat}"),
                format!("max,-cx16,-erms,vendor={}", self.vendor),
                "dies",
            ),
            Architecture::Aarch64 => ("virt,gic-version=3".into(), "a64fx".into(), "clusters"),
        };
        let mut arguments: Vec<String> = vec![
            "-machine".into(),
            machine,
            "-cpu".into(),
            cpu,
            "-smp".into(),
            format!(
                "{},sockets={packages},{die}={dies},cores={cores},threads={threads}",
                self.cpus()
            ),
            "-m".into(),
            format!("{}M", node_mib * self.node.iter().map(|node| node.memory_shares).sum::<u32>()),
        ];
        for (number, node) in self.node.iter().enumerate() {
            let mut of_node = format!("node,nodeid={number}");
            for cpu in self.cpus_of(number) {
                of_node += &format!(",cpus={cpu}");
            }
            if let Some(near) = node.near {
                of_node += &format!(",initiator={near}");
            }
            if node.memory_shares > 0 {
                let mib = node_mib * node.memory_shares;
                of_node += &format!(",memdev=memory{number}");
                arguments.extend([
                    "-object".into(),
                    format!("memory-backend-ram,id=memory{number},size={mib}M"),
                ]);
            }
            arguments.extend(["-numa".into(), of_node]);
        }
        arguments.extend(self.tables().into_iter().flat_map(|table| ["-numa".into(), table]));
        arguments
    }

    /// The firmware's tables: SLIT and HMAT, entry by entry.
    fn tables(&self) -> Vec<String> {
        let mut tables = Vec::new();
        for (from, row) in self.distances.iter().enumerate() {
            for (to, distance) in row.iter().enumerate() {
                tables.push(format!("dist,src={from},dst={to},val={distance}"));
            }
        }
        let with_cpus = || (0..self.node.len()).filter(|&number| self.node[number].cpus > 0);
        if let Some(claims) = &self.claims {
            for (row, from) in with_cpus().enumerate() {
                for to in 0..self.node.len() {
                    let access = format!(
                        "hmat-lb,initiator={from},target={to},hierarchy=memory,data-type=access"
                    );
                    let latency = claims.latency_ns[row][to];
                    let bandwidth = claims.bandwidth_mb_per_s[row][to];
                    tables.push(format!("{access}-latency,latency={latency}"));
                    tables.push(format!("{access}-bandwidth,bandwidth={bandwidth}M"));
                }
            }
        }
        for (number, node) in self.node.iter().enumerate() {
            if let Some(mib) = node.side_cache_mib {
                tables.push(format!(
                    "hmat-cache,node-id={number},size={mib}M,level=1,associativity=direct,\
                     policy=write-back,line=64"
                ));
            }
        }
        tables
    }
}

fn is_matrix<T>(rows: &[Vec<T>], height: usize, width: usize) -> bool {
    rows.len() == height && rows.iter().all(|row| row.len() == width)
}
