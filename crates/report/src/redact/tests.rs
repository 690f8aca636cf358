// SPDX-License-Identifier: MIT OR Apache-2.0
use linerate_model::output::{Host, Output, Test, Warning};
use linerate_model::setting::Setting;
use proptest::prelude::*;

use super::*;
use crate::{csv, html, json, junit, markdown, openmetrics, sheets};

/// A result that has these strings at many places.
fn full_of(names: &[String]) -> Subject {
    let text = names
        .iter()
        .map(|name| format!("to {name}, [{name}]:5201 {name}."))
        .collect::<String>();
    let host = |name: &String| Host {
        hostname: Some(name.clone()),
        ..Host::default()
    };
    Subject {
        label: text.clone(),
        output: Output {
            command: vec![
                "/home/me/linerate".to_owned(),
                "udp".to_owned(),
                text.clone(),
            ],
            run_dir: Some(text.clone()),
            hosts: names.iter().map(host).collect(),
            tests: vec![Test {
                invalid_reason: Some(text.clone()),
                warnings: vec![Warning {
                    text: text.clone(),
                    ..Warning::default()
                }],
                ..Test::default()
            }],
            ..Output::new("udp", "0.1.0")
        },
        settings: vec![Setting {
            values: [(text.clone(), text)].into(),
            ..Setting::default()
        }],
        ..Subject::default()
    }
}

fn everywhere(subjects: &[Subject]) -> String {
    let all = sheets::of(subjects).unwrap();
    let tables: String = all
        .iter()
        .map(|sheet| csv::render(sheet).into_string())
        .collect();
    let document = json::document(&subjects[0].output).unwrap();
    [
        html::render(subjects),
        markdown::render(subjects),
        junit::render(subjects),
        openmetrics::render(subjects).into_string(),
        tables,
        document.into_string(),
        subjects[0].label.clone(),
    ]
    .concat()
}

#[test]
fn the_same_thing_has_the_same_word() {
    let mut words = Words::default();
    words.host("board.lab.example");
    words.host("bench");
    for (text, safe) in [
        (
            "ping board.lab.example from bench",
            "ping host-1 from host-2",
        ),
        (
            "BOARD: 198.18.0.2/24 dev eth0 lladdr 02:00:5e:10:00:01 REACHABLE",
            "host-1: address-1/24 dev eth0 lladdr mac-1 REACHABLE",
        ),
        (
            "198.18.0.2:5201 and fe80::5eff:fe10:1%eth0.",
            "address-1:5201 and address-2%eth0.",
        ),
        (
            "198.18.0.2-198.18.0.9, at198.18.0.2and",
            "address-1-address-3, ataddress-1and",
        ),
        ("02-00-5E-10-00-01, FE80:0::5eff:fe10:1", "mac-1, address-2"),
        (
            "boards are abandoned, backboard too",
            "boards are abandoned, backboard too",
        ),
    ] {
        assert_eq!(words.replaced(text), safe);
    }
}

#[test]
fn text_without_names_stays() {
    let mut words = Words::default();
    for text in [
        "127.0.0.1 ::1 0.0.0.0 255.255.255.0 ff:ff:ff:ff:ff:ff",
        "Linux 6.12.0-rc1, 10.4 s, 2026-11-21T07:05:00Z, 0000:00:02.0, 1.2.3",
        "rx_fifo_errors +9871 (rtnl_link_stats64)",
        "quiet root=/dev/mmcblk0p2 net.ifnames=0 isolcpus=1-3 net.core.rmem_max 4096 131072 6291456",
    ] {
        assert_eq!(words.replaced(text), text);
    }
}

#[test]
fn a_module_has_no_serial_number() {
    let mut subject = full_of(&[]);
    let values = [("Vendor PN", "SR-10G"), ("Vendor SN", "Axbc0123")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    subject.settings[0].values = values.into();
    let redacted = redacted(vec![subject], &[], READ).unwrap();
    let values = &redacted[0].settings[0].values;
    assert_eq!(values["Vendor PN"], "SR-10G");
    assert_eq!(values["Vendor SN"], "serial-1");
}

#[test]
fn the_run_directory_is_left_out() {
    let mut subject = full_of(&["me-host".to_owned()]);
    subject
        .output
        .command
        .extend(["-o", "/srv/secret/Run", "/srv/secret/Run/runs/1"].map(str::to_owned));
    let subjects = redacted(vec![subject], &[], READ).unwrap();
    assert_eq!(subjects[0].output.run_dir, None);
    assert_eq!(
        subjects[0].output.command[3..],
        ["-o", "run-1", "run-1/runs/1"]
    );
    let text = everywhere(&subjects);
    assert!(
        !text.contains("/home/me") && !text.contains("secret"),
        "{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_of_the_originals_remains(
        names in proptest::collection::vec("q[a-z0-9]{3,8}(-[a-z0-9]{2,4})?(\\.[a-z]{5,7}q)?", 1..4),
        v4 in any::<[u8; 4]>(),
        v6 in any::<[u16; 8]>(),
        mac in any::<[u8; 6]>(),
    ) {
        let v4 = std::net::Ipv4Addr::from([v4[0] % 200 + 1, v4[1], v4[2], v4[3]]);
        let v6 = std::net::Ipv6Addr::from([v6[0] | 0x2000, v6[1], v6[2], v6[3], v6[4], v6[5], v6[6], v6[7]]);
        prop_assume!(!v4.is_loopback());
        let mac = [mac[0] | 2, mac[1] & 0xfe, mac[2], mac[3], mac[4], mac[5]].map(|byte| format!("{byte:02x}")).join(":");
        let mut strings = names.clone();
        strings.extend([v4.to_string(), v6.to_string(), mac]);
        let subjects = redacted(vec![full_of(&strings)], &names, READ).unwrap();
        let text = everywhere(&subjects).to_lowercase();
        for original in &strings {
            prop_assert!(!text.contains(original), "{original}");
        }
    }

    /// What no host of the record is called: it stands in a command line and in a log alone.
    #[test]
    fn a_free_text_has_no_names(
        name in "q[a-z]{3,6}[0-9]{0,2}(-[a-z0-9]{2,4})?",
        user in "q[a-z]{3,6}",
        v4 in proptest::array::uniform4(1_u8..=200),
        mac in proptest::array::uniform6(1_u8..=253),
        uuid in "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        serial in "[A-Z]{3}[0-9]{5,9}",
    ) {
        let v4 = std::net::Ipv4Addr::from([v4[0] % 100 + 1, v4[1], v4[2], v4[3]]).to_string();
        let bytes = |gap: &str| mac.map(|byte| format!("{byte:02x}")).join(gap);
        let [colons, dashes, bare, hex] = [":", "-", "", ",0x"].map(bytes);
        let command_line = format!(
            "console=ttymxc0 root=UUID={uuid} rw ip={v4}:{v4}::255.255.255.0:{name}:eth0:off BOOTIF=01-{dashes} \
             androidboot.serialno={serial} nfsroot={name}.q.lan:/srv fec.macaddr=0x{hex}"
        );
        let log = format!("{name} systemd[1]: Hostname set to <{name}>; enx{bare}: {serial}, {bare}, {uuid} {colons}");
        let mut subject = full_of(&["me-host".to_owned()]);
        subject.settings[0].values = [("cmdline".to_owned(), command_line), ("log".to_owned(), log.clone())].into();
        subject.output.settings = subject.settings.clone();
        subject.output.command = vec!["linerate".to_owned(), format!("ssh:{user}@{name}.q.lan"), format!("/home/{user}/x")];
        subject.output.tests[0].warnings[0].text = log;
        let text = everywhere(&redacted(vec![subject], &[], READ).unwrap()).to_lowercase();
        for original in [name, user, v4, colons, dashes, bare, hex, uuid, serial.to_lowercase()] {
            prop_assert!(!text.contains(&original), "{original}");
        }
        for kept in ["console=ttymxc0", ":eth0:off", "255.255.255.0"] {
            prop_assert!(text.contains(kept), "{kept}");
        }
    }
}

const READ: Readers = Readers {
    output: |text| serde_json::from_str(text),
    settings: |text| serde_json::from_str(text),
};
