// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole results against committed text. `LINERATE_BLESS=1 cargo test -p linerate-report` writes
//! the files anew; read the difference before committing it.

pub(crate) mod fixture;

use std::path::Path;

use linerate_model::output::{ErrorReport, Flow, Output, Protocol};
use proptest::prelude::*;

use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "the expected texts are rewritten by this test when it is asked to"
)]
fn assert_matches_file(name: &str, text: &str) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/term/tests/expected/{name}.txt"));
    if std::env::var_os("LINERATE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == expected,
        "{} differs; now it is:\n{text}",
        path.display()
    );
}

fn ascii(width: usize) -> Style {
    Style {
        width,
        ..Style::default()
    }
}

#[test]
fn results_read_as_committed() {
    for (name, output) in fixture::all() {
        assert_matches_file(name, &render(&output, &Style::default()));
    }
}

/// The answers of all commands, on a small, an ordinary and a wide terminal.
#[test]
fn answers_read_as_committed() {
    for (detail, word) in [(Detail::Answer, "answer"), (Detail::Line, "line")] {
        for width in [60, 80, 120] {
            for (name, output) in fixture::all() {
                let text = render(
                    &output,
                    &Style {
                        detail,
                        ..ascii(width)
                    },
                );
                if width > 60 && detail == Detail::Answer
                    || width == 80
                    || ["check", "sweep", "udp"].contains(&name)
                {
                    assert_matches_file(&format!("{word}-{width}-{name}"), &text);
                }
            }
        }
    }
}

/// As iperf3's `-f`: the lines at the end have the unit of those while measuring; each stream is shown where everything is.
#[test]
fn streams_have_the_unit_that_the_user_chose() {
    let (_, mut output) = fixture::all()
        .into_iter()
        .find(|(name, _)| *name == "tcp")
        .unwrap();
    let flow = output.tests[0].flows[0].clone();
    output.tests[0].flows = (1..=4).map(|id| Flow { id, ..flow.clone() }).collect();
    for (detail, shown) in [(Detail::Line, 0), (Detail::Answer, 0), (Detail::Full, 8)] {
        for (unit, rate) in [
            ("k", "941400 kbit/s"),
            ("M", "112.2 MiB/s"),
            ("g", "0.941 Gbit/s"),
        ] {
            let style = Style {
                detail,
                rates: unit.parse().ok(),
                ..Style::default()
            };
            let text = render(&output, &style);
            assert!(text.contains(rate), "{unit}: {text}");
            let streams = text
                .lines()
                .filter(|line| line.contains("]  up") && !line.contains("[SUM]"));
            assert_eq!(streams.count(), shown, "{detail:?}: {text}");
        }
    }
}

/// 35 lines for a check with a screen of its own; one screen of 24 for a test.
#[test]
fn an_answer_fits_a_screen() {
    for (name, output) in fixture::all() {
        let most = match output.kind.as_str() {
            "check" => 35,
            "tcp" | "udp" => 24,
            _ => continue,
        };
        let style = Style {
            detail: Detail::Answer,
            ..Style::default()
        };
        let text = render(&output, &style);
        assert!(text.lines().count() <= most, "{name}: {text}");
    }
}

#[test]
fn a_wide_terminal_shows_a_row_in_one_line() {
    assert_matches_file("sweep-wide", &render(&fixture::sweep(), &ascii(160)));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let details = [Detail::Line, Detail::Answer, Detail::Causes, Detail::Full];
    let styles = [60, 72, 80, 100, 132].map(|width| {
        details.map(|detail| Style {
            detail,
            ..ascii(width)
        })
    });
    for style in styles.into_iter().flatten() {
        let width = style.width;
        for (name, output) in fixture::all() {
            for line in render(&output, &style)
                .lines()
                .filter(|line| !is_command(line))
            {
                assert!(line.is_ascii(), "{name}: {line}");
                assert!(
                    line.len() <= width,
                    "{name}: {} columns of {width}: {line}",
                    line.len()
                );
                assert_eq!(line.trim_end(), line, "{name}: blanks at the end");
            }
        }
    }
}

/// A command is not broken.
fn is_command(line: &str) -> bool {
    let words = [
        "details  linerate",
        "try ",
        "undo ",
        "stored in",
        "command:",
    ];
    let start = line.trim_start();
    start.starts_with('/') || words.iter().any(|word| start.starts_with(word))
}

#[test]
fn a_loss_of_nothing_always_has_its_count() {
    let text = render(&fixture::udp(), &Style::default());
    let row = text.lines().find(|line| line.contains("  0/")).unwrap();
    assert!(row.contains("0/345303 "), "{row}");
}

/// A loss outside a search is not called one of a search.
#[test]
fn a_search_is_named_only_where_there_is_one() {
    let lost = |segments: u64| {
        let mut output = fixture::explained();
        output.findings.clear();
        let test = &mut output.tests[0];
        (test.protocol, test.lost_packets) = (Protocol::Tcp, None);
        (test.mss_bytes, test.offered_bits_per_second) = (Some(1448), Some(1e9));
        test.duration_s = 2.0;
        output.ledger[0].lost_packets = segments;
        output.ledger[0].unit = "segments".to_owned();
        render(&output, &Style::default())
    };
    let few = lost(33);
    assert!(few.contains("nothing to fix"), "{few}");
    assert!(!few.contains("search"), "{few}");
    let many = lost(3300);
    assert!(many.contains("no rule explains 3300 lost"), "{many}");
}

/// A balance that leaves room for none and for all of the losses is no line of its own.
#[test]
fn a_stage_that_may_have_lost_all_or_nothing_says_nothing() {
    let mut output = fixture::explained();
    let entry = &mut output.ledger[0];
    let stage = &mut entry.stages[0];
    (stage.stage, stage.kind) = ("wire".to_owned(), "balance".to_owned());
    (stage.lo, stage.hi) = (0, 4601);
    (entry.unattributed_lo, entry.unattributed_hi) = (0, 4601);
    let text = render(&output, &ascii(200));
    assert!(!text.contains("0 ... 4601"), "{text}");
    assert!(
        text.contains("4601 unattributed; at most 4601 at wire"),
        "{text}"
    );
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (_, output) in fixture::all() {
        let plain = render(&output, &Style::default());
        let style = Style {
            color: true,
            ..Style::default()
        };
        let mut stripped = render(&output, &style).into_string();
        for code in ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"] {
            stripped = stripped.replace(code, "");
        }
        assert_eq!(plain, stripped);
    }
}

#[test]
fn a_peer_cannot_write_to_the_terminal() {
    let mut output = fixture::udp();
    output.hosts[1].hostname = Some("evil\x1b]0;owned\x07\nfake".to_owned());
    for ascii in [true, false] {
        let style = Style {
            ascii,
            ..Style::default()
        };
        let text = render(&output, &style);
        assert!(!text.contains('\x1b') && !text.contains('\x07'));
        assert!(text.contains("evil?]0;owned??fake"));
    }
}

#[test]
fn an_error_is_what_why_and_what_to_try() {
    let report = ErrorReport {
        what: "cannot connect to 198.18.0.2:5201".to_owned(),
        why: "connection refused".to_owned(),
        try_: "start `linerate serve` there".to_owned(),
    };
    assert_eq!(
        error(&report, &Style::default()),
        "error: cannot connect to 198.18.0.2:5201\n  why: connection refused\n  try: start `linerate serve` there\n"
    );
}

#[test]
fn an_empty_result_renders() {
    assert_eq!(
        render(&Output::new("udp", "0.1.0"), &Style::default())
            .lines()
            .count(),
        1
    );
}

proptest! {
    #[test]
    fn sentences_fit_and_lose_no_word(sentence in "[a-z]{1,12}( [a-z…µ]{1,12}){0,30}", width in 30_usize..100) {
        let mut text = String::new();
        wrap(&mut text, [4, 6], &printable(&sentence, &ascii(width)), Tone::Plain, &ascii(width));
        // 12 times three dots is the longest word.
        prop_assert!(text.lines().all(|line| line.len() <= width.max(6 + 36)));
        let words: Vec<_> = text.split_whitespace().collect();
        prop_assert_eq!(words.len(), sentence.split(' ').count());
    }

    #[test]
    fn tables_fit_whatever_the_numbers(
        rates in proptest::collection::vec(proptest::option::of(0.0..4e11_f64), 1..12),
        counts in proptest::collection::vec(proptest::option::of(any::<u32>()), 12),
    ) {
        let mut output = fixture::sweep();
        let first = output.tests[0].clone();
        output.tests = rates
            .iter()
            .zip(&counts)
            .map(|(rate, count)| linerate_model::output::Test {
                offered_bits_per_second: *rate,
                delivered_bits_per_second: *rate,
                lost_packets: count.map(u64::from),
                sent_packets: count.map(u64::from),
                jitter_ns: *rate,
                ..first.clone()
            })
            .collect();
        for line in render(&output, &Style::default()).lines() {
            prop_assert!(line.len() <= 80, "{}", line);
        }
    }
}
