//! Chases that are led astray or do not walk.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};

use nearfar_kernels::Chase;
use nearfar_machine::{Binding, CpuSet};
use nearfar_record::{Actor, Chase as ChaseActor, Pages, ReasonCode};

use super::{WORKING_SET, assert_refused_by, next_call, own_place, run_actor};
use crate::executor::{Failure, Window};
use crate::native::chasing::RunChase;
use crate::native::instruments::Instruments;

/// Calls in which each of the 32768 nodes is visited, and the least accesses of a warm-up are
/// made: blocks are of 4096 accesses until then.
const WARM_UP_CALLS: u32 = 16;

fn run(instruments: Instruments) -> Result<Vec<Window>, Failure> {
    let (cpu, memory) = own_place();
    let chase = ChaseActor {
        binding: Binding { cpus: CpuSet::single(cpu), memory },
        thread_cpu: cpu,
        working_set_bytes: WORKING_SET,
        llc_multiple: None,
        group_bytes: 1 << 20,
        pages: Pages::Small,
    };
    run_actor(Actor::Chase(chase), instruments)
}

fn by_chase(run_chase: RunChase) -> Instruments {
    Instruments { run_chase, ..Instruments::default() }
}

#[test]
fn a_chase_that_leaves_out_accesses_is_caught() {
    fn half(chase: &mut Chase<'_>, accesses: u64) {
        chase.run(accesses / 2);
    }
    fn idle(chase: &mut Chase<'_>, accesses: u64) {
        if next_call() < WARM_UP_CALLS {
            chase.run(accesses);
        }
    }
    for lie in [half, idle] {
        assert_refused_by(run, by_chase(lie), ReasonCode::WrongData);
    }
}

/// Somebody exchanges the pointers of two nodes: the cycle falls into two.
#[test]
fn a_chase_that_is_led_astray_is_caught() {
    fn astray(chase: &mut Chase<'_>, accesses: u64) {
        let call = next_call();
        if call == WARM_UP_CALLS {
            let here = chase.accesses();
            let places = [here + 5, here + 500].map(|accesses| {
                let node = chase.cycle().node_at(accesses);
                (chase.address() + node * Chase::NODE_BYTES) as u64
            });
            let mut memory =
                fs::OpenOptions::new().read(true).write(true).open("/proc/self/mem").unwrap();
            let pointers = places.map(|place| {
                let mut pointer = [0; 8];
                memory.seek(SeekFrom::Start(place)).unwrap();
                memory.read_exact(&mut pointer).unwrap();
                pointer
            });
            for (place, pointer) in places.iter().zip(pointers.iter().rev()) {
                memory.seek(SeekFrom::Start(*place)).unwrap();
                memory.write_all(pointer).unwrap();
            }
        }
        chase.run(accesses);
    }
    assert_refused_by(run, by_chase(astray), ReasonCode::WrongData);
}
