// SPDX-License-Identifier: MIT OR Apache-2.0
use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::rng::Rng;
use crate::sweep::ladder;

const M: u64 = 1_000_000;

/// A synthetic link with a sender in front of it.
struct Link {
    rng: Rng,
    /// Loss ratio at an offered rate.
    curve: fn(u64) -> f64,
    /// Chance that a trial loses a few packets for no reason of the link.
    accident_ratio: f64,
    invalid_ratio: f64,
    sender_ceiling: u64,
}

impl Link {
    fn new(curve: fn(u64) -> f64) -> Self {
        Self {
            rng: Rng::new(7),
            curve,
            accident_ratio: 0.0,
            invalid_ratio: 0.0,
            sender_ceiling: u64::MAX,
        }
    }

    fn trial(&mut self, asked: u64) -> Trial {
        let offered = asked.min(self.sender_ceiling);
        let sent_packets = 2 * offered / (1470 * 8);
        let accident = u64::from(self.rng.chance(self.accident_ratio)) * 8;
        let by_curve = (sent_packets as f64 * (self.curve)(offered)).ceil() as u64;
        Trial {
            arrived_bits_per_second: None,
            offered_bits_per_second: offered,
            sent_packets,
            lost_packets: (by_curve + accident).min(sent_packets),
            sender_limited: offered < asked,
            valid: !self.rng.chance(self.invalid_ratio),
        }
    }
}

fn config(begin: Begin) -> KneeConfig {
    KneeConfig {
        begin,
        payload_bytes: 1470,
        goal_loss_ratio: 0.0,
        resolution_ratio: 0.01,
        trials_max: 60,
    }
}

fn climb() -> Begin {
    Begin::Ladder(ladder(50 * M, 1000 * M, 50 * M).unwrap())
}

fn around(start: u64) -> Begin {
    Begin::Around {
        start: start * M,
        from: 10 * M,
        to: 1000 * M,
    }
}

fn search(config: KneeConfig, link: &mut Link) -> Knee {
    let mut search = KneeSearch::new(config);
    while let Some(rate) = search.next_rate() {
        search.feed(rate, link.trial(rate));
    }
    search.knee()
}

#[test]
fn a_stopped_search_confirms_what_it_has_once() {
    let mut search = KneeSearch::new(config(around(1000)));
    let trial = |asked: u64, lost_packets| Trial {
        arrived_bits_per_second: None,
        offered_bits_per_second: asked,
        sent_packets: 1000,
        lost_packets,
        sender_limited: false,
        valid: true,
    };
    while search.knee().lossless_bits_per_second.is_none() {
        let asked = search.next_rate().unwrap();
        search.feed(asked, trial(asked, if asked > 400 * M { 600 } else { 0 }));
    }
    assert!(search.next_rate().is_some(), "the bracket is wide");
    search.stop();
    assert_eq!(search.next_rate(), None);
    assert_eq!(search.knee().limited_by, LimitedBy::Time);
    let found = search.knee().lossless_bits_per_second;
    assert_eq!(search.next_confirmation(), found);
    search.feed_confirmation(found.unwrap(), trial(found.unwrap(), 1));
    assert_eq!(search.next_confirmation(), None);
    let knee = search.knee();
    assert_eq!(knee.limited_by, LimitedBy::Loss);
    let outcome = knee.confirmation.map(|confirmation| confirmation.outcome);
    assert_eq!(outcome, Some(Outcome::Loss));
}

fn above(rate: u64, threshold: u64) -> f64 {
    rate.saturating_sub(threshold) as f64 / rate as f64
}

fn never(_: u64) -> f64 {
    0.0
}

fn always(_: u64) -> f64 {
    0.002
}

fn threshold(rate: u64) -> f64 {
    above(rate, 423 * M)
}

/// The receiver of field report 000 after its fixes: lossless, a ripple, then collapse.
fn livelock(rate: u64) -> f64 {
    above(rate, 310 * M).powf(0.5)
}

/// Loses at 150 M and 250 M always, and at nothing else below 700 M.
fn resonances(rate: u64) -> f64 {
    match rate / M {
        150 | 250 => 0.0003,
        _ => above(rate, 700 * M),
    }
}

type NamedLink = (&'static str, fn() -> Link);

/// As rows: link, beginning, lossless–lossy in Mbit/s, what ended the search, trials.
#[test]
fn scenarios() {
    let links: [NamedLink; 10] = [
        ("never lossy", || Link::new(never)),
        ("always lossy", || Link::new(always)),
        ("threshold 423", || Link::new(threshold)),
        ("livelock 310", || Link::new(livelock)),
        ("resonances", || Link::new(resonances)),
        ("sender 458", || Link {
            sender_ceiling: 458 * M,
            ..Link::new(never)
        }),
        ("sender 458, 423", || Link {
            sender_ceiling: 458 * M,
            ..Link::new(threshold)
        }),
        ("noisy never", || Link {
            accident_ratio: 0.1,
            ..Link::new(never)
        }),
        ("noisy 423", || Link {
            accident_ratio: 0.1,
            ..Link::new(threshold)
        }),
        ("invalid 423", || Link {
            invalid_ratio: 0.2,
            ..Link::new(threshold)
        }),
    ];
    let mut table = String::new();
    for (name, link) in links {
        for (way, begin) in [
            ("ladder", climb()),
            ("up", around(50)),
            ("down", around(1000)),
        ] {
            let knee = search(config(begin), &mut link());
            let mbit =
                |rate: Option<u64>| rate.map_or("-".into(), |r| format!("{:.1}", r as f64 / 1e6));
            let (low, high) = (
                mbit(knee.lossless_bits_per_second),
                mbit(knee.lossy_bits_per_second),
            );
            let limit = knee.limited_by.as_str();
            writeln!(
                table,
                "{name:<16} {way:<7}{low:>7} {high:>7} {limit:<7}{:>3}",
                knee.trials
            )
            .unwrap();
        }
    }
    assert_eq!(table, EXPECTED, "\n{table}");
}

const EXPECTED: &str = "\
never lossy      ladder  1000.0       - range   20
never lossy      up      1000.0       - range    6
never lossy      down    1000.0       - range    1
always lossy     ladder       -    50.0 loss    21
always lossy     up           -    25.0 loss     4
always lossy     down         -   500.0 loss     4
threshold 423    ladder   423.0   427.2 loss    23
threshold 423    up       423.0   427.2 loss     8
threshold 423    down     423.0   427.2 loss     4
livelock 310     ladder   308.8   311.8 loss    25
livelock 310     up       309.0   311.7 loss    14
livelock 310     down     309.9   312.0 loss    15
resonances       ladder   149.1   150.0 loss    27
resonances       up       700.0   707.0 loss     8
resonances       down     700.0   707.0 loss     4
sender 458       ladder   458.0       - sender  21
sender 458       up       458.0       - sender   6
sender 458       down     458.0       - sender   2
sender 458, 423  ladder   423.0   427.2 loss    23
sender 458, 423  up       423.0   427.2 loss     8
sender 458, 423  down     423.0   427.2 loss     4
noisy never      ladder   943.6   950.0 loss    26
noisy never      up      1000.0       - range    6
noisy never      down    1000.0       - range    1
noisy 423        ladder   423.0   427.2 loss    23
noisy 423        up       423.0   427.2 loss     8
noisy 423        down     423.0   427.2 loss     4
invalid 423      ladder   423.0   427.2 loss    28
invalid 423      up       423.0   427.2 loss     9
invalid 423      down     423.0   427.2 loss     5
";

#[test]
fn field_report_000_is_read_as_its_author_did() {
    // (rate, lost, sent) of the receive direction; each repeated trial gives the same.
    let rows: [(u64, u64, u64); 8] = [
        (50, 0, 8_511),
        (100, 4, 17_094),
        (150, 0, 25_641),
        (200, 0, 34_483),
        (250, 0, 42_553),
        (300, 33, 51_282),
        (350, 868, 60_606),
        (400, 4_601, 68_965),
    ];
    let trial = |&(rate, lost_packets, sent_packets): &(u64, u64, u64)| Trial {
        arrived_bits_per_second: None,
        offered_bits_per_second: rate * M,
        sent_packets,
        lost_packets,
        sender_limited: false,
        valid: true,
    };
    let rates = rows.iter().map(|row| row.0 * M).collect();
    let mut search = KneeSearch::new(config(Begin::Ladder(rates)));
    for row in &rows {
        assert_eq!(search.next_rate(), Some(row.0 * M));
        search.feed(row.0 * M, trial(row));
    }
    // The four packets at 100 M are an accident: twice without loss outweighs it.
    for _ in 0..2 {
        assert_eq!(search.next_rate(), Some(100 * M));
        search.feed(100 * M, trial(&(100, 0, 17_094)));
    }
    assert_eq!(search.next_rate(), Some(300 * M));
    search.feed(300 * M, trial(&rows[5]));
    let knee = search.knee();
    assert_eq!(knee.lossless_bits_per_second, Some(250 * M));
    assert_eq!(knee.lossy_bits_per_second, Some(300 * M));
    // 299.8 M got through there: no guess below 300 M; the middle in ratio.
    assert_eq!(search.next_rate(), Some(273_861_278));
}

#[test]
fn a_stopped_search_answers_with_what_it_has() {
    let mut search = KneeSearch::new(config(climb()));
    assert_eq!(search.knee().lossless_bits_per_second, None);
    search.feed(50 * M, Link::new(never).trial(50 * M));
    let knee = search.knee();
    assert_eq!(knee.lossless_bits_per_second, Some(50 * M));
    assert_eq!(knee.limited_by, LimitedBy::Trials);
    assert!((knee.lossless_pps.unwrap() - 4251.7).abs() < 0.1);
}

#[test]
fn a_start_outside_of_its_range_is_moved_to_the_edge() {
    assert_eq!(
        KneeSearch::new(config(around(5000))).next_rate(),
        Some(1000 * M)
    );
    assert_eq!(KneeSearch::new(config(around(0))).next_rate(), Some(10 * M));
}

#[test]
fn a_goal_above_zero_tolerates_its_loss() {
    let mut link = Link::new(always);
    let knee = search(
        KneeConfig {
            goal_loss_ratio: 0.01,
            ..config(climb())
        },
        &mut link,
    );
    assert_eq!(
        (knee.lossless_bits_per_second, knee.limited_by),
        (Some(1000 * M), LimitedBy::Range)
    );
}

/// Nothing lost; the sender did what it could.
fn clean(offered: u64, sender_limited: bool) -> Trial {
    Trial {
        arrived_bits_per_second: None,
        offered_bits_per_second: offered,
        sent_packets: 1000,
        lost_packets: 0,
        sender_limited,
        valid: true,
    }
}

#[test]
fn a_rate_that_was_not_offered_is_never_the_knee() {
    let mut search = KneeSearch::new(config(around(800)));
    search.feed(800 * M, clean(640 * M, true));
    let knee = search.knee();
    assert_eq!(
        (knee.lossless_bits_per_second, knee.limited_by),
        (Some(640 * M), LimitedBy::Sender),
        "stopped after one trial that fell short"
    );
    search.feed(800 * M, clean(796 * M, false));
    assert_eq!(
        search.knee().lossless_bits_per_second,
        Some(796 * M),
        "the rate that was offered, not the one that was asked"
    );
}

#[test]
fn what_a_sender_could_not_offer_ends_the_search_where_it_stood() {
    let mut search = KneeSearch::new(config(around(200)));
    search.feed(200 * M, clean(200 * M, false));
    search.feed(400 * M, clean(323 * M, true));
    search.feed(400 * M, clean(318 * M, true));
    let knee = search.knee();
    assert_eq!(search.next_rate(), None);
    assert_eq!(
        (knee.lossless_bits_per_second, knee.limited_by),
        (Some(323 * M), LimitedBy::Sender)
    );
}

#[test]
fn a_flood_finds_a_hard_limit_in_four_trials() {
    let mut link = Link::new(threshold);
    link.sender_ceiling = 2000 * M;
    let flood = Begin::Around {
        start: 10_000 * M,
        from: M,
        to: 10_000 * M,
    };
    let knee = search(config(flood), &mut link);
    let bracket = (
        knee.lossless_bits_per_second.unwrap(),
        knee.lossy_bits_per_second.unwrap(),
    );
    assert!(bracket.0 <= 423 * M && 423 * M < bracket.1, "{bracket:?}");
    assert_eq!((knee.limited_by, knee.trials), (LimitedBy::Loss, 4));
}

#[test]
fn a_wide_resolution_guesses_one_step_below() {
    let coarse = KneeConfig {
        resolution_ratio: 0.1,
        ..config(around(1000))
    };
    let mut search = KneeSearch::new(coarse);
    let lost_packets = 50;
    search.feed(
        1000 * M,
        Trial {
            arrived_bits_per_second: None,
            lost_packets,
            ..clean(1000 * M, false)
        },
    );
    assert_eq!(
        search.next_rate(),
        Some(901 * M),
        "5 % lost: not half the rate"
    );
}

#[test]
fn trials_that_are_never_valid_end_the_search() {
    let mut link = Link {
        invalid_ratio: 1.0,
        ..Link::new(never)
    };
    let knee = search(config(around(1000)), &mut link);
    assert_eq!(
        (knee.lossless_bits_per_second, knee.limited_by, knee.trials),
        (None, LimitedBy::Trials, 3)
    );
}

proptest! {
    #[test]
    fn a_threshold_is_bracketed_to_the_resolution(threshold in 11..1000_u64, start in 10..=1000_u64, accident in 0.0..0.05_f64, seed: u64) {
        let begin = around(start);
        let mut search = KneeSearch::new(config(begin));
        let mut rng = Rng::new(seed);
        while let Some(rate) = search.next_rate() {
            let lost = above(rate, threshold * M) * 1e6;
            let lost_packets = lost.ceil() as u64 + u64::from(rng.chance(accident));
            search.feed(rate, Trial {
            arrived_bits_per_second: None,
                offered_bits_per_second: rate, sent_packets: 1_000_000, lost_packets, sender_limited: false, valid: true,
            });
        }
        let knee = search.knee();
        // A lossless claim above the threshold is impossible: every trial there loses.
        prop_assert!(knee.lossless_bits_per_second.is_none_or(|rate| rate <= threshold * M));
        if let (LimitedBy::Loss, Some(low), Some(high)) = (knee.limited_by, knee.lossless_bits_per_second, knee.lossy_bits_per_second) {
            prop_assert!(low < high && (high - low) as f64 <= 0.01 * high as f64 + 1.0);
        }
        prop_assert!(knee.trials <= 60);
    }

    #[test]
    fn a_flood_brackets_any_hard_limit_in_few_trials(limit in 20..900_u64, ceiling in 1..20_u64, accident in prop::bool::ANY, seed: u64) {
        let top = 10_000 * M;
        // The sender can do at least a twentieth more than the path.
        let ceiling = limit * M + limit * M * ceiling / 20;
        let mut search = KneeSearch::new(config(Begin::Around { start: top, from: M, to: top }));
        let mut rng = Rng::new(seed);
        while let Some(rate) = search.next_rate() {
            let offered = rate.min(ceiling);
            let sent_packets = offered / 1000;
            let by_limit = (above(offered, limit * M) * sent_packets as f64).ceil() as u64;
            let one = u64::from(accident && rng.chance(0.1));
            search.feed(rate, Trial {
            arrived_bits_per_second: None,
                offered_bits_per_second: offered, sent_packets, lost_packets: by_limit + one, sender_limited: offered < rate, valid: true,
            });
        }
        let knee = search.knee();
        let (low, high) = (knee.lossless_bits_per_second.unwrap(), knee.lossy_bits_per_second);
        prop_assert!(low <= limit * M && high.is_none_or(|high| high > limit * M || accident), "{knee:?}");
        if !accident {
            let high = high.unwrap();
            prop_assert!((high - low) as f64 <= 0.01 * high as f64 + 1.0, "{knee:?}");
            prop_assert!(knee.trials <= 6 && knee.limited_by == LimitedBy::Loss, "{knee:?}");
        }
    }

    #[test]
    fn the_knee_is_a_rate_that_was_offered_without_loss(results in prop::collection::vec((any::<bool>(), 0..3_u64, 0.5..1.0_f64), 80), start in 10..=1000_u64) {
        let mut search = KneeSearch::new(config(around(start)));
        let mut clean = Vec::new();
        for (sender_limited, lost_packets, share) in results {
            let Some(rate) = search.next_rate() else { break };
            let offered = if sender_limited { (rate as f64 * share) as u64 } else { rate };
            search.feed(rate, Trial {
            arrived_bits_per_second: None, offered_bits_per_second: offered, sent_packets: 1000, lost_packets, sender_limited, valid: true });
            if lost_packets == 0 {
                clean.push((offered, sender_limited));
            }
            let knee = search.knee();
            if let Some(lossless) = knee.lossless_bits_per_second {
                let rests_on = |short: bool| clean.contains(&(lossless, short));
                prop_assert!(rests_on(false) || (rests_on(true) && knee.limited_by == LimitedBy::Sender), "{knee:?} {clean:?}");
            }
        }
    }

    #[test]
    fn any_results_end_within_the_trials(results in prop::collection::vec((any::<bool>(), any::<bool>(), 0..1000_u64, 0..2000 * M), 80), start in 10..=1000_u64) {
        let mut search = KneeSearch::new(config(around(start)));
        let mut fed = 0;
        for (sender_limited, valid, lost_packets, offered) in results {
            let Some(rate) = search.next_rate() else { break };
            prop_assert!((10 * M..=2000 * M).contains(&rate) || offered < 10 * M || rate < 10 * M);
            search.feed(rate, Trial {
            arrived_bits_per_second: None, offered_bits_per_second: offered.min(rate), sent_packets: 1000, lost_packets, sender_limited, valid });
            fed += 1;
        }
        prop_assert!(search.next_rate().is_none() && fed <= 60);
    }
}
