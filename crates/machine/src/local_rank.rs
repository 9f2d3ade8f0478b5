//! Which of a machine's processes this is by the word of the launcher that started it.

/// A process among those that its launcher started on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalRank {
    /// From 0.
    pub rank: u32,
    /// How many processes there are on this machine; `None` where the launcher does not say.
    pub processes: Option<u32>,
    /// The variable that gives the rank.
    pub variable: &'static str,
}

/// Where launchers give rank and number of processes: torchrun, Open MPI and PRRTE, MPICH's and Intel's Hydra,
/// MVAPICH, PALS, Flux, Slurm. Those that run inside of others' jobs come first: `mpirun` within an allocation
/// of Slurm starts its daemons by `srun`, and all that they start inherits a SLURM_LOCALID of 0.
const LAUNCHERS: [(&str, Option<&str>); 7] = [
    ("LOCAL_RANK", Some("LOCAL_WORLD_SIZE")),
    ("OMPI_COMM_WORLD_LOCAL_RANK", Some("OMPI_COMM_WORLD_LOCAL_SIZE")),
    ("MPI_LOCALRANKID", Some("MPI_LOCALNRANKS")),
    ("MV2_COMM_WORLD_LOCAL_RANK", Some("MV2_COMM_WORLD_LOCAL_SIZE")),
    ("PALS_LOCAL_RANKID", None),
    ("FLUX_TASK_LOCAL_ID", None),
    ("SLURM_LOCALID", None),
];

impl LocalRank {
    /// By the environment; `None` where no launcher has set a rank.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
        let (rank, name, size) =
            LAUNCHERS.into_iter().find_map(|(name, size)| Some((number(name)?, name, size)))?;
        let of_slurm = || {
            let node = number("SLURM_NODEID")?;
            tasks_of_node(&variable("SLURM_STEP_TASKS_PER_NODE")?, node)
        };
        let processes = if name == "SLURM_LOCALID" { of_slurm() } else { size.and_then(number) };
        // A number from another launcher than the rank.
        let processes = processes.filter(|&processes| rank < processes);
        Some(Self { rank, processes, variable: name })
    }

    /// The variables that are looked at for a rank.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        LAUNCHERS.into_iter().map(|(rank, _)| rank)
    }

    /// Its part of what the processes of the machine share: neighbours take neighbouring parts, of more parts
    /// than processes each takes several, and where their number is not known all parts in turn.
    pub fn part_of<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let Some(last) = all.len().checked_sub(1) else { return all };
        let rank = usize::try_from(self.rank).unwrap_or(usize::MAX);
        let processes = self.processes.and_then(|it| usize::try_from(it).ok()).filter(|&it| it > 0);
        let (from, to) = match processes {
            Some(processes) if processes <= all.len() => {
                (rank * all.len() / processes, (rank + 1) * all.len() / processes)
            }
            Some(processes) => {
                let part = (rank * all.len() / processes).min(last);
                (part, part + 1)
            }
            None => (rank % all.len(), rank % all.len() + 1),
        };
        all.get(from..to).unwrap_or_default()
    }
}

/// How many tasks a node of a step has, in Slurm's words: `2(x3),1`.
fn tasks_of_node(text: &str, node: u32) -> Option<u32> {
    let mut before = 0_u32;
    for group in text.split(',') {
        let (tasks, nodes) = match group.split_once("(x") {
            Some((tasks, nodes)) => (tasks, nodes.strip_suffix(')')?.parse().ok()?),
            None => (group, 1),
        };
        before = before.checked_add(nodes)?;
        if node < before {
            return tasks.parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(set: &[(&str, &str)]) -> Option<(u32, Option<u32>, &'static str)> {
        let value = |name: &str| set.iter().find(|(it, _)| *it == name).map(|(_, to)| (*to).into());
        LocalRank::find(value).map(|it| (it.rank, it.processes, it.variable))
    }

    #[test]
    fn the_innermost_launcher_is_believed() {
        let slurm = [
            ("SLURM_LOCALID", "1"),
            ("SLURM_NODEID", "3"),
            ("SLURM_STEP_TASKS_PER_NODE", "4(x3),2"),
        ];
        assert_eq!(found(&slurm), Some((1, Some(2), "SLURM_LOCALID")));
        let mut mpirun = vec![("SLURM_LOCALID", "0"), ("OMPI_COMM_WORLD_LOCAL_RANK", "3")];
        assert_eq!(found(&mpirun), Some((3, None, "OMPI_COMM_WORLD_LOCAL_RANK")));
        mpirun.push(("OMPI_COMM_WORLD_LOCAL_SIZE", "4"));
        assert_eq!(found(&mpirun), Some((3, Some(4), "OMPI_COMM_WORLD_LOCAL_RANK")));
        let hydra = [("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "2")];
        assert_eq!(found(&hydra), Some((0, Some(2), "MPI_LOCALRANKID")));
        let torchrun = [("LOCAL_RANK", "2"), ("LOCAL_WORLD_SIZE", "8"), hydra[0]];
        assert_eq!(found(&torchrun), Some((2, Some(8), "LOCAL_RANK")));
    }

    #[test]
    fn what_says_nothing_is_no_rank() {
        assert_eq!(found(&[("SLURM_LOCALID", "x")]), None);
        assert_eq!(found(&[]), None);
        let of_another = [("LOCAL_RANK", "5"), ("LOCAL_WORLD_SIZE", "2")];
        assert_eq!(found(&of_another), Some((5, None, "LOCAL_RANK")));
        for (tasks, node) in
            [("", "0"), ("2(x", "0"), ("2", "1"), ("2(x4294967295),1", "4294967295")]
        {
            let slurm = [
                ("SLURM_LOCALID", "0"),
                ("SLURM_NODEID", node),
                ("SLURM_STEP_TASKS_PER_NODE", tasks),
            ];
            assert_eq!(found(&slurm), Some((0, None, "SLURM_LOCALID")), "{tasks}");
        }
    }

    #[test]
    fn all_parts_are_taken_by_neighbours() {
        let parts = |processes: Option<u32>, ranks: u32, all: &[u32]| -> Vec<Vec<u32>> {
            let rank = |rank| LocalRank { rank, processes, variable: "LOCAL_RANK" };
            (0..ranks).map(|it| rank(it).part_of(all).to_vec()).collect()
        };
        assert_eq!(parts(Some(4), 4, &[0, 2]), [[0], [0], [2], [2]]);
        assert_eq!(parts(Some(2), 2, &[0, 1, 2]), [vec![0], vec![1, 2]]);
        assert_eq!(parts(Some(3), 3, &[0, 1]), [[0], [0], [1]]);
        assert_eq!(parts(None, 3, &[0, 1]), [[0], [1], [0]]);
        assert_eq!(parts(Some(1), 1, &[0, 1]), [[0, 1]]);
        assert_eq!(parts(None, 1, &[]), [[0; 0]]);
    }
}
