// SPDX-License-Identifier: MIT OR Apache-2.0
//! `time`: how long a command took, and how little of that its own work was.

use super::Fact;
use crate::weigh::observed::Line;

/// A resolver asks the next server after 5 s: a command that works for a moment and takes 5, 10, 15 s waited for it
/// (resolv.conf(5), timeout).
pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let runs = lines.windows(3).filter_map(|rows| {
        let [real, user, sys] = rows else { return None };
        let real_s = seconds(real.text, "real")?;
        let worked_s = seconds(user.text, "user")? + seconds(sys.text, "sys")?;
        Some((real_s, worked_s, real.number))
    });
    let waits = |(real_s, worked_s, _): &(f64, f64, u64)| {
        let rounds = (real_s / RESOLVER_S).floor();
        let beyond_s = real_s - rounds * RESOLVER_S;
        (1.0..=ROUNDS_MOST).contains(&rounds) && beyond_s < BEYOND_S && *worked_s < BEYOND_S
    };
    let mut waiting = runs.filter(waits);
    let first = waiting.next();
    let fact = first.map(|(_, _, line)| Fact::new("waits_for_resolver", true, line));
    fact.into_iter().collect()
}

/// `real    0m10.024s`
fn seconds(text: &str, name: &str) -> Option<f64> {
    let (minutes, seconds) = text.trim().strip_prefix(name)?.trim().split_once('m')?;
    let minutes: f64 = minutes.parse().ok()?;
    let seconds: f64 = seconds.strip_suffix('s')?.parse().ok()?;
    Some(60.0 * minutes + seconds)
}

const RESOLVER_S: f64 = 5.0;
const ROUNDS_MOST: f64 = 6.0;
/// What the rest of such a command takes.
const BEYOND_S: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn a_wait_of_five_seconds_and_its_multiples() {
        let text = |real: &str, user: &str| format!("real {real}\nuser {user}\nsys 0m0.007s\n");
        let waits = |real: &str, user: &str| !values(&text(real, user), facts).is_empty();
        assert!(waits("0m10.024s", "0m0.004s"));
        assert!(waits("0m5.11s", "0m0.1s"));
        assert!(!waits("0m10.024s", "0m9.1s"), "it worked all the time");
        assert!(!waits("0m0.015s", "0m0.005s"));
        assert!(!waits("0m7.3s", "0m0.005s"));
    }
}
