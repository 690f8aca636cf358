// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which measurement decides about a change: the test that the finding is about, once more.

use linerate_model::output::{Direction, Finding, Output, Protocol, Test};

use crate::cli::ab::towards;

/// A measuring command, and the figure that decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Measurement {
    /// `tcp 192.0.2.7 -R -t 2`.
    pub(super) words: Vec<String>,
    /// Of `ab --metric`; nothing for the first figure.
    pub(super) metric: Option<String>,
}

impl Measurement {
    /// The measurement of the command line, with HOST and how it is reached.
    pub(super) fn given(words: &[String], server: &[String]) -> Self {
        let (host, flags) = server.split_at(server.len().min(1));
        let named = towards(words, &host.concat());
        let (command, rest) = named.split_at(named.len().min(1));
        Self {
            words: [command, flags, rest].concat(),
            metric: None,
        }
    }
}

/// How a test is run again: whom it reaches, and for how long.
#[derive(Debug)]
pub(super) struct Again<'a> {
    /// HOST and how it is reached.
    pub(super) server: &'a [String],
    /// `-t`.
    pub(super) time: &'a str,
}

impl Again<'_> {
    /// The test that shows best what a finding is about; one stream of TCP up where it names none.
    pub(super) fn of(&self, finding: &Finding, check: &Output) -> Measurement {
        let named = |test: &&Test| finding.test_ids.contains(&test.id);
        let tests: Vec<&Test> = check.tests.iter().filter(named).collect();
        let lost = |test: &&Test| test.lost_packets.unwrap_or(0);
        let tcp = tests.iter().copied().filter(|test| is_tcp(test));
        let simplest = tcp.min_by_key(|test| (is_both_ways(test, check), test.streams));
        let chosen = simplest.or_else(|| tests.iter().copied().max_by_key(lost));
        match chosen {
            Some(test) => self.again(test, check, finding),
            None => self.plain(),
        }
    }

    /// One stream of TCP, up.
    fn plain(&self) -> Measurement {
        Measurement {
            words: self.words("tcp", &[]),
            metric: None,
        }
    }

    fn again(&self, test: &Test, check: &Output, finding: &Finding) -> Measurement {
        let mut options: Vec<String> = Vec::new();
        let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
        if test.streams > 1 {
            option("-P", test.streams.to_string());
        }
        if !is_tcp(test) {
            let each = |rate: f64| (rate / f64::from(test.streams.max(1))).round();
            let rate = test.requested_bits_per_second.map_or(0.0, each);
            option("-b", format!("{rate}"));
            option("-l", test.payload_bytes.to_string());
        }
        let both = is_both_ways(test, check);
        match (both, test.direction) {
            (true, _) => options.push("--bidir".to_owned()),
            (false, Direction::Down) => options.push("-R".to_owned()),
            (false, Direction::Up) => {}
        }
        let named = finding
            .change
            .as_ref()
            .and_then(|change| change.figure.as_deref());
        let is_loss = finding.explains.lost_packets.is_some() && !is_tcp(test);
        let usual = if is_loss { "loss" } else { "throughput" };
        let figure = named.unwrap_or(usual);
        let way = match test.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        Measurement {
            words: self.words(if is_tcp(test) { "tcp" } else { "udp" }, &options),
            metric: Some(match both {
                true => format!("{figure}:{way}"),
                false => figure.to_owned(),
            }),
        }
    }

    fn words(&self, command: &str, options: &[String]) -> Vec<String> {
        let first = [command.to_owned()];
        let time = ["-t".to_owned(), self.time.to_owned()];
        let all = [&first, self.server, options, &time];
        all.concat()
    }
}

fn is_tcp(test: &Test) -> bool {
    test.protocol == Protocol::Tcp
}

/// Both directions at once are two entries of one group.
fn is_both_ways(test: &Test, check: &Output) -> bool {
    let other = |one: &Test| one.group == test.group && one.direction != test.direction;
    check.tests.iter().any(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Change, Explains};

    fn test(id: &str, group: &str, direction: Direction, streams: u32) -> Test {
        Test {
            id: id.to_owned(),
            group: group.to_owned(),
            protocol: match id.starts_with("tcp") {
                true => Protocol::Tcp,
                false => Protocol::Udp,
            },
            direction,
            streams,
            payload_bytes: 1448,
            ..Test::default()
        }
    }

    fn decides(ids: &[&str], lost: Option<u64>) -> (String, Option<String>) {
        let loud = Test {
            lost_packets: Some(70),
            requested_bits_per_second: Some(90_000_000.0),
            ..test("udp-down-2", "udp-2", Direction::Down, 1)
        };
        let check = Output {
            tests: vec![
                test("tcp-2-streams-up", "tcp-2-streams", Direction::Up, 2),
                test("tcp-both-up", "tcp-both", Direction::Up, 1),
                test("tcp-both-down", "tcp-both", Direction::Down, 1),
                test("tcp-down", "tcp-2", Direction::Down, 1),
                test("udp-down", "udp", Direction::Down, 1),
                loud,
            ],
            ..Output::new("check", "0.0.0")
        };
        let finding = Finding {
            test_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            explains: Explains {
                lost_packets: lost,
                ..Explains::default()
            },
            ..Finding::default()
        };
        let server = ["h".to_owned(), "-p".to_owned(), "9".to_owned()];
        let again = Again {
            server: &server,
            time: "2",
        };
        let measurement = again.of(&finding, &check);
        (measurement.words.join(" "), measurement.metric)
    }

    #[test]
    fn a_given_measurement_reaches_the_same_server() {
        let of = |line: &str, server: &str| {
            let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
            Measurement::given(&words(line), &words(server))
                .words
                .join(" ")
        };
        assert_eq!(of("udp -b 5M", "h -p 9"), "udp -p 9 h -b 5M");
        assert_eq!(of("udp -b 5M {peer}", "h -6"), "udp -6 -b 5M h");
        assert_eq!(of("tcp", "h"), "tcp h");
    }

    #[test]
    fn a_rule_may_name_the_figure() {
        let check = Output {
            tests: vec![test("tcp-up", "tcp", Direction::Up, 1)],
            ..Output::new("check", "0.0.0")
        };
        let finding = Finding {
            test_ids: vec!["tcp-up".to_owned()],
            change: Some(Change {
                figure: Some("rtt-p99".to_owned()),
                ..Change::default()
            }),
            ..Finding::default()
        };
        let server = ["h".to_owned()];
        let again = Again {
            server: &server,
            time: "2",
        };
        let metric = again.of(&finding, &check).metric;
        assert_eq!(metric.as_deref(), Some("rtt-p99"));
    }

    #[test]
    fn the_simplest_test_of_tcp_decides_then_the_one_that_lost_most() {
        let rate = || Some("throughput".to_owned());
        assert_eq!(
            decides(&["tcp-both-down", "tcp-down", "udp-down"], None),
            ("tcp h -p 9 -R -t 2".to_owned(), rate())
        );
        assert_eq!(
            decides(&["tcp-2-streams-up"], Some(3)),
            ("tcp h -p 9 -P 2 -t 2".to_owned(), rate())
        );
        assert_eq!(
            decides(&["tcp-both-down"], None),
            (
                "tcp h -p 9 --bidir -t 2".to_owned(),
                Some("throughput:down".to_owned())
            )
        );
        assert_eq!(
            decides(&["udp-down", "udp-down-2"], Some(70)),
            (
                "udp h -p 9 -b 90000000 -l 1448 -R -t 2".to_owned(),
                Some("loss".to_owned())
            )
        );
        assert_eq!(decides(&[], None), ("tcp h -p 9 -t 2".to_owned(), None));
    }
}
