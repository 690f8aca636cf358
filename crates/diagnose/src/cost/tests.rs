// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::fixtures::{run, tcp, udp};
use linerate_model::output::{
    Bound, Direction, EventsMissing, Host, IoMode, StreamCpu, ThreadEvents,
};
use linerate_model::record::Record;
use linerate_model::sample::{Phase, Sample};

/// Ticks of a machine with one processor: user, system, idle, softirq.
type Ticks = [u64; 4];

fn stat(host: Role, group: &str, phase: Phase, t_ms: u64, ticks: Ticks) -> Sample {
    let names = ["user", "system", "idle", "softirq"];
    let named = |cpu: &str| {
        let known = names.iter().zip(ticks);
        let known = known.map(|(name, ticks)| (format!("{cpu}.{name}"), ticks));
        let never = ["nice", "iowait", "irq", "steal"].map(|name| (format!("{cpu}.{name}"), 0));
        known.chain(never).collect::<Vec<_>>()
    };
    Sample {
        host,
        t_ns: t_ms * 1_000_000,
        source: "/proc/stat".to_owned(),
        group: Some(group.to_owned()),
        phase: Some(phase),
        counters: named("cpu").into_iter().chain(named("cpu0")).collect(),
        ..Sample::default()
    }
}

fn sampler(host: Role, group: &str, t_ms: u64, ns: u64) -> Sample {
    Sample {
        host,
        t_ns: t_ms * 1_000_000,
        source: "getrusage".to_owned(),
        group: Some(group.to_owned()),
        phase: Some(Phase::Load),
        counters: [("sampler_ns".to_owned(), ns)].into(),
        ..Sample::default()
    }
}

/// Two seconds at rest, of which a tenth is busy; then a second of load with 0.3 s idle, of which 0.1 s is background and
/// 10 ms are the sampler's: 590 ms.
fn machine(host: Role, group: &str) -> Vec<Sample> {
    vec![
        stat(host, group, Phase::Idle, 0, [0, 0, 0, 0]),
        stat(host, group, Phase::Idle, 2000, [0, 20, 180, 0]),
        stat(host, group, Phase::Load, 3000, [0, 30, 270, 0]),
        sampler(host, group, 3000, 5_000_000),
        stat(host, group, Phase::Load, 4000, [10, 80, 300, 10]),
        sampler(host, group, 4000, 15_000_000),
    ]
}

fn threads(user_ns: u64, system_ns: u64) -> Option<ThreadTime> {
    Some(ThreadTime {
        user_ns,
        system_ns,
        ..ThreadTime::default()
    })
}

fn test(id: &str, payload_bytes: u32) -> Test {
    let mut test = udp(id, 1_000_000, 0);
    test.payload_bytes = payload_bytes;
    test.af = 4;
    test.mode.tx = Some(IoMode::Mmsg);
    test.mode.rx = Some(IoMode::Mmsg);
    test.stream_cpu = StreamCpu {
        tx: threads(100_000_000, 400_000_000),
        rx: threads(0, 300_000_000),
    };
    test
}

fn costs(record: &Record) -> (Vec<Cost>, Vec<CostFit>) {
    of(&Evidence::of(record))
}

#[test]
fn a_machine_s_time_is_what_is_not_idle_without_its_background_and_the_sampler() {
    let mut record = run(vec![test("a", 1000)]);
    record.samples = machine(Role::Local, "a");
    let (costs, fits) = costs(&record);
    let [tx, rx] = &costs[..] else {
        panic!("{costs:?}");
    };
    assert_eq!((tx.host, tx.direction), (Role::Local, CostDirection::Tx));
    assert_eq!(tx.basis, CostBasis::Machine);
    let near = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-3, "{ours} {theirs}");
    near(tx.cpu_ns_per_packet, 590.0);
    near(tx.cpu_ns_per_kib, 590.0 * 1.024);
    // Ticks beyond the background: 10 in user mode, 40 in the kernel, 10 in softirqs.
    near(tx.user_ns, 590e6 / 6.0);
    near(tx.system_ns, 590e6 * 4.0 / 6.0);
    near(tx.softirq_ns.unwrap(), 590e6 / 6.0);
    near(tx.irq_ns.unwrap(), 0.0);
    near(tx.stream_ns_per_packet.unwrap(), 500.0);
    near(tx.resolution_ns.unwrap(), 15.0);
    near(tx.background_ratio.unwrap(), 0.1);
    let cpu = tx.processors[0];
    assert_eq!((tx.processors.len(), cpu.cpu), (1, 0));
    near(cpu.softirq_ratio, 1.0 / 6.0);
    // The far end reported no machine: its threads' time is known.
    assert_eq!((rx.host, rx.basis), (Role::Remote, CostBasis::Streams));
    near(rx.cpu_ns_per_packet, 300.0);
    assert_eq!(rx.machine_ns_per_packet, None);
    assert_eq!(tx.shared_ns_per_packet, None, "two machines");
    assert_eq!(fits, [], "one size");
}

#[test]
fn on_one_machine_each_end_has_the_time_of_its_threads() {
    let mut record = run(vec![test("a", 1000)]);
    record.samples = [Role::Local, Role::Remote]
        .into_iter()
        .flat_map(|host| machine(host, "a"))
        .collect();
    let boot = |host: &mut Host| host.boot_id = Some("one".to_owned());
    record.run.hosts.iter_mut().for_each(boot);
    let (costs, _) = costs(&record);
    assert_eq!(costs.len(), 2);
    for (cost, ns) in costs.iter().zip([500.0, 300.0]) {
        assert!(cost.shared_host && cost.basis == CostBasis::Streams);
        assert_eq!(cost.cpu_ns_per_packet, ns);
        assert!(
            cost.machine_ns_per_packet
                .is_some_and(|all| (all - 590.0).abs() < 1e-3)
        );
        assert!(
            cost.shared_ns_per_packet
                .is_some_and(|ns| (ns + 210.0).abs() < 1e-3),
            "the machine's without that of both ends: {cost:?}"
        );
    }
}

#[test]
fn what_a_hypervisor_took_in_the_test_is_a_share_of_all_time() {
    let mut record = run(vec![test("a", 1000)]);
    record.samples = machine(Role::Local, "a");
    // A tenth of the second under load; half of that before it.
    for (at, ticks) in [(2, 5), (4, 15)] {
        record.samples[at].counters.retain(|name, value| {
            *value += if name == "cpu.steal" { ticks } else { 0 };
            true
        });
    }
    let (costs, _) = costs(&record);
    assert_eq!(costs[0].stolen_ratio, Some(0.1));
    assert_eq!(costs[1].stolen_ratio, None, "the far end reported none");
}

#[test]
fn a_busy_machine_s_time_is_not_known_but_that_of_the_threads_is() {
    let mut record = run(vec![test("a", 1000)]);
    record.samples = machine(Role::Local, "a");
    record.samples[1] = stat(Role::Local, "a", Phase::Idle, 2000, [150, 20, 30, 0]);
    let (costs, _) = costs(&record);
    assert_eq!(costs[0].basis, CostBasis::Streams);
    assert_eq!(costs[0].background_ratio, Some(0.85));
    assert_eq!(costs[0].machine_ns_per_packet, None);
}

#[test]
fn a_stock_peer_reports_its_process_and_segments_are_counted_by_the_mss() {
    let mut test = tcp("t", 1e9);
    test.direction = Direction::Down;
    test.af = 4;
    test.mss_bytes = Some(500);
    test.received_bytes = Some(1_000_000);
    test.sent_bytes = Some(1_000_250);
    test.stream_cpu.tx = threads(0, 4_000_000);
    let (costs, _) = costs(&run(vec![test]));
    let [tx] = &costs[..] else {
        panic!("the receiver's time is not known: {costs:?}");
    };
    assert_eq!((tx.host, tx.basis), (Role::Remote, CostBasis::Process));
    assert_eq!((tx.packets, tx.payload_bytes), (2000, 500));
    assert_eq!(tx.cpu_ns_per_packet, 2000.0);
}

fn counted(cycles: u64, instructions: u64, cache_misses: u64) -> Option<ThreadTime> {
    Some(ThreadTime {
        events: Some(ThreadEvents {
            cycles,
            instructions,
            cache_misses,
        }),
        ..threads(1, 1)?
    })
}

fn uncounted(missing: EventsMissing) -> Option<ThreadTime> {
    Some(ThreadTime {
        events_missing: Some(missing),
        ..threads(1, 1)?
    })
}

/// A scripted source: no machine of the tests has such counters.
#[test]
fn hardware_events_are_counted_per_packet_or_have_a_reason() {
    let [mut one, mut other] = ["a", "b"].map(|id| test(id, 1000));
    one.stream_cpu.tx = counted(3_000_000_000, 6_000_000_000, 2_000_000);
    other.stream_cpu.tx = counted(5_000_000_000, 7_000_000_000, 7_000_000);
    one.stream_cpu.rx = uncounted(EventsMissing::NotAllowed);
    other.stream_cpu.rx = counted(1, 1, 1);
    let (rows, _) = costs(&run(vec![one, other]));
    let events = |cost: &Cost| {
        [
            cost.cycles_per_packet,
            cost.instructions_per_packet,
            cost.cache_misses_per_packet,
        ]
    };
    let [tx, rx] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!((tx.packets, tx.test_ids.len()), (2_000_000, 2));
    assert_eq!(events(tx), [Some(4000.0), Some(6500.0), Some(4.5)]);
    assert_eq!(tx.events_missing, None);
    assert_eq!(events(rx), [None; 3], "of one test of two they are unknown");
    assert_eq!(rx.events_missing, Some(EventsMissing::NotAllowed));
}

#[test]
fn tests_of_one_size_are_one_row_and_sizes_one_line() {
    let sizes = [64, 64, 512, 1472];
    let each = sizes.iter().enumerate().map(|(at, bytes)| {
        let mut test = test(&format!("t{at}"), *bytes);
        let ns = 900_000_000 + u64::from(*bytes) * 100_000;
        test.stream_cpu.tx = threads(ns / 10, ns - ns / 10);
        test
    });
    let mut unlimited = test("max", 1472);
    unlimited.requested_bits_per_second = None;
    let mut invalid = test("bad", 512);
    invalid.valid = false;
    let all = each.chain([unlimited, invalid]).collect();
    let (costs, fits) = costs(&run(all));
    let tx: Vec<_> = costs
        .iter()
        .filter(|cost| cost.direction == CostDirection::Tx)
        .collect();
    let rows: Vec<_> = tx
        .iter()
        .map(|cost| {
            (
                cost.payload_bytes,
                cost.test_ids.len(),
                cost.requested_pps.is_some(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (64, 2, true),
            (512, 1, true),
            (1472, 1, true),
            (1472, 1, false)
        ]
    );
    let fit = &fits[0];
    assert_eq!((fit.tests, fit.bound), (4, Bound::Packets));
    assert!((fit.ns_per_packet.value - 900.0).abs() < 1e-6, "{fit:?}");
    assert!((fit.ns_per_byte.value - 0.1).abs() < 1e-9, "{fit:?}");
    assert_eq!(fits.len(), 2, "the unlimited test has one size: no line");
}

/// The machine's times of three sizes are known, of three others only those of the threads, which lack softirqs.
#[test]
fn times_of_two_bases_are_two_lines() {
    let sizes = [64, 512, 1472];
    let groups = ["a", "b", "c", "d", "e", "f"];
    let each = groups.iter().zip(sizes.iter().cycle());
    let mut record = run(each.map(|(group, bytes)| test(group, *bytes)).collect());
    let known = groups.iter().take(3);
    record.samples = known
        .flat_map(|group| machine(Role::Local, group))
        .collect();
    let (costs, fits) = costs(&record);
    let tx: Vec<_> = fits
        .iter()
        .filter(|fit| fit.direction == CostDirection::Tx)
        .map(|fit| (fit.basis, fit.tests, fit.ns_per_packet.value.round()))
        .collect();
    assert_eq!(
        tx,
        [
            (CostBasis::Machine, 3, 590.0),
            (CostBasis::Streams, 3, 500.0)
        ]
    );
    assert_eq!(
        costs.len(),
        3 + 3 + 3,
        "receivers have one basis: {costs:?}"
    );
}
