// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which values of a setting are worth trying.

use super::{Fields, Tunable};

/// One way to choose a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attempt {
    /// These words.
    Words(String),
    /// This number.
    Number(u64),
    /// The largest.
    Most,
    /// Twice the number in force.
    Twice,
    /// Half of it.
    Half,
    /// Each number from the least to the largest.
    Every,
}

impl Attempt {
    /// As a table writes it. Other words stand for themselves.
    pub(super) fn of_word(word: &str) -> Self {
        match word {
            "most" => Self::Most,
            "twice" => Self::Twice,
            "half" => Self::Half,
            "every" => Self::Every,
            _ => word
                .parse()
                .map_or_else(|_| Self::Words(word.to_owned()), Self::Number),
        }
    }

    /// Whether it needs the setting to be a number.
    pub(super) const fn is_number(&self) -> bool {
        !matches!(self, Self::Words(_) | Self::Most)
    }
}

pub(super) fn of(tunable: &Tunable, now: &str, max: Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for attempt in &tunable.attempts {
        for value in chosen(tunable, attempt, now, max) {
            let is_new = !is_same(&value, now) && !all.contains(&value);
            if is_new && all.len() < Tunable::MOST_VALUES {
                all.push(value);
            }
        }
    }
    all
}

fn chosen(tunable: &Tunable, attempt: &Attempt, now: &str, max: Option<&str>) -> Vec<String> {
    let numbers = |number: &dyn Fn(u64) -> Option<u64>| {
        changed(tunable, now, max, number)
            .into_iter()
            .collect::<Vec<_>>()
    };
    match attempt {
        Attempt::Words(words) => vec![words.clone()],
        Attempt::Number(wanted) => numbers(&|_| Some(*wanted)),
        Attempt::Twice => numbers(&|now| now.checked_mul(2)),
        Attempt::Half => numbers(&|now| Some(now / 2)),
        // A mask of processors is not a number.
        Attempt::Most => match max {
            Some(mask) if number_of(mask).is_none() => vec![mask.to_owned()],
            Some(_) => numbers(&|_| Some(u64::MAX)),
            None => Vec::new(),
        },
        Attempt::Every => {
            let (least, most) = (tunable.least.unwrap_or(0), max.and_then(number_of));
            let most = most.unwrap_or(least);
            let all = (least..=most).take(Tunable::MOST_VALUES + 1);
            all.map(|number| number.to_string()).collect()
        }
    }
}

/// The fields of `now` with other numbers, each within its bounds. Nothing where `now` has a word, or nothing bounds a number.
fn changed(
    tunable: &Tunable,
    now: &str,
    max: Option<&str>,
    wanted: &dyn Fn(u64) -> Option<u64>,
) -> Option<String> {
    let fields: Vec<u64> = now
        .split(' ')
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let maxima: Vec<&str> = max.map_or_else(Vec::new, |max| max.split(' ').collect());
    let last = fields.len() - 1;
    let field = |(at, now): (usize, &u64)| {
        if tunable.changes == Fields::Last && at != last {
            return Some(*now);
        }
        let max = maxima
            .get(at)
            .or(maxima.last())
            .and_then(|max| max.parse().ok());
        let most = [max, tunable.most].into_iter().flatten().min();
        let number = wanted(*now)?.max(tunable.least.unwrap_or(0));
        let number = most.map_or(number, |most: u64| number.min(most));
        let is_bounded = number < u64::MAX;
        let number = if tunable.raise_only {
            number.max(*now)
        } else {
            number
        };
        is_bounded.then_some(number)
    };
    let changed: Option<Vec<u64>> = fields.iter().enumerate().map(field).collect();
    Some(
        changed?
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    )
}

fn number_of(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

/// Zeros before a mask of processors mean nothing.
fn is_same(one: &str, other: &str) -> bool {
    let significant = |text: &str| text.trim_start_matches(['0', ',']).to_owned();
    one == other
        || (one.len() != other.len()
            && significant(one) == significant(other)
            && !significant(one).is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{parse_tunables, tunable_of};

    fn values(knob: &str, now: &str, max: Option<&str>) -> Vec<String> {
        tunable_of(knob).expect("an entry").values(now, max)
    }

    #[test]
    fn values_are_other_ones_within_the_bounds() {
        assert_eq!(
            values("ethtool -G rx", "256", Some("4096")),
            ["4096", "512"]
        );
        assert_eq!(values("ethtool -G rx", "4096", Some("4096")), [""; 0]);
        assert_eq!(
            values("ethtool -G rx tx", "256 4096", Some("4096 4096"))[0],
            "4096 4096"
        );
        let unknown = values("ethtool -G rx", "256", None);
        assert_eq!(unknown, ["512"], "the driver's maximum is not known");
        assert_eq!(values("ethtool -C adaptive-rx", "off", None), ["on"]);
        assert_eq!(values("ethtool -C adaptive-rx", "on", None), [""; 0]);
    }

    /// The first two numbers of `tcp_rmem` stay, and the third is never lowered.
    #[test]
    fn only_the_last_number_of_a_buffer_is_raised() {
        let small = values("sysctl net.ipv4.tcp_rmem", "4096 131072 262144", None);
        assert!(!small.is_empty());
        for value in &small {
            assert!(value.starts_with("4096 131072 "), "{value}");
            let last: u64 = value.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(last > 262_144, "{value}");
        }
        let bounded = values(
            "sysctl net.ipv4.tcp_rmem",
            "4096 131072 262144",
            Some("300000"),
        );
        assert_eq!(bounded, ["4096 131072 300000"]);
        let large = values("sysctl net.ipv4.tcp_rmem", "4096 131072 1000000000", None);
        assert_eq!(large, [""; 0]);
    }

    #[test]
    fn a_mask_of_processors_is_the_one_given() {
        let rps = |now| values("sysfs queues/rx-0/rps_cpus", now, Some("f"));
        assert_eq!(rps("0"), ["f"]);
        assert_eq!(rps("00000000,0000000f"), [""; 0]);
        assert_eq!(values("irq 7", "0", Some("1")), ["1"]);
    }

    #[test]
    fn few_values_are_tried() {
        let text = "[[tunable]]\nknobs = [\"irq N\"]\nmeans = \"x\"\nleast = 0\nvalues = [\"every\"]\nrisk = \"live\"\n\
                    scope = \"host\"\nsource = [\"x\"]\n";
        let all = parse_tunables("t.toml", text).unwrap();
        assert_eq!(all[0].values("2", Some("63")), ["0", "1", "3", "4"]);
    }
}
