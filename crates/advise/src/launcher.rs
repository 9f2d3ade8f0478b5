//! A placement in the words of other launchers, and what of it they cannot say.
//!
//! Sources: numactl(8) 2.0.19; OpenMP 5.2, section 21.1.6; srun(1) of Slurm 24.05; systemd.exec(5) and
//! systemd.resource-control(5) 249; docs.docker.com, docker container run; kubernetes.io, CPU, Memory
//! and Topology Manager; libvirt.org/formatdomain.html, CPU and NUMA tuning.

use std::collections::BTreeSet;

use nearfar_machine::{Binding, CpuSet, Machine, MemoryPolicy, NodeSet};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

/// What starts programs and is told where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Launcher {
    /// Before the program.
    Numactl,
    /// Variables of its environment.
    Openmp,
    /// Options of srun(1).
    Slurm,
    /// A drop-in of a unit.
    Systemd,
    /// Options of docker run.
    Docker,
    /// A pod's specification.
    Kubernetes,
    /// Elements of a domain.
    Libvirt,
}

words!(Launcher);

impl Launcher {
    pub const ALL: [Self; 7] = [
        Self::Numactl,
        Self::Openmp,
        Self::Slurm,
        Self::Systemd,
        Self::Docker,
        Self::Kubernetes,
        Self::Libvirt,
    ];
}

/// A placement as a launcher is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LauncherForm {
    pub launcher: Launcher,
    /// What to type or to write into its file: one for the whole program, or one for the processes of
    /// each initiator where their pages differ. CMD and IMAGE stand for the user's own.
    pub texts: Vec<String>,
    /// What it cannot express of the placement, in sentences; empty where it says all.
    pub lacks: Vec<String>,
}

/// How a placement is asked of a launcher.
struct Asked<'a> {
    binding: &'a Binding,
    machine: &'a Machine,
    working_set_bytes: Option<u64>,
    /// Whether programs beside each other are to have weights of their own.
    has_several_weights: bool,
    lacks: Vec<String>,
}

/// Bindings in a launcher's words.
pub fn launcher_form(
    launcher: Launcher,
    bindings: &[Binding],
    machine: &Machine,
    working_set_bytes: Option<u64>,
) -> LauncherForm {
    let mut form = LauncherForm { launcher, texts: Vec::new(), lacks: Vec::new() };
    let weights = bindings.iter().filter_map(|it| match &it.memory {
        MemoryPolicy::Weighted(weights) => Some(weights),
        _ => None,
    });
    let has_several_weights = weights.collect::<BTreeSet<_>>().len() > 1;
    for binding in bindings {
        let mut asked =
            Asked { binding, machine, working_set_bytes, has_several_weights, lacks: Vec::new() };
        let text = match launcher {
            Launcher::Numactl => asked.numactl(),
            Launcher::Openmp => asked.openmp(),
            Launcher::Slurm => asked.slurm(),
            Launcher::Systemd => asked.systemd(),
            Launcher::Docker => asked.docker(),
            Launcher::Kubernetes => asked.kubernetes(),
            Launcher::Libvirt => asked.libvirt(),
        };
        form.texts.push(text);
        for lack in asked.lacks {
            if !form.lacks.contains(&lack) {
                form.lacks.push(lack);
            }
        }
    }
    form
}

impl Asked<'_> {
    /// The CPUs' nodes, and the only one if there is one.
    fn near(&self) -> NodeSet {
        let own = self.machine.initiators().into_iter();
        let own = own.filter(|it| it.cpus.intersects(&self.binding.cpus));
        own.filter_map(|initiator| self.machine.home_memory(&initiator)).collect()
    }

    /// CPUs of the cores that the threads are on: who counts CPUs and gives whole cores must give these.
    fn cpus_of_cores(&mut self, who: &str) -> usize {
        let own = &self.binding.cpus;
        let cores = self.machine.cores.iter().filter(|core| core.cpus.intersects(own));
        let all: CpuSet = cores.flat_map(|core| core.cpus.iter()).chain(own.iter()).collect();
        if all.len() > own.len() {
            let threads = own.len();
            self.lack(format!(
                "{who} counts CPUs, and the cores of {threads} threads have {}: the program must start \
                 {threads} itself (OMP_NUM_THREADS={threads}).",
                all.len()
            ));
        }
        all.len()
    }

    fn lack(&mut self, words: impl Into<String>) {
        self.lacks.push(words.into());
    }

    /// `numactl`'s options for pages, with what it needs beside them.
    fn numactl_memory(&mut self) -> String {
        match &self.binding.memory {
            MemoryPolicy::FirstTouch => "--localalloc".into(),
            MemoryPolicy::Bind(nodes) => format!("--membind={nodes}"),
            MemoryPolicy::Preferred(node) => format!("--preferred={node}"),
            MemoryPolicy::Interleave(nodes) => format!("--interleave={nodes}"),
            MemoryPolicy::Weighted(weights) => {
                let nodes: NodeSet = weights.keys().copied().collect();
                let of = |(node, weight): (&u32, &u32)| format!("node{node} {weight}");
                let list: Vec<String> = weights.iter().map(of).collect();
                self.lack(format!(
                    "Weights are the machine's and not the program's, from Linux 6.9: as root, write \
                     them to the files in /sys/kernel/mm/mempolicy/weighted_interleave: {}.",
                    list.join(", ")
                ));
                format!("--weighted-interleave={nodes}")
            }
        }
    }

    /// `numactl .. CMD`, for launchers that say nothing of pages themselves; `CMD` where first touch
    /// does.
    fn command_on_memory(&mut self, who: &str) -> String {
        if self.binding.memory == MemoryPolicy::FirstTouch {
            return "CMD".into();
        }
        if self.is_dealt() {
            self.lack_weights();
            return format!("nearfar run --placement {} -- CMD", self.binding.memory);
        }
        self.lack(format!("{who} cannot say {}: numactl says it.", self.policy_words()));
        format!("numactl {} CMD", self.numactl_memory())
    }

    /// Whether its pages are dealt by weights that the machine cannot have beside the others'.
    fn is_dealt(&self) -> bool {
        self.has_several_weights && matches!(self.binding.memory, MemoryPolicy::Weighted(_))
    }

    fn lack_weights(&mut self) {
        self.lack(
            "The kernel's weights are the machine's, one set at a time, and this has several: `nearfar \
             run` deals each program's pages itself.",
        );
    }

    fn policy_words(&self) -> &'static str {
        match &self.binding.memory {
            MemoryPolicy::FirstTouch => "that pages are to lie near their threads",
            MemoryPolicy::Bind(_) | MemoryPolicy::Preferred(_) => "on which node pages are to lie",
            MemoryPolicy::Interleave(_) => "that pages are to be interleaved",
            MemoryPolicy::Weighted(_) => "that pages are to be interleaved by weights",
        }
    }

    fn numactl(&mut self) -> String {
        if self.is_dealt() {
            self.lack_weights();
            let Binding { cpus, memory } = self.binding;
            return format!("nearfar run --cpus {cpus} --placement {memory} -- CMD");
        }
        let memory = self.numactl_memory();
        format!("numactl --physcpubind={} {memory} CMD", self.binding.cpus)
    }

    fn openmp(&mut self) -> String {
        let cpus = &self.binding.cpus;
        let place = |(first, count): (u32, u32)| match count {
            1 => format!("{{{first}}}"),
            _ => format!("{{{first}}}:{count}"),
        };
        let places: Vec<String> = ranges(cpus).into_iter().map(place).collect();
        let command = self.command_on_memory("OpenMP");
        format!(
            "OMP_NUM_THREADS={} OMP_PLACES=\"{}\" OMP_PROC_BIND=close {command}",
            cpus.len(),
            places.join(",")
        )
    }

    fn slurm(&mut self) -> String {
        let of_task = self.cpus_of_cores("srun");
        let cpus = &self.binding.cpus;
        let bind = match &self.binding.memory {
            MemoryPolicy::FirstTouch => "local".into(),
            MemoryPolicy::Preferred(node) => format!("prefer,map_mem:{node}"),
            MemoryPolicy::Bind(nodes) if nodes.len() == 1 => format!("map_mem:{nodes}"),
            MemoryPolicy::Bind(nodes) => format!("mask_mem:{}", hexadecimal(nodes.iter())),
            MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => "none".to_string(),
        };
        let command =
            if bind == "none" { self.command_on_memory("srun") } else { "CMD".to_string() };
        format!(
            "srun --ntasks=1 --cpus-per-task={} --cpu-bind=mask_cpu:{} --mem-bind={bind} {command}",
            of_task,
            hexadecimal(cpus.iter())
        )
    }

    fn systemd(&mut self) -> String {
        let mut text = format!(
            "# /etc/systemd/system/NAME.service.d/placement.conf\n[Service]\nAllowedCPUs={}",
            { &self.binding.cpus }
        );
        let (policy, mask) = match &self.binding.memory {
            MemoryPolicy::FirstTouch => ("local", None),
            MemoryPolicy::Bind(nodes) => ("bind", Some(nodes.clone())),
            MemoryPolicy::Preferred(node) => ("preferred", Some(NodeSet::single(*node))),
            MemoryPolicy::Interleave(nodes) => ("interleave", Some(nodes.clone())),
            MemoryPolicy::Weighted(weights) => {
                self.lack(
                    "systemd has no weights: this interleaves evenly over the same nodes, which gives \
                     less; with ExecStart=nearfar run --placement weighted:.. it is as advised.",
                );
                ("interleave", Some(weights.keys().copied().collect()))
            }
        };
        text += &format!("\nNUMAPolicy={policy}");
        if let Some(mask) = mask {
            text += &format!("\nNUMAMask={mask}");
        }
        text
    }

    fn docker(&mut self) -> String {
        let cpus = &self.binding.cpus;
        let nodes = self.binding.memory.nodes();
        let inside = match &self.binding.memory {
            MemoryPolicy::FirstTouch => None,
            MemoryPolicy::Bind(nodes) if nodes.len() == 1 => None,
            // A container's nodes are the only ones that it has: no other takes what does not fit.
            MemoryPolicy::Preferred(_) => {
                self.lack(
                    "A container has no preferred node: pages that do not fit on this one end the \
                     program.",
                );
                None
            }
            _ => Some(self.command_on_memory("docker")),
        };
        let nodes = nodes.unwrap_or_else(|| self.near());
        let right = if inside.is_some() { " --cap-add=SYS_NICE" } else { "" };
        let command = inside.unwrap_or_else(|| "CMD".into());
        format!("docker run --cpuset-cpus={cpus} --cpuset-mems={nodes}{right} IMAGE {command}")
    }

    fn kubernetes(&mut self) -> String {
        let cpus = self.cpus_of_cores("The kubelet");
        let nodes = self.binding.memory.nodes().unwrap_or_else(|| self.near());
        let is_one = nodes.len() == 1 && nodes == self.near();
        let manager = if is_one { "single-numa-node" } else { "best-effort" };
        self.lack(
            "Kubernetes cannot name CPUs or memory nodes: the kubelet chooses them, by its CPU, Memory \
             and Topology Manager.",
        );
        let command = match &self.binding.memory {
            MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => {
                self.command_on_memory("A pod")
            }
            _ => "CMD".into(),
        };
        let is_inside = command != "CMD";
        let words: Vec<String> = command.split(' ').map(|word| format!("\"{word}\"")).collect();
        let memory = match self.working_set_bytes {
            Some(bytes) => format!("{}Mi", bytes.div_ceil(1 << 20)),
            None => {
                self.lack("Its memory must be named too: put the size of the data for MEMORY.");
                "MEMORY".into()
            }
        };
        let right = if is_inside {
            "\n      securityContext: {capabilities: {add: [\"SYS_NICE\"]}}"
        } else {
            ""
        };
        format!(
            "# kubelet: cpuManagerPolicy: static, memoryManagerPolicy: Static,\n#          \
             topologyManagerPolicy: {manager}\napiVersion: v1\nkind: Pod\nmetadata: {{name: \
             placed}}\nspec:\n  containers:\n    - name: program\n      image: IMAGE\n      command: \
             [{}]\n      resources:\n        requests: {{cpu: \"{cpus}\", memory: \"{memory}\"}}\n        \
             limits: {{cpu: \"{cpus}\", memory: \"{memory}\"}}{right}",
            words.join(", ")
        )
    }

    fn libvirt(&mut self) -> String {
        let cpus = &self.binding.cpus;
        let mut text =
            format!("<vcpu placement='static' cpuset='{cpus}'>{}</vcpu>\n<cputune>", cpus.len());
        for (guest, host) in cpus.iter().enumerate() {
            text += &format!("\n  <vcpupin vcpu='{guest}' cpuset='{host}'/>");
        }
        text += "\n</cputune>\n<numatune>\n  ";
        let (mode, nodes) = match &self.binding.memory {
            MemoryPolicy::FirstTouch => {
                let near = self.near();
                if near.len() > 1 {
                    self.lack(
                        "Pages near their threads need a node of the guest for each of the host's: a \
                         <cell> in <cpu><numa> and a <memnode> for each.",
                    );
                }
                ("strict", near)
            }
            MemoryPolicy::Bind(nodes) => ("strict", nodes.clone()),
            MemoryPolicy::Preferred(node) => ("preferred", NodeSet::single(*node)),
            MemoryPolicy::Interleave(nodes) => ("interleave", nodes.clone()),
            MemoryPolicy::Weighted(weights) => {
                self.lack(
                    "libvirt has no weights: this interleaves evenly over the same nodes, which gives \
                     less.",
                );
                ("interleave", weights.keys().copied().collect())
            }
        };
        text += &format!("<memory mode='{mode}' nodeset='{nodes}'/>\n</numatune>");
        text
    }
}

/// First CPU and number of each run of neighbours.
fn ranges(cpus: &CpuSet) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus.iter() {
        match all.last_mut() {
            Some((first, count)) if *first + *count == cpu => *count += 1,
            _ => all.push((cpu, 1)),
        }
    }
    all
}

/// A mask with these bits, as `0x..`.
fn hexadecimal(bits: impl Iterator<Item = u32>) -> String {
    let mut digits: Vec<u32> = Vec::new();
    for bit in bits {
        let digit = (bit / 4) as usize;
        digits.resize(digits.len().max(digit + 1), 0);
        digits[digit] |= 1 << (bit % 4);
    }
    let digits = digits.iter().rev().filter_map(|&digit| char::from_digit(digit, 16));
    format!("0x{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_places_are_those_of_the_cpus() {
        let cpus: CpuSet = "0-2,5,8".parse().unwrap();
        assert_eq!(hexadecimal(cpus.iter()), "0x127");
        assert_eq!(ranges(&cpus), [(0, 3), (5, 1), (8, 1)]);
    }
}
