// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::output::{Cpu, Role};

use crate::fixtures::{Fixture, pasted, run, tcp, udp};
use linerate_model::record::Record;

const BOARD: Role = Role::Remote;

fn overrun(pause: &[(&str, &str)]) -> Record {
    run(vec![udp("t1", 68_965, 4601)])
        .set(BOARD, "ethtool -i", &[("driver", "fec")])
        .set(BOARD, "ethtool", pause)
        .counted(
            "t1",
            BOARD,
            "rtnl_link_stats64",
            &[("rx_packets", 64_364), ("rx_fifo_errors", 4598)],
        )
        .counted(
            "t1",
            BOARD,
            "ethtool -S",
            &[("IEEE_rx_macerr", 4598), ("IEEE_tx_fdxfc", 0)],
        )
}

fn number(record: &Record, name: &str) -> Option<f64> {
    let facts = record.explained().facts;
    facts
        .into_iter()
        .find(|fact| fact.name == name)?
        .value
        .number()
}

#[test]
fn an_overflow_is_reported_with_the_reason_why_the_partner_was_not_paused() {
    let nobody = overrun(&[("Advertised pause frame use", "No")]);
    assert_eq!(nobody.findings()[..2], ["F01", "F02"]);
    let partner = overrun(&[
        ("Advertised pause frame use", "Symmetric"),
        ("Link partner advertised pause frame use", "No"),
    ]);
    let explained = partner.explained();
    assert_eq!(explained.findings[0].explains.lost_packets, Some(4598));
    assert!(
        explained.findings[1].title.contains("partner"),
        "{}",
        explained.findings[1].title
    );
    assert_eq!(overrun(&[]).findings()[0], "F10b");
}

/// A FIFO never loses every frame: the card refuses them, and 8139cp counts that as missed, too.
#[test]
fn where_nothing_arrived_no_fifo_was_full() {
    let fired = |lost| {
        let test = udp("u1", 469, lost);
        let counted = [("rx_missed_errors", lost), ("rx_packets", 469 - lost + 20)];
        let record = run(vec![test]).counted("u1", Role::Remote, "rtnl_link_stats64", &counted);
        record
            .findings_with("u1", "rx-mac", lost)
            .contains(&"F10".to_owned())
    };
    assert!(fired(300));
    assert!(!fired(469));
}

/// No change is proposed that the driver refuses: its settings were read, and it has none of flow control (8139cp).
#[test]
fn flow_control_that_a_driver_does_not_set_is_not_proposed() {
    let record = overrun(&[]);
    let change = |record: &Record| record.explained().findings[0].change.is_some();
    assert!(!change(&record));
    let mut text = record;
    text.pasted = true;
    assert_eq!(text.findings()[0], "F10");
    assert!(change(&text));
}

/// 8139cp: the PHY offers pause on its own, and the driver does none.
#[test]
fn pause_that_the_driver_does_not_support_is_not_in_force() {
    let offered = |supported| {
        overrun(&[
            ("Supported pause frame use", supported),
            ("Advertised pause frame use", "Symmetric"),
            ("Link partner advertised pause frame use", "Symmetric"),
        ])
    };
    assert_eq!(offered("No").findings()[0], "F10b");
    let symmetric = offered("Symmetric").findings();
    assert!(!symmetric.iter().any(|id| id.starts_with("F10")));
}

#[test]
fn pause_that_comes_too_late_is_another_cause() {
    let record = overrun(&[
        ("Advertised pause frame use", "Symmetric"),
        ("Link partner advertised pause frame use", "Symmetric"),
    ])
    .counted("t1", BOARD, "ethtool -I -a", &[("tx_pause_frames", 6864)]);
    assert_eq!(record.findings()[0], "F03");
}

#[test]
fn the_way_to_know_whether_pause_is_in_force() {
    let said = |record: Record| {
        let facts = record.explained().facts;
        facts
            .into_iter()
            .find(|fact| fact.name == "pause_tx")
            .map(|fact| fact.value.to_string())
    };
    let base = || pasted().read(BOARD, "rtnl_link_stats64", &[("rx_packets", 1)]);
    let on_off = [("TX", "on"), ("RX", "on")];
    assert_eq!(said(base()), None);
    assert_eq!(
        said(base().set(BOARD, "ethtool -a", &on_off)).as_deref(),
        Some("on")
    );
    let negotiated = base().set(BOARD, "ethtool -a", &on_off).set(
        BOARD,
        "ethtool -a",
        &[("TX negotiated", "off"), ("RX negotiated", "off")],
    );
    assert_eq!(said(negotiated).as_deref(), Some("off"));
    for (rcr, expected) in [("0x05ee0244", "off"), ("0x05ee0264", "on")] {
        let register = base().set(BOARD, "registers", &[("ENET_RCR", rcr)]);
        assert_eq!(said(register).as_deref(), Some(expected));
    }
}

/// e1000e negotiates pause and lists none of it among its link modes.
#[test]
fn a_driver_that_lists_no_pause_is_judged_by_what_is_on() {
    let said = |record: Record| {
        let facts = record.explained().facts;
        ["pause_tx", "pause_missing_because"].map(|name| {
            let mut named = facts.iter().filter(|fact| fact.name == name);
            named.next().map(|fact| fact.value.to_string())
        })
    };
    let card = |driver, tx| {
        let on_off = [("Autonegotiate", "on"), ("TX", tx), ("RX", tx)];
        let record = pasted().set(BOARD, "ethtool -i", &[("driver", driver)]);
        let record = record.set(BOARD, "ethtool", &[("Advertised pause frame use", "No")]);
        said(record.set(BOARD, "ethtool -a", &on_off))
    };
    let some = |word: &str| Some(word.to_owned());
    assert_eq!(card("e1000e", "on"), [some("on"), None]);
    assert_eq!(card("e1000e", "off"), [some("off"), None]);
    assert_eq!(card("fec", "on"), [some("off"), some("this-end")]);
    let modes = [
        ("Supports auto-negotiation", "No"),
        ("Advertised pause frame use", "No"),
    ];
    let virtual_card = pasted().set(BOARD, "ethtool", &modes);
    assert_eq!(said(virtual_card), [None, None]);
}

#[test]
fn a_pasted_ifconfig_is_enough_for_an_overflow() {
    let board = |overruns| {
        pasted().read(
            Role::Local,
            "/proc/net/dev",
            &[
                ("rx_packets", 7_382_672),
                ("rx_errs", overruns),
                ("rx_fifo", overruns),
                ("rx_frame", overruns),
            ],
        )
    };
    assert_eq!(board(71_828).findings(), ["F10"]);
    let ratio = number(&board(71_828), "rx_mac_drop_ratio").unwrap();
    assert!((ratio - 0.009_635_5).abs() < 1e-6, "{ratio}");
    assert_eq!(board(2).findings(), [""; 0]);
}

#[test]
fn a_count_since_boot_is_one_count_for_all_tests() {
    let mut record = pasted().read(
        Role::Local,
        "/proc/net/dev",
        &[("rx_packets", 7_382_672), ("rx_fifo", 71_828)],
    );
    for id in ["a", "b", "c"] {
        let mut test = tcp(id, 2e8);
        (test.local_interface, test.remote_interface) = (None, None);
        test.direction = linerate_model::output::Direction::Down;
        record.run.tests.push(test);
    }
    let findings = record.explained().findings;
    let found = findings
        .iter()
        .find(|finding| finding.rule == "F10")
        .unwrap();
    assert_eq!(
        (found.explains.lost_packets, found.test_ids.len()),
        (Some(71_828), 3)
    );
}

#[test]
fn a_partner_that_stops_us() {
    let mut test = tcp("t1", 4e8);
    test.duration_s = 10.0;
    let stopped = |frames| {
        run(vec![test.clone()])
            .counted(
                "t1",
                Role::Local,
                "ethtool -I -a",
                &[("rx_pause_frames", frames)],
            )
            .findings()
    };
    assert!(stopped(5500).contains(&"F05".to_owned()));
    assert!(!stopped(2).contains(&"F05".to_owned()));
}

#[test]
fn a_chip_at_its_limit_is_named() {
    let sweep = |offered: &[(f64, f64)]| {
        let test = |(index, (asked, offered)): (usize, &(f64, f64))| {
            let mut test = udp(&format!("t{index}"), 78_000, 10);
            (test.requested_bits_per_second, test.offered_bits_per_second) =
                (Some(*asked), Some(*offered));
            test.delivered_bits_per_second = Some(*offered);
            test
        };
        run(offered.iter().enumerate().map(test).collect()).set(
            Role::Local,
            "machine",
            &[("soc_id", "i.MX6Q")],
        )
    };
    let flat = sweep(&[(4e8, 4e8), (5e8, 4.6e8), (7e8, 4.58e8), (1e9, 4.53e8)]);
    assert!(flat.findings().contains(&"F07".to_owned()));
    assert_eq!(number(&flat, "sender_plateau_bits_per_second"), Some(4.6e8));
    for later in ["i.MX6SX", "i.MX6ULL"] {
        let mut other = flat.clone();
        other.run.settings[0].values = [("soc_id".to_owned(), later.to_owned())].into();
        assert!(!other.findings().contains(&"F07".to_owned()), "{later}");
    }
    let mut full = flat;
    full.run.tests.iter_mut().for_each(|test| {
        test.cpu.local = Some(Cpu {
            system: 0.99,
            busiest_cpu: 0.99,
            ..Cpu::default()
        });
    });
    let found = full.findings();
    assert!(
        !found.contains(&"F07".to_owned()),
        "a processor is the limit: {found:?}"
    );
    let growing = sweep(&[(4e8, 4e8), (4.5e8, 4.5e8)]);
    assert!(!growing.findings().contains(&"F07".to_owned()));
}
