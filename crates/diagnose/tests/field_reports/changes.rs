// SPDX-License-Identifier: MIT OR Apache-2.0
//! The findings follow the numbers: a table of what is done to a report, and what has to come and go with it. What mail
//! programs do to a text changes nothing.

use std::collections::BTreeSet;

use crate::causes::{
    ANDROID, IMX6, IMX6_PAUSE, MPC8240, REPORTS, SOLARIS, TEN64, asks, causes, findings, fired,
    known, lost_by,
};

type Change = fn(&str) -> String;

/// What is done, to which text, which cause was there before and is not any more, and which one comes for it.
struct Case {
    what: &'static str,
    text: &'static str,
    change: Change,
    gone: Option<&'static str>,
    come: Option<&'static str>,
}

const CASES: &[Case] = &[
    Case {
        what: "no overruns",
        text: IMX6,
        change: |text| text.replace("782502", "0"),
        gone: Some("receive-fifo-overrun-without-pause"),
        come: None,
    },
    Case {
        what: "a handful of overruns in millions",
        text: IMX6,
        change: |text| text.replace("782502", "12"),
        gone: Some("receive-fifo-overrun-without-pause"),
        come: None,
    },
    Case {
        what: "pause is agreed",
        text: IMX6,
        change: |text| {
            text.replace("pause frame use: No", "pause frame use: Symmetric")
                .replace("0x05ee0244", "0x05ee0264")
        },
        gone: Some("flow-control-not-agreed"),
        come: None,
    },
    Case {
        what: "the lines of ethtool are cut",
        text: IMX6,
        change: |text| {
            without(
                text,
                &[
                    "pause frame use",
                    "ENET_RCR",
                    "Settings for",
                    "Auto-negotiation",
                ],
            )
        },
        gone: Some("receive-fifo-overrun-without-pause"),
        come: Some("receive-fifo-overrun"),
    },
    Case {
        what: "WAIT is off",
        text: IMX6,
        change: |text| text.replace("console=ttymxc1", "enable_wait_mode=off console=ttymxc1"),
        gone: Some("wait-mode-holds-up-reception"),
        come: None,
    },
    Case {
        what: "TCP comes in as fast as it goes out",
        text: IMX6,
        change: |text| {
            text.replace("8.47 Mbits", "426 Mbits")
                .replace("8.72 Mbits", "427 Mbits")
        },
        gone: Some("wait-mode-holds-up-reception"),
        come: None,
    },
    Case {
        what: "the same in another unit: slow stays slow",
        text: IMX6,
        change: |text| {
            text.replace("8.47 Mbits", "8470 Kbits")
                .replace("8.72 Mbits", "8720 Kbits")
        },
        gone: None,
        come: Some("wait-mode-holds-up-reception"),
    },
    Case {
        what: "and at bytes a second it is eight times as much",
        text: IMX6,
        change: |text| {
            text.replace("8.47 Mbits/sec", "53.2 MBytes/sec")
                .replace("8.72 Mbits/sec", "53.4 MBytes/sec")
        },
        gone: Some("wait-mode-holds-up-reception"),
        come: None,
    },
    Case {
        what: "reception breaks down at the highest rate",
        text: IMX6,
        change: |text| text.replace("71.2 MBytes   311 Mbits/sec", "0.09 MBytes  3.18 Mbits/sec"),
        gone: None,
        come: Some("receive-livelock"),
    },
    Case {
        what: "the losses follow the rate",
        text: IMX6_PAUSE,
        change: |text| text.replace("4751/", "51/").replace("4687/", "9687/"),
        gone: Some("lost-at-the-start"),
        come: None,
    },
    Case {
        what: "half as many packets at half the size",
        text: SOLARIS,
        change: |text| {
            text.replace("17.4 Mbps", "8.7 Mbps")
                .replace("14.8 Mbps", "7.4 Mbps")
        },
        gone: Some("cost-of-a-packet-fills-a-processor"),
        come: None,
    },
    Case {
        what: "packet rates that fall with the size",
        text: MPC8240,
        change: |text| {
            let halved = text.replace("128           9700    11.5", "128           4850    5.7");
            let less = halved.replace("320           8800    24", "320           1940    5.2");
            let fast = less.replace("320           19200   52", "320           4200    11.4");
            fast.replace("900           13587   100", "900           1493    11.0")
        },
        gone: Some("limited-by-packets-not-bits"),
        come: None,
    },
    Case {
        what: "portals that all take packets",
        text: TEN64,
        change: |text| {
            let second = text.replace("125:          0          0", "125:          0     961301");
            second.replace(
                "126:          0          0          0",
                "126:          0          0     348047",
            )
        },
        gone: Some("one-portal-for-all-ports"),
        come: None,
    },
    Case {
        what: "even flows",
        text: TEN64,
        change: |text| {
            let bridge = text.replace("1.87 2.69 1.75 2.73", "2.26 2.26 2.26 2.26");
            let routed = bridge.replace("2.17 2.07 2.07 1.46 1.37", "1.86 1.86 1.86 1.86 1.86");
            routed.replace("2.62 1.73 1.69 1.76 1.69", "1.9 1.9 1.9 1.9 1.89")
        },
        gone: Some("flows-share-a-queue"),
        come: None,
    },
    Case {
        what: "routed as fast as bridged",
        text: TEN64,
        change: |text| {
            let one = text
                .replace("1 2.91 2.91", "1 3.08 3.08")
                .replace("2 2.81 2.6 5.41", "2 3 2.93 5.93");
            one.replace("2.33 2.36 1.97 2.39 8.3", "2.33 2.36 1.97 2.39 9.04")
        },
        gone: Some("routing-costs-more-than-bridging"),
        come: None,
    },
    Case {
        what: "a board with memory to spare and no overruns",
        text: ANDROID,
        change: |text| text.replace("71828", "0"),
        gone: Some("receive-fifo-overrun"),
        come: None,
    },
];

fn without(text: &str, words: &[&str]) -> String {
    let kept = text
        .lines()
        .filter(|line| !words.iter().any(|word| line.contains(word)));
    kept.map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_is_named_comes_and_goes_with_the_numbers() {
    for case in CASES {
        let changed = (case.change)(case.text);
        assert_ne!(changed, case.text, "{}: nothing was changed", case.what);
        let (before, after) = (known(case.text), known(&changed));
        if let Some(gone) = case.gone {
            assert!(
                before.contains(gone) && !after.contains(gone),
                "{}: {gone} in {after:?}",
                case.what
            );
        }
        if let Some(come) = case.come {
            assert!(
                after.contains(come),
                "{}: no {come} in {after:?}",
                case.what
            );
        }
    }
}

/// What a cause accounts for is what the text counts, whatever it is.
#[test]
fn what_is_explained_scales_with_the_count() {
    for count in [391_251, 99_999, 5_000] {
        let changed = IMX6.replace("782502", &count.to_string());
        assert_eq!(
            lost_by(&changed, "receive-fifo-overrun-without-pause"),
            Some(count)
        );
        let changed = ANDROID.replace("71828", &count.to_string());
        assert_eq!(lost_by(&changed, "receive-fifo-overrun"), Some(count));
    }
}

/// A line that is missing turns a finding into a question, with the command that answers it.
#[test]
fn a_missing_line_is_asked_for() {
    let cut = without(
        IMX6,
        &[
            "pause frame use",
            "ENET_RCR",
            "Settings for",
            "Auto-negotiation",
        ],
    );
    let asked = asks(&cut, "F01");
    assert!(
        asks(IMX6, "F01").is_empty() && asked.contains(&"ethtool -a eth0".to_owned()),
        "{asked:?}"
    );
}

type Named = (&'static str, Change);

/// What is put around and into a text on its way.
const WAYS: &[Named] = &[
    ("quoted", |text| {
        text.lines().map(|line| format!("> {line}\n")).collect()
    }),
    ("quoted printable", |text| {
        let coded = text.replace('=', "=3D");
        coded.lines().map(|line| format!("{line}=20\n")).collect()
    }),
    ("CRLF", |text| text.replace('\n', "\r\n")),
    ("HTML in numbers", |text| {
        text.replace("782502", "78<b>25</b>02")
            .replace("71828", "7<i>1828</i>")
    }),
    ("BBCode in numbers", |text| {
        text.replace("782502", "[b]782502[/b]")
            .replace("71828", "[color=red]71828[/color]")
    }),
    ("bold numbers", |text| {
        text.replace("782502", "**782502**")
            .replace("71828", "**71828**")
    }),
    ("in a block of code", |text| format!("```\n{text}\n```\n")),
    ("hard blanks", |text| text.replace(' ', "\u{a0}")),
    ("trailing blanks", |text| {
        text.lines().map(|line| format!("{line}   \n")).collect()
    }),
    ("a signature", |text| format!("{text}\n-- \nRegards\n")),
    ("a greeting", |text| format!("Hi all,\n\n{text}")),
];

#[test]
fn the_way_of_a_text_changes_nothing() {
    for text in REPORTS {
        let expected = fired(text);
        for (way, change) in WAYS {
            let changed = fired(&change(text));
            assert_eq!(
                changed,
                expected,
                "{way}: {}",
                text.lines().next().unwrap_or_default()
            );
        }
    }
}

/// The header of ifconfig in other languages, and as newer ones print it.
#[test]
fn the_language_of_a_counter_does_not_matter() {
    let english = "RX packets:7382672 errors:71828 dropped:789 overruns:71828 frame:71828";
    for other in [
        "Paquetes RX:7382672 errores:71828 perdidos:789 overruns:71828 frame:71828",
        "RX-Pakete:7382672 Fehler:71828 Verloren:789 Überläufe:71828 Fenster:71828",
    ] {
        let changed = ANDROID.replace(english, other);
        assert_ne!(changed, ANDROID);
        assert_eq!(
            lost_by(&changed, "receive-fifo-overrun"),
            Some(71_828),
            "{other}"
        );
    }
}

/// The order of two hosts in one text, and what stands between them.
#[test]
fn two_reports_in_one_text_keep_their_own_findings() {
    let counted = |text: &str| -> BTreeSet<(String, u64)> {
        let found = findings(text).into_iter();
        found
            .filter_map(|finding| Some((finding.cause, finding.explains.lost_packets?)))
            .collect()
    };
    let apart: BTreeSet<_> = counted(IMX6).union(&counted(ANDROID)).cloned().collect();
    for between in ["\n\n----------\n\n", "\n\n", "\n\nAnother report:\n\n"] {
        assert_eq!(counted(&format!("{IMX6}{between}{ANDROID}")), apart);
        assert_eq!(counted(&format!("{ANDROID}{between}{IMX6}")), apart);
    }
}

/// A rate belongs to the host at whose prompt it stands: one whose address nobody sent to is no partner of another's test.
#[test]
fn a_rate_belongs_to_who_spoke() {
    for text in [
        format!("{IMX6}\n\n{ANDROID}"),
        format!("{ANDROID}\n\n{IMX6}"),
    ] {
        let causes = causes(&text);
        assert!(
            causes.contains("wait-mode-holds-up-reception"),
            "{causes:?}"
        );
        let rate = findings(&text)
            .into_iter()
            .find(|finding| finding.rule == "S19")
            .unwrap();
        assert_eq!(
            rate.test_ids.len(),
            1,
            "one rate is the telephone's: {:?}",
            rate.test_ids
        );
    }
}
