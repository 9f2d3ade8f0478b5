//! Forms for other launchers, read back as their documentation says and held against the placement.

use std::collections::BTreeMap;

use nearfar_advise::{Launcher, LauncherForm, launcher_form};
use nearfar_flow::read_machine;
use nearfar_machine::{Binding, CpuSet, MemoryPolicy, NodeSet};

const POLICIES: [&str; 6] = [
    "first-touch",
    "preferred:1",
    "bind:0",
    "interleave:0-3",
    "interleave:0,2",
    "weighted:0=3,1=3,2=1,3=1",
];
const CPUS: [&str; 2] = ["0-6,14", "0-27"];

fn bindings() -> impl Iterator<Item = Binding> {
    let of = |cpus| {
        POLICIES.into_iter().map(move |memory| format!("cpus={cpus} mem={memory}").parse().unwrap())
    };
    CPUS.into_iter().flat_map(of)
}

fn form(launcher: Launcher, binding: &Binding) -> LauncherForm {
    let machine = read_machine("joe0").unwrap().machine;
    let form = launcher_form(launcher, std::slice::from_ref(binding), &machine, Some(3 << 30));
    assert_eq!(form.texts.len(), 1);
    form
}

/// The values of options or keys, and what is no option.
fn options(text: &str) -> (BTreeMap<&str, &str>, Vec<&str>) {
    let mut named = BTreeMap::new();
    let mut rest = Vec::new();
    for word in text.split_whitespace() {
        match word.strip_prefix("--") {
            Some(option) => {
                let (name, value) = option.split_once('=').unwrap_or((option, ""));
                assert!(named.insert(name, value).is_none(), "{text}: --{name} twice");
            }
            None => rest.push(word),
        }
    }
    (named, rest)
}

fn nodes(list: &str) -> NodeSet {
    list.parse().unwrap()
}

/// What numactl(8) does with these words.
fn numactl_policy(named: &BTreeMap<&str, &str>) -> MemoryPolicy {
    let policies = ["localalloc", "membind", "preferred", "interleave", "weighted-interleave"];
    let given: Vec<_> = policies.iter().filter_map(|it| Some((*it, *named.get(it)?))).collect();
    match given.as_slice() {
        [("localalloc", "")] => MemoryPolicy::FirstTouch,
        [("membind", list)] => MemoryPolicy::Bind(nodes(list)),
        [("preferred", node)] => MemoryPolicy::Preferred(node.parse().unwrap()),
        [("interleave", list)] => MemoryPolicy::Interleave(nodes(list)),
        // The weights are the machine's.
        [("weighted-interleave", list)] => {
            MemoryPolicy::Weighted(nodes(list).iter().map(|node| (node, 1)).collect())
        }
        other => panic!("{other:?}"),
    }
}

/// The policy without its weights, which none of them takes.
fn without_weights(policy: &MemoryPolicy) -> MemoryPolicy {
    match policy {
        MemoryPolicy::Weighted(weights) => {
            MemoryPolicy::Weighted(weights.keys().map(|&node| (node, 1)).collect())
        }
        other => other.clone(),
    }
}

fn is_weighted(binding: &Binding) -> bool {
    matches!(binding.memory, MemoryPolicy::Weighted(_))
}

#[test]
fn numactl_is_told_cpus_and_policy_and_of_weights_what_root_must_write() {
    for binding in bindings() {
        let form = form(Launcher::Numactl, &binding);
        let (named, rest) = options(&form.texts[0]);
        assert_eq!(rest, ["numactl", "CMD"]);
        assert_eq!(named["physcpubind"].parse::<CpuSet>().unwrap(), binding.cpus);
        assert_eq!(numactl_policy(&named), without_weights(&binding.memory), "{form:?}");
        assert_eq!(form.lacks.is_empty(), !is_weighted(&binding), "{form:?}");
        if is_weighted(&binding) {
            assert!(form.lacks[0].contains("node0 3, node1 3, node2 1, node3 1"), "{form:?}");
        }
    }
}

/// OpenMP 5.2, section 21.1.6: `{first}:count` is this many places, the next CPU each.
#[test]
fn openmp_has_a_place_for_each_cpu_and_leaves_pages_to_numactl() {
    for binding in bindings() {
        let form = form(Launcher::Openmp, &binding);
        let words: Vec<&str> = form.texts[0].split_whitespace().collect();
        let value = |name: &str| {
            let word = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            word.unwrap().trim_matches('"')
        };
        let places = value("OMP_PLACES").split(',').flat_map(|place| {
            let (first, count) = place.split_once("}:").unwrap_or((place, "1"));
            let first: u32 = first.trim_matches(['{', '}']).parse().unwrap();
            first..first + count.parse::<u32>().unwrap()
        });
        assert_eq!(places.collect::<CpuSet>(), binding.cpus);
        assert_eq!(value("OMP_NUM_THREADS"), binding.cpus.len().to_string());
        assert_eq!(value("OMP_PROC_BIND"), "close");
        let is_first_touch = binding.memory == MemoryPolicy::FirstTouch;
        assert_eq!(form.lacks.is_empty(), is_first_touch, "{form:?}");
        assert_eq!(!words.contains(&"numactl"), is_first_touch, "{form:?}");
    }
}

#[test]
fn slurm_masks_cpus_and_says_that_it_cannot_interleave() {
    for binding in bindings() {
        let form = form(Launcher::Slurm, &binding);
        let (srun, inside) = form.texts[0].split_once(" numactl").unwrap_or((&form.texts[0], ""));
        let (named, _) = options(srun);
        let mask = named["cpu-bind"].strip_prefix("mask_cpu:0x").unwrap();
        let mask = u64::from_str_radix(mask, 16).unwrap();
        let cpus: CpuSet = (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect();
        assert_eq!(cpus, binding.cpus);
        assert_eq!(named["cpus-per-task"], binding.cpus.len().to_string());
        let by_slurm = match &binding.memory {
            MemoryPolicy::FirstTouch => "local",
            MemoryPolicy::Preferred(_) => "prefer,map_mem:1",
            MemoryPolicy::Bind(_) => "map_mem:0",
            MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => "none",
        };
        assert_eq!(named["mem-bind"], by_slurm);
        assert_eq!(form.lacks.is_empty(), by_slurm != "none", "{form:?}");
        if by_slurm == "none" {
            let policy = numactl_policy(&options(inside).0);
            assert_eq!(policy, without_weights(&binding.memory));
        }
    }
}

/// systemd.exec(5): NUMAPolicy= and NUMAMask=, which `local` has not.
#[test]
fn systemd_is_told_all_but_weights() {
    for binding in bindings() {
        let form = form(Launcher::Systemd, &binding);
        let lines: Vec<&str> = form.texts[0].lines().skip(1).collect();
        assert_eq!(lines[0], "[Service]");
        let keys: BTreeMap<&str, &str> =
            lines[1..].iter().map(|line| line.split_once('=').unwrap()).collect();
        assert_eq!(keys["AllowedCPUs"].parse::<CpuSet>().unwrap(), binding.cpus);
        let told = match (keys["NUMAPolicy"], keys.get("NUMAMask")) {
            ("local", None) => MemoryPolicy::FirstTouch,
            ("preferred", Some(node)) => MemoryPolicy::Preferred(node.parse().unwrap()),
            ("bind", Some(list)) => MemoryPolicy::Bind(nodes(list)),
            ("interleave", Some(list)) => MemoryPolicy::Interleave(nodes(list)),
            other => panic!("{other:?}"),
        };
        if is_weighted(&binding) {
            assert_eq!(told.nodes(), binding.memory.nodes());
            assert!(form.lacks[0].contains("no weights"), "{form:?}");
        } else {
            assert_eq!((told, form.lacks.len()), (binding.memory, 0));
        }
    }
}

#[test]
fn docker_has_cpus_and_nodes_and_interleaves_inside_with_the_right_to() {
    for binding in bindings() {
        let form = form(Launcher::Docker, &binding);
        let (outside, inside) = form.texts[0].split_once(" IMAGE ").unwrap();
        let (named, _) = options(outside);
        assert_eq!(named["cpuset-cpus"].parse::<CpuSet>().unwrap(), binding.cpus);
        let given = nodes(named["cpuset-mems"]);
        match binding.memory.nodes() {
            Some(asked) => assert_eq!(given, asked),
            // The nodes of its CPUs.
            None => assert_eq!(given, nodes(if binding.cpus.len() == 28 { "0-3" } else { "0,2" })),
        }
        let is_inside = inside != "CMD";
        assert_eq!(named.get("cap-add").copied(), is_inside.then_some("SYS_NICE"));
        if is_inside {
            let policy = numactl_policy(&options(inside).0);
            assert_eq!(policy, without_weights(&binding.memory));
        }
        let is_said = !form.lacks.is_empty();
        let is_all = matches!(binding.memory, MemoryPolicy::FirstTouch | MemoryPolicy::Bind(_));
        assert_eq!(is_said, !is_all, "{form:?}");
    }
}

#[test]
fn kubernetes_asks_for_whole_cpus_twice_alike_and_names_what_it_cannot() {
    for binding in bindings() {
        let form = form(Launcher::Kubernetes, &binding);
        let text = &form.texts[0];
        let of = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
        assert_eq!(of("requests:"), of("limits:"), "guaranteed quality of service");
        let cpus = format!("cpu: \"{}\", memory: \"3072Mi\"", binding.cpus.len());
        assert!(of("limits:").contains(&cpus), "{text}");
        assert!(form.lacks[0].contains("cannot name CPUs or memory nodes"), "{form:?}");
        let is_spread =
            matches!(binding.memory, MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_));
        assert_eq!(text.contains("SYS_NICE"), is_spread, "{text}");
        assert_eq!(text.contains("\"numactl\""), is_spread, "{text}");
    }
    let one: Binding = "cpus=0-6 mem=preferred:0".parse().unwrap();
    assert!(form(Launcher::Kubernetes, &one).texts[0].contains("single-numa-node"));
}

/// Both give whole cores: with two CPUs a core, as many CPUs as threads are half as many cores.
#[test]
fn who_gives_whole_cores_is_asked_for_all_their_cpus() {
    let machine = read_machine("two-socket-8-nodes").unwrap().machine;
    let first: CpuSet = machine.cores.iter().filter_map(|core| core.cpus.iter().next()).collect();
    let bindings = [Binding { cpus: first, memory: MemoryPolicy::FirstTouch }];
    for (launcher, asked) in
        [(Launcher::Kubernetes, "cpu: \"256\""), (Launcher::Slurm, "--cpus-per-task=256")]
    {
        let form = launcher_form(launcher, &bindings, &machine, None);
        assert!(form.texts[0].contains(asked), "{form:?}");
        assert!(form.lacks.iter().any(|it| it.contains("OMP_NUM_THREADS=128")), "{form:?}");
    }
}

/// libvirt.org/formatdomain.html: a `<vcpupin>` for each CPU of the guest; the modes of `<memory>`.
#[test]
fn libvirt_pins_each_cpu_and_says_that_it_has_no_weights() {
    for binding in bindings() {
        let form = form(Launcher::Libvirt, &binding);
        let text = &form.texts[0];
        let value = |line: &str, name: &str| {
            line.split_once(&format!("{name}='")).unwrap().1.split('\'').next().unwrap().to_string()
        };
        let pins: Vec<&str> = text.lines().filter(|line| line.contains("<vcpupin")).collect();
        let guests: Vec<String> = pins.iter().map(|line| value(line, "vcpu")).collect();
        assert_eq!(guests, (0..pins.len()).map(|it| it.to_string()).collect::<Vec<_>>());
        let hosts: CpuSet = pins.iter().map(|it| value(it, "cpuset").parse().unwrap()).collect();
        assert_eq!(hosts, binding.cpus);
        let vcpu = text.lines().next().unwrap();
        assert!(vcpu.ends_with(&format!(">{}</vcpu>", binding.cpus.len())), "{vcpu}");
        let memory = text.lines().find(|line| line.contains("<memory")).unwrap();
        let mode = value(memory, "mode");
        let expected = match &binding.memory {
            MemoryPolicy::FirstTouch | MemoryPolicy::Bind(_) => "strict",
            MemoryPolicy::Preferred(_) => "preferred",
            MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => "interleave",
        };
        assert_eq!(mode, expected);
        if let Some(asked) = binding.memory.nodes() {
            assert_eq!(nodes(&value(memory, "nodeset")), asked);
        }
        let is_said = is_weighted(&binding) || binding.memory == MemoryPolicy::FirstTouch;
        assert_eq!(!form.lacks.is_empty(), is_said, "{form:?}");
        for element in ["cputune", "numatune"] {
            assert_eq!(text.matches(&format!("<{element}>")).count(), 1);
            assert_eq!(text.matches(&format!("</{element}>")).count(), 1);
        }
    }
}

/// The kernel has one set of weights: what several programs are to have beside each other only `nearfar
/// run` deals, each on its own CPUs.
#[test]
fn weights_of_several_programs_are_dealt_by_nearfar() {
    let machine = read_machine("joe0").unwrap().machine;
    let of = |memory: &str| {
        let each = ["cpus=0-6 mem=weighted:0=3,1=1".into(), format!("cpus=7-13 mem={memory}")];
        let each = each.map(|text: String| text.parse::<Binding>().unwrap());
        [Launcher::Numactl, Launcher::Openmp, Launcher::Slurm, Launcher::Docker]
            .map(|launcher| launcher_form(launcher, &each, &machine, None))
    };
    for form in of("weighted:1=3,2=1") {
        for (text, weights) in form.texts.iter().zip(["0=3,1=1", "1=3,2=1"]) {
            let run = format!("--placement weighted:{weights} -- CMD");
            assert!(text.contains("nearfar run") && text.contains(&run), "{text}");
        }
        let lacks = form.lacks.join(" ");
        assert!(lacks.contains("one set at a time") && !lacks.contains("/sys/kernel"), "{lacks}");
    }
    for form in of("weighted:0=3,1=1") {
        assert!(form.texts.iter().all(|text| text.contains("--weighted-interleave")), "{form:?}");
    }
}
