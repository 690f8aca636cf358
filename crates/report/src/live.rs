// SPDX-License-Identifier: MIT OR Apache-2.0
//! A running test on a few lines that are redrawn: both directions, the stage that loses most, the processors of both
//! ends, the time left.
//!
//! ```text
//! udp-400M  400.0 Mbit/s  12 s, about 18 s left        q stops
//! up    ▃▅▇██████  398.2 Mbit/s  lost 12 of 34358 (0.0349 %)
//!       most at rx-socket of the far end: 11
//! cpus  here 45 % (cpu1 98 %)   far end 30 % (cpu0 55 %)
//! ```

use linerate_diagnose::glance::{Busy, Losing};
use linerate_model::output::{Direction, Role};
use linerate_model::units::format::{BIT_RATES, UNKNOWN, percent, with_unit};

use crate::term::Style;
use crate::view::way;

/// All that is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Screen {
    /// The test that runs, and its load.
    pub title: String,
    /// Since the command began, seconds.
    pub elapsed_s: f64,
    /// The estimated time left, seconds; `None` if unknown.
    pub left_s: Option<f64>,
    /// Whether `q` stops the test.
    pub keys: bool,
    /// The directions that the test has.
    pub lanes: Vec<Lane>,
    /// Both ends, if reported.
    pub hosts: Vec<Busy>,
}

/// One direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lane {
    /// Which.
    pub direction: Direction,
    /// Of the intervals, the last one last; L4 goodput, bit/s.
    pub rates_bits_per_second: Vec<f64>,
    /// Since the start, of what one end has counted: before the first interval ends.
    pub so_far_bits_per_second: Option<f64>,
    /// Lost and sent so far; `None` where it cannot be known yet (TCP: always).
    pub lost_of_sent: Option<(u64, u64)>,
    /// TCP: segments retransmitted so far.
    pub retransmits: Option<u64>,
    /// Where most were lost so far.
    pub worst: Option<Losing>,
}

/// The lines, none longer than the style's width.
#[must_use]
pub fn lines(screen: &Screen, style: &Style) -> Vec<String> {
    let mut lines = vec![heading(screen, style.width.saturating_sub(1))];
    for lane in &screen.lanes {
        lines.push(lane_line(lane, style));
        lines.extend(lane.worst.as_ref().map(worst_line));
    }
    if !screen.hosts.is_empty() {
        let hosts: Vec<String> = screen.hosts.iter().map(processors).collect();
        lines.push(format!("cpus  {}", hosts.join("   ")));
    }
    lines.iter().map(|line| cut(line, style.width)).collect()
}

/// The time left stays where the line is too narrow for all: the keys go first, then the end of the title.
fn heading(screen: &Screen, width: usize) -> String {
    let left = match screen.left_s {
        Some(left) if left >= 1.0 => format!(", about {} left", duration(left)),
        Some(_) => ", nearly done".to_owned(),
        None => String::new(),
    };
    let time = format!("  {:.0} s{left}", screen.elapsed_s);
    let keys = if screen.keys { "  (q stops)" } else { "" };
    let room = width.saturating_sub(time.chars().count());
    let title = cut(&screen.title, room + 1);
    let title = title.trim_end();
    let is_wide = title.chars().count() + keys.len() <= room;
    format!("{title}{time}{}", if is_wide { keys } else { "" })
}

/// `18 s`, `12 min`, `2.5 h`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..600.0 => minutes((seconds / 10.0).round() as u32 * 10),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

fn minutes(seconds: u32) -> String {
    match (seconds / 60, seconds % 60) {
        (minutes, 0) => format!("{minutes} min"),
        (minutes, rest) => format!("{minutes} min {rest} s"),
    }
}

fn lane_line(lane: &Lane, style: &Style) -> String {
    let way = way(lane.direction);
    let rates = &lane.rates_bits_per_second;
    let now = rates
        .last()
        .or(lane.so_far_bits_per_second.as_ref())
        .map_or_else(|| UNKNOWN.to_owned(), |rate| with_unit(*rate, BIT_RATES));
    let line = format!("{way:<5} {}  {now:>12}", spark(rates, style.ascii));
    line + &losses(lane)
}

fn losses(lane: &Lane) -> String {
    if let Some((lost, sent)) = lane.lost_of_sent {
        let ratio = percent(lost as f64 / sent.max(1) as f64);
        return format!("  lost {lost} of {sent} ({ratio} %)");
    }
    let again = lane.retransmits;
    again.map_or_else(String::new, |again| format!("  retransmitted {again}"))
}

fn worst_line(worst: &Losing) -> String {
    let [least, most] = worst.lost_packets;
    let lost = match least {
        0 => format!("up to {most}"),
        _ if least == most => least.to_string(),
        _ => format!("{least} to {most}"),
    };
    let (stage, host) = (&worst.stage, of(worst.host));
    format!("      most at {stage} {host}: {lost} so far")
}

fn of(host: Role) -> &'static str {
    match host {
        Role::Local => "here",
        Role::Remote => "at the far end",
        Role::Device => "on the device",
    }
}

fn processors(one: &Busy) -> String {
    let name = match one.host {
        Role::Local => "here",
        Role::Remote => "far end",
        Role::Device => "device",
    };
    let [all, most] = [one.all, one.busiest_share].map(|share| share.clamp(0.0, 1.0) * 100.0);
    format!("{name} {all:.0} % ({} {most:.0} %)", one.busiest)
}

/// The last intervals as bars against the highest of them.
fn spark(rates: &[f64], ascii: bool) -> String {
    let levels = if ascii { ASCII_LEVELS } else { LEVELS };
    let shown = &rates[rates.len().saturating_sub(BARS)..];
    let most = shown.iter().copied().fold(0.0, f64::max);
    let bar = |rate: &f64| {
        let share = if most > 0.0 { rate / most } else { 0.0 };
        let at = (share * (levels.len() - 1) as f64).round() as usize;
        levels[at.min(levels.len() - 1)]
    };
    let bars: String = shown.iter().map(bar).collect();
    format!("{bars:<BARS$}")
}

fn cut(line: &str, width: usize) -> String {
    line.chars().take(width.saturating_sub(1)).collect()
}

const BARS: usize = 16;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_LEVELS: [char; 8] = ['_', '.', '-', ':', '=', '+', '*', '#'];

#[cfg(test)]
mod tests {
    use super::*;

    fn screen() -> Screen {
        Screen {
            title: "udp-400M  400.0 Mbit/s".to_owned(),
            elapsed_s: 12.2,
            left_s: Some(17.8),
            keys: true,
            lanes: vec![
                Lane {
                    direction: Direction::Up,
                    rates_bits_per_second: vec![200e6, 398.2e6],
                    lost_of_sent: Some((12, 34_358)),
                    worst: Some(Losing {
                        direction: Direction::Up,
                        stage: "rx-socket".to_owned(),
                        host: Role::Remote,
                        lost_packets: [11, 11],
                    }),
                    ..Lane::default()
                },
                Lane {
                    direction: Direction::Down,
                    retransmits: Some(3),
                    ..Lane::default()
                },
            ],
            hosts: vec![Busy {
                host: Role::Local,
                all: 0.45,
                busiest: "cpu1".to_owned(),
                busiest_share: 0.98,
            }],
        }
    }

    #[test]
    fn everything_of_a_running_test_is_on_a_few_lines() {
        let style = Style::default();
        assert_eq!(
            lines(&screen(), &style).join("\n"),
            "\
udp-400M  400.0 Mbit/s  12 s, about 18 s left  (q stops)
up    =#                398.2 Mbit/s  lost 12 of 34358 (0.0349 %)
      most at rx-socket at the far end: 11 so far
down                             n/a  retransmitted 3
cpus  here 45 % (cpu1 98 %)"
        );
    }

    #[test]
    fn no_line_reaches_the_edge_of_a_narrow_terminal() {
        let style = Style {
            width: 40,
            ascii: false,
            ..Style::default()
        };
        let lines = lines(&screen(), &style);
        assert!(
            lines.iter().all(|line| line.chars().count() < 40),
            "{lines:?}"
        );
        assert!(lines[1].contains("▅█"), "{lines:?}");
    }

    #[test]
    fn a_narrow_terminal_keeps_the_time_left() {
        let first = |width| {
            let style = Style {
                width,
                ..Style::default()
            };
            lines(&screen(), &style).swap_remove(0)
        };
        assert_eq!(first(50), "udp-400M  400.0 Mbit/s  12 s, about 18 s left");
        assert_eq!(first(40), "udp-400M  400.0  12 s, about 18 s left");
    }

    /// A step that is shorter than an interval has a rate, too.
    #[test]
    fn the_rate_so_far_is_shown_until_the_first_interval_ends() {
        let mut lane = Lane {
            so_far_bits_per_second: Some(94.1e6),
            ..Lane::default()
        };
        let style = Style::default();
        assert!(lane_line(&lane, &style).contains("94.10 Mbit/s"));
        lane.rates_bits_per_second.push(12e6);
        assert!(lane_line(&lane, &style).contains("12.00 Mbit/s"));
    }

    #[test]
    fn uncertain_losses_are_shown_as_a_range() {
        let worst = |lost_packets| {
            worst_line(&Losing {
                direction: Direction::Up,
                stage: "rx-mac".to_owned(),
                host: Role::Local,
                lost_packets,
            })
        };
        assert_eq!(worst([0, 9]).trim(), "most at rx-mac here: up to 9 so far");
        assert_eq!(worst([3, 9]).trim(), "most at rx-mac here: 3 to 9 so far");
    }

    #[test]
    fn only_the_last_intervals_are_drawn() {
        let rates: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(spark(&rates, true).len(), BARS);
        assert_eq!(spark(&[0.0], true), format!("{:<BARS$}", "_"));
    }
}
