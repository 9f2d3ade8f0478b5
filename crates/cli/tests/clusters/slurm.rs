//! A Slurm of four machines on this host: its daemons under a configuration of their own, without accounts and
//! control groups. Each machine is simulated, so that they do not disturb each other.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{NEARFAR, compared, plan, python, root, run, shell, slow, text};

/// Daemons listen on ports of their own; one cluster at a time.
static CLUSTER: Mutex<()> = Mutex::new(());
const FIRST_PORT: u16 = 17_400;
const MACHINES: u16 = 4;

struct Slurm {
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Slurm {
    fn start() -> Self {
        let alone = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::Builder::new().prefix("nearfar-slurm").tempdir().unwrap();
        let slurm = Self { folder, _alone: alone };
        slurm.start_munge();
        let (path, host) = (
            slurm.folder.path().display(),
            fs::read_to_string("/proc/sys/kernel/hostname").unwrap(),
        );
        let host = host.trim().split('.').next().unwrap();
        let health = root().join("integrations/slurm/health-check");
        let checker = slurm.folder.path().join("health");
        let script = format!(
            "#!/bin/sh\nexport NEARFAR={NEARFAR} NEARFAR_RUN={path}/run SLURM_CONF={path}/slurm.conf\nexec {}\n",
            health.display()
        );
        write_program(&checker, &script);
        let configuration = format!(
            "ClusterName=emulated\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
             CredType=cred/munge\nSlurmctldPort={FIRST_PORT}\nSlurmctldPidFile={path}/slurmctld.pid\n\
             SlurmdPidFile={path}/slurmd.%n.pid\nSlurmdSpoolDir={path}/spool.%n\nStateSaveLocation={path}/state\n\
             SlurmctldLogFile={path}/slurmctld.log\nSlurmdLogFile={path}/slurmd.%n.log\nMailProg=/bin/true\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nSchedulerType=sched/backfill\n\
             SchedulerParameters=sched_min_interval=100000,bf_interval=1\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nMpiDefault=none\nReturnToService=2\nSlurmdTimeout=300\nKillWait=5\n\
             HealthCheckProgram={path}/health\nHealthCheckInterval=2\nHealthCheckNodeState=ANY\n\
             NodeName=n[1-{MACHINES}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{}-{}] CPUs=1 RealMemory=100 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            FIRST_PORT + 1,
            FIRST_PORT + MACHINES
        );
        fs::create_dir(slurm.folder.path().join("state")).unwrap();
        fs::write(slurm.conf(), configuration).unwrap();
        slurm.daemon(Command::new("slurmctld").arg("-f").arg(slurm.conf()));
        for number in 1..=MACHINES {
            fs::create_dir(slurm.folder.path().join(format!("spool.n{number}"))).unwrap();
            slurm.daemon(
                Command::new("slurmd").args(["-N", &format!("n{number}"), "-f"]).arg(slurm.conf()),
            );
        }
        slurm.wait("sinfo -h -t idle -o %D", "4");
        slurm
    }

    /// Authentication is one daemon for a host: started where none answers.
    fn start_munge(&self) {
        if self.says("munge -n </dev/null | unmunge") {
            return;
        }
        let start = "install -d -o munge -g munge -m 0755 /run/munge; [ -s /etc/munge/munge.key ] || { dd if=/dev/urandom \
                     bs=1 count=1024 of=/etc/munge/munge.key status=none; chown munge:munge /etc/munge/munge.key; chmod 0400 \
                     /etc/munge/munge.key; }; runuser -u munge -- /usr/sbin/munged --force";
        run(shell(start).stdin(Stdio::null()));
        fs::copy("/run/munge/munged.pid", self.folder.path().join("munged.pid")).unwrap();
    }

    fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn run_folder(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// Starts what detaches itself.
    fn daemon(&self, command: &mut Command) {
        let log = fs::File::create(self.folder.path().join("daemon.out")).unwrap();
        let command = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0);
        assert!(command.status().unwrap().success(), "{command:?}");
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = shell(line);
        command.env("SLURM_CONF", self.conf()).current_dir(self.folder.path());
        command
    }

    fn says(&self, line: &str) -> bool {
        self.shell(line).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    }

    fn asked(&self, line: &str) -> String {
        run(&mut self.shell(line))
    }

    /// Waits until a command prints this.
    fn wait(&self, line: &str, wanted: &str) {
        for _ in 0..600 {
            let output = self.shell(line).output().unwrap();
            if text(&output.stdout).trim() == wanted {
                return;
            }
            sleep(Duration::from_millis(100));
        }
        panic!(
            "'{line}' does not print '{wanted}':\n{}{}",
            self.asked("sinfo"),
            self.asked("cat *.log | tail -40")
        );
    }

    /// A program in nearfar's place, which gives one of the machines another simulated one and each its own seed.
    fn member(&self) -> String {
        let path = self.folder.path().join("member");
        let slow = slow(self.folder.path());
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = characterize ]; then\n  n=${{SLURMD_NODENAME#n}}\n  set -- \"$@\" --seed $(date +%s%N | tail -c 7)$n\n  \
             if [ $n = 3 ]; then exec {NEARFAR} $(echo \"$*\" | sed 's#--simulate amd-4p#--simulate {slow}#'); fi\nfi\nexec {NEARFAR} \"$@\"\n"
        );
        write_program(&path, &script);
        path.to_str().unwrap().into()
    }
}

impl Drop for Slurm {
    /// Ends what was started, by the files of process numbers.
    fn drop(&mut self) {
        let files = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|it| it == "pid"));
        for number in files.filter_map(|path| fs::read_to_string(path).ok()) {
            Command::new("kill").arg(number.trim()).stderr(Stdio::null()).status().ok();
        }
        sleep(Duration::from_millis(500));
    }
}

fn write_program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let mut file = fs::File::create(path).unwrap();
    file.write_all(script.as_bytes()).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
}

/// `fleet plan`, the command as it is printed, four records, and the slow machine by name; measured again by the
/// printed command it is bad, and Slurm's health check drains it.
#[test]
fn slurm_measures_four_machines_and_drains_the_slow_one() {
    let slurm = Slurm::start();
    let ranks =
        slurm.asked(&format!("srun -N2 -n5 --overcommit {NEARFAR} run --near rank -- true 2>&1"));
    for (rank, of, times) in [(0, 3, 1), (2, 3, 1), (0, 2, 1), (1, 2, 1)] {
        let told = format!("local rank {rank} of {of} (SLURM_LOCALID) is on node");
        assert_eq!(ranks.matches(&told).count(), times, "{ranks}");
    }
    let member = slurm.member();
    for (engine, again) in [("slurm", false), ("slurm-array", true)] {
        let machines = if again { "n3" } else { "n[1-4]" };
        let printed = plan(
            &slurm.run_folder(),
            &["--engine", engine, "--program", &member, "--machines", machines],
        );
        slurm.asked(&printed);
        slurm.wait("squeue -h | wc -l", "0");
        let (status, json) = compared(&slurm.run_folder());
        let of = |verdict: &str| -> Vec<&str> {
            let machines = json["machines"].as_array().unwrap().iter();
            machines
                .filter(|it| it["verdict"] == verdict)
                .map(|it| it["machine"].as_str().unwrap())
                .collect()
        };
        assert_eq!(json["missing"], serde_json::json!([]), "{json:#}");
        assert_eq!(of("good"), ["n1", "n2", "n4"], "{json:#}");
        assert_eq!(
            (status, of(if again { "bad" } else { "again" })),
            (if again { 1 } else { 2 }, vec!["n3"]),
            "{json:#}"
        );
    }
    slurm.wait("sinfo -h -t drain -o %N", "n3");
    assert!(slurm.asked("sinfo -R").contains("nearfar BAD n3"), "{}", slurm.asked("sinfo -R"));
}

/// A task on one machine that is killed leaves the others, and is told.
#[test]
fn a_machine_that_dies_in_mid_run_is_told_and_ends_no_other() {
    let slurm = Slurm::start();
    let real = slurm.folder.path().join("real.toml");
    fs::write(
        &real,
        "extends = \"amd-4p\"\nname = \"real\"\ntitle = \"real\"\nclock = { real_time = 1 }\n",
    )
    .unwrap();
    let member = slurm.folder.path().join("member");
    let script = format!(
        "#!/bin/sh\nif [ $SLURMD_NODENAME = n2 ]; then\n  {NEARFAR} $(echo \"$*\" | sed 's#--simulate amd-4p#--simulate {}#') &\n  \
         while ! ls {}/*/n2.running.* >/dev/null 2>&1; do sleep 0.1; done\n  sleep 0.3; kill -9 $!; exit 9\nfi\nexec {NEARFAR} \"$@\"\n",
        real.display(),
        slurm.run_folder().display()
    );
    write_program(&member, &script);
    let member = member.to_str().unwrap();
    let printed = plan(
        &slurm.run_folder(),
        &["--engine", "slurm", "--program", member, "--machines", "n[1-4]"],
    );
    slurm.asked(&printed);
    slurm.wait("squeue -h | wc -l", "0");
    let (status, json) = compared(&slurm.run_folder());
    assert_eq!(
        (status, json["problems"][0]["machine"].as_str(), json["problems"][0]["kind"].as_str()),
        (2, Some("n2"), Some("unended"))
    );
    let measured =
        json["machines"].as_array().unwrap().iter().filter(|it| it["measurements"] == 1).count();
    assert_eq!(measured, 3, "{json:#}");
}

#[test]
fn reframe_agrees() {
    let slurm = Slurm::start();
    let member = slurm.member();
    let site = slurm.folder.path().join("site.py");
    let path = slurm.folder.path().display();
    let settings = format!(
        "site_configuration = {{'systems': [{{'name': 'emulated', 'hostnames': ['.*'], 'modules_system': 'nomod', \
         'partitions': [{{'name': 'all', 'scheduler': 'squeue', 'launcher': 'srun', 'environs': ['none'], 'access': ['-p all'], \
         'sched_options': {{'use_nodes_option': True, 'sched_access_in_submit': False}}}}]}}], 'environments': [{{'name': 'none'}}], \
         'storage': [{{'enable': False, 'backend': 'sqlite', 'sqlite_db_file': '{path}/results.db'}}]}}\n"
    );
    fs::write(&site, settings).unwrap();
    let test = root().join("integrations/reframe/nearfar_fleet.py");
    let options = crate::support::MACHINE.join(" ");
    let line = format!(
        "{} -C {} -c {} --prefix {path}/reframe -r -S 'nearfar={member}' -S 'options={options}'",
        python("reframe").display(),
        site.display(),
        test.display()
    );
    let output = slurm.shell(&line).output().unwrap();
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    // The machine that is to be measured again is more than none.
    assert!(!output.status.success() && said.contains("again=1"), "{said}");
    for part in
        ["P: good: 3 machines", "P: again: 1 machines", "P: bad: 0 machines", "n3.shortfall"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}
