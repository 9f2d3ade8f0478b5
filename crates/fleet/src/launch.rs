//! How a run is started: by the launcher that is there, one process for a whole machine, bound to nothing. What
//! is printed is a command, or a manifest; nothing is started here.

use nearfar_units::{shell_word, words};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::host_list::fold_hosts;
use crate::machine_name::MachineName;

/// What starts a process on each machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// One job over all machines.
    Slurm,
    /// A job of its own for each machine, as it becomes free: the tasks of an array do not choose machines.
    SlurmArray,
    Flux,
    /// Open MPI's, by ssh or within an allocation.
    Mpirun,
    /// An indexed job.
    Kubernetes,
    Pdsh,
}

words!(Engine);

/// What is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub engine: Engine,
    /// The program's path on the machines.
    pub program: String,
    /// The run's folder, which all machines see by this path.
    pub folder: String,
    pub machines: Vec<MachineName>,
    /// Arguments of `characterize` behind `--run DIR`.
    pub arguments: Vec<String>,
    /// Seconds that a machine may take, its start included.
    pub seconds: u64,
    /// Container image (Kubernetes).
    pub image: Option<String>,
    /// Claim of the volume that holds the folder; without it the machines' own folder (Kubernetes).
    pub claim: Option<String>,
}

impl Launch {
    /// The command as it is typed, or of Kubernetes the manifest, which is JSON.
    pub fn text(&self) -> String {
        let count = self.machines.len();
        let hosts = shell_word(&fold_hosts(&self.machines));
        let task = self.task(&[]);
        // A step's own binding would leave it one CPU; one machine that fails ends no other.
        let step =
            format!("srun --cpu-bind=none --mem-bind=none --kill-on-bad-exit=0 --wait=0 {task}");
        let minutes = self.seconds.div_ceil(60) + 1;
        let batch = format!(
            "--job-name=nearfar --exclusive --mem=0 --ntasks-per-node=1 --no-kill --time={minutes} --output={}",
            shell_word(&format!("{}/slurm-%j.out", self.folder))
        );
        match self.engine {
            Engine::Slurm => {
                format!(
                    "sbatch --nodes={count} --nodelist={hosts} {batch} --wrap {}\n",
                    shell_word(&step)
                )
            }
            Engine::SlurmArray => format!(
                "for machine in $(scontrol show hostnames {hosts}); do\n  sbatch --nodes=1 --nodelist=$machine \
                 {batch} --wrap {}\ndone\n",
                shell_word(&step)
            ),
            // Unless told, Flux ends a job 30 s after the first of its tasks has ended.
            Engine::Flux => format!(
                "flux submit --nodes={count} --tasks-per-node=1 --exclusive --requires=hosts:{hosts} \
                 -o cpu-affinity=off -o exit-timeout=none --time-limit={minutes}m {task}\n"
            ),
            Engine::Mpirun => {
                let slots: Vec<String> =
                    self.machines.iter().map(|name| format!("{name}:1")).collect();
                let slots = shell_word(&slots.join(","));
                // Open MPI ends all processes when one fails.
                let task = shell_word(&format!("{task} || true"));
                format!("mpirun --host {slots} --map-by ppr:1:node --bind-to none sh -c {task}\n")
            }
            // %h is the machine's name as pdsh has it.
            Engine::Pdsh => format!(
                "pdsh -f 64 -t 30 -u {} -w {hosts} {}\n",
                self.seconds,
                shell_word(&self.task(&["--machine", "%h"]))
            ),
            // A value of plain texts cannot fail to be written.
            Engine::Kubernetes => format!("{:#}\n", self.job()),
        }
    }

    /// The command of one machine.
    fn task(&self, more: &[&str]) -> String {
        self.words(more).iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }

    fn words(&self, more: &[&str]) -> Vec<String> {
        let fixed = [self.program.as_str(), "characterize", "--run", &self.folder];
        let words = fixed.into_iter().map(String::from).chain(self.arguments.iter().cloned());
        words.chain(more.iter().map(|word| (*word).into())).collect()
    }

    /// An indexed job, of a new name each time, with a pod on each machine and no second one there. Placing
    /// pages on a node of one's choice needs CAP_SYS_NICE where the default filter of system calls holds.
    fn job(&self) -> Value {
        let labels = json!({"app.kubernetes.io/name": "nearfar"});
        let volume = match &self.claim {
            Some(claim) => json!({"name": "run", "persistentVolumeClaim": {"claimName": claim}}),
            None => {
                json!({"name": "run", "hostPath": {"path": self.folder, "type": "DirectoryOrCreate"}})
            }
        };
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"generateName": "nearfar-", "labels": labels},
            "spec": {
                "completionMode": "Indexed",
                "completions": self.machines.len(),
                "parallelism": self.machines.len(),
                "backoffLimitPerIndex": 0,
                "activeDeadlineSeconds": self.seconds + 600,
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "restartPolicy": "Never",
                        "affinity": {
                            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                                {"matchExpressions": [
                                    {"key": "kubernetes.io/hostname", "operator": "In", "values": self.machines}
                                ]}
                            ]}},
                            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                                {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
                            ]}
                        },
                        "containers": [{
                            "name": "nearfar",
                            "image": self.image.as_deref().unwrap_or("nearfar"),
                            "command": self.words(&[]),
                            "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                            "securityContext": {"capabilities": {"add": ["SYS_NICE"]}},
                            "volumeMounts": [{"name": "run", "mountPath": self.folder}]
                        }],
                        "volumes": [volume]
                    }
                }
            }
        })
    }
}
