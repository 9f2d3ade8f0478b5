//! `nearfar ps` in a guest: processes whose memory was bound away from where they run are listed, as
//! root all of them, else one's own; and what is printed to mend them mends them.

use nearfar_lab::Ended;
use nearfar_units::Bytes;
use serde_json::Value;

use crate::boot::NEW;
use crate::{in_guest, left, table};

/// Starts programs that hold memory and stand still, and looks at them. In a guest of four nodes with
/// two CPUs each.
const SCRIPT: &str = r#"
    # hold NAME MIB COMMAND..: starts it, and stops it when it has so much memory of its own: pages of
    # the files that it maps may be on any node.
    hold() {
        name=$1 pages=$(($2 * 256))
        shift 2
        ( exec "$@" ) >/dev/null 2>/out/ps.$name.said &
        pid=$!
        echo $pid >/out/ps.$name.pid
        while [ -e /proc/$pid ]; do
            read -r size resident shared rest </proc/$pid/statm
            [ $((resident - shared)) -lt $pages ] || break
            sleep 0.2
        done
        kill -STOP $pid
    }
    look() { nearfar ps --json >/out/ps.$1.json; echo $? >/out/ps.$1.status; }

    hold nobodys 96 as-nobody nearfar run --placement bind:3 --cpus 0-1 -- toucher -m 96 -h 900000
    hold near 64 nearfar run --placement local:2 -- toucher -m 64 -h 900000
    hold roots 64 nearfar run --placement bind:0 --cpus 4 -- toucher -m 64 -h 900000
    mkdir /sys/fs/cgroup/last
    echo 3 >/sys/fs/cgroup/last/cpuset.mems
    ( echo 0 >/sys/fs/cgroup/last/cgroup.procs
      hold bound 48 nearfar run --cpus 2-3 -- toucher -m 48 -h 900000 )
    bound=$(cat /out/ps.bound.pid)
    taskset -a -c -p 0-7 $bound >/dev/null
    look root
    nearfar ps >/out/ps.text
    as-nobody nearfar ps --json >/out/ps.nobody.json 2>/out/ps.nobody.said
    as-nobody nearfar ps >/out/ps.nobody.text
    as-nobody nearfar ps --pid $(cat /out/ps.roots.pid) >/out/ps.refused 2>&1
    echo $? >/out/ps.refused.status
    nearfar ps --json --pid $(cat /out/ps.near.pid) >/out/ps.near.json

    # What is printed to be typed now, typed by whoever it was printed to.
    now() { nearfar ps --json --pid $1 | sed 's/.*"now":"\([^"]*\)".*/\1/'; }
    now $(cat /out/ps.nobodys.pid) >/tmp/by-nobody
    as-nobody sh /tmp/by-nobody >/out/ps.mended 2>&1
    for name in roots bound; do now $(cat /out/ps.$name.pid) | sh >>/out/ps.mended 2>&1; done
    cat /tmp/by-nobody >>/out/ps.mended
    kill -CONT $bound
    sleep 3
    kill -STOP $bound
    look mended
    for name in nobodys near roots bound; do kill -KILL $(cat /out/ps.$name.pid); done
"#;

fn view(ended: &Ended, name: &str) -> Value {
    let text = left(ended, &format!("ps.{name}.json"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
}

fn pids(view: &Value) -> Vec<u64> {
    let processes = view["processes"].as_array().unwrap();
    processes.iter().map(|process| process["pid"].as_u64().unwrap()).collect()
}

#[test]
fn processes_far_from_their_memory_are_listed_and_mended() {
    let (_, ended) = in_guest("amd-2p", NEW, 384, &[], SCRIPT);
    let pid = |name: &str| -> u64 { left(&ended, &format!("ps.{name}.pid")).parse().unwrap() };
    let root = view(&ended, "root");
    let text = left(&ended, "ps.text");
    assert_eq!(left(&ended, "ps.root.status"), "0");
    assert_eq!(pids(&root), [pid("nobodys"), pid("roots"), pid("bound")], "{root:#}");
    assert_eq!(root["passed_over"]["not_permitted"], 0);
    for (place, (cpus, home, away, mib)) in
        [("0-1", 0, "3", 96), ("4", 2, "0", 64), ("2-3", 1, "3", 48)].into_iter().enumerate()
    {
        let process = &root["processes"][place];
        let far = process["far_bytes_by_node"][away].as_u64().unwrap();
        assert!((mib << 20..(mib + 8) << 20).contains(&far), "{process:#}");
        assert!(process["far_share"].as_f64().unwrap() > 0.9, "{process:#}");
        assert_eq!(process["running_on"], home.to_string(), "{process:#}");
        let last: nearfar_machine::CpuSet = process["cpus_last"].as_str().unwrap().parse().unwrap();
        assert!(last.is_subset(&cpus.parse().unwrap()), "{process:#}");
        let command = process["command"].as_array().unwrap();
        assert_eq!(command[0], "toucher");
        let all_far: u64 = process["far_bytes_by_node"]
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_u64)
            .sum();
        let next = process["mending"]["next_start"].as_str().unwrap();
        assert_eq!(next, format!("nearfar run --placement local:{home} -- COMMAND"));
        for said in [process["pid"].to_string(), Bytes(all_far).to_string(), next.into()] {
            assert!(text.contains(&said), "'{said}' is not in\n{text}");
        }
    }
    let of_node = root["nodes"][3]["far_bytes"].as_u64().unwrap();
    let far = |place: usize| root["processes"][place]["far_bytes_by_node"]["3"].as_u64();
    let of_both = far(0).unwrap() + far(2).unwrap();
    // Processes that hold too little to be listed have a page there too.
    assert!((of_both..of_both + (8 << 20)).contains(&of_node), "{of_node} and {of_both}");

    let nobody = view(&ended, "nobody");
    assert_eq!(pids(&nobody), [pid("nobodys")], "{nobody:#}");
    let not_permitted = nobody["passed_over"]["not_permitted"].as_u64().unwrap();
    assert!(not_permitted >= 3, "{nobody:#}");
    let said = format!("{not_permitted} processes of other users");
    let text = left(&ended, "ps.nobody.text");
    assert!(text.contains(&said) && text.contains("sudo nearfar ps"), "{text}");
    assert_eq!(left(&ended, "ps.refused.status"), "3");
    let refused = left(&ended, "ps.refused");
    assert!(refused.contains("belongs to another user"), "{refused}");

    let near = view(&ended, "near");
    assert_eq!(near["processes"][0]["is_far"], false, "{near:#}");
    assert!(near["processes"][0]["far_share"].as_f64().unwrap() < 0.1, "{near:#}");

    let mended = view(&ended, "mended");
    let said = left(&ended, "ps.mended");
    assert_eq!(pids(&mended), [0; 0], "{mended:#}\n{said}");
    table::say(&format!(
        "amd-2p    {:27} ps: three far processes found and mended, in all {:.1} s",
        ended.release,
        ended.elapsed.as_secs_f64()
    ));
}
