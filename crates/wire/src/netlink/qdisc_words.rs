// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a queueing discipline (include/uapi/linux/pkt_sched.h) as words of tc(8), and back. Only of kinds whose options
//! are all known: others cannot be put back as they were.

mod bucket;
mod number;

use super::attribute::{attributes, push, unsigned};
use number::Form;

/// A kind without classes.
struct Kind {
    name: &'static str,
    layout: Layout,
}

enum Layout {
    /// No options, or those that the kernel shows and does not take.
    Nothing,
    /// A bare `struct tc_fifo_qopt`.
    Fifo(Form),
    /// Attributes, one for each word.
    Fields(&'static [Field]),
    /// `struct tc_tbf_qopt`.
    TokenBucket,
}

/// A word with its value in one attribute.
struct Field {
    word: &'static str,
    attribute: u16,
    form: Form,
}

/// The words of options as the kernel shows them. Nothing for a kind or an option that cannot be said.
#[must_use]
pub fn words(kind: &str, options: &[u8]) -> Option<String> {
    let pairs = match kind_of(kind)?.layout {
        Layout::Nothing => Vec::new(),
        Layout::Fifo(form) => vec![("limit", form.shown(options.get(..4)?)?)],
        Layout::Fields(fields) => pairs(fields, options)?,
        Layout::TokenBucket => bucket::pairs(options)?,
    };
    let each: Vec<String> = pairs.iter().map(said).collect();
    Some(each.join(" "))
}

/// The options that words of tc(8) mean; what `now` has already is omitted, because the kernel refuses to set some of it again.
/// Nothing for words that are not known.
#[must_use]
pub fn options(kind: &str, words: &[&str], now: Option<&[u8]>) -> Option<Vec<u8>> {
    match kind_of(kind)?.layout {
        Layout::Nothing => words.is_empty().then(Vec::new),
        Layout::Fifo(form) => match words {
            [] => Some(Vec::new()),
            ["limit", value] => form.bytes(value),
            _ => None,
        },
        Layout::Fields(fields) => {
            let now = now.and_then(|options| pairs(fields, options));
            encoded(fields, words, &now.unwrap_or_default())
        }
        Layout::TokenBucket => bucket::options(words),
    }
}

/// Whether options of this kind can be said.
#[must_use]
pub fn is_known(kind: &str) -> bool {
    kind_of(kind).is_some()
}

type Pair = (&'static str, String);

/// A switch is one word.
fn said((word, value): &Pair) -> String {
    match word.is_empty() {
        true => value.clone(),
        false => format!("{word} {value}"),
    }
}

fn pairs(fields: &'static [Field], options: &[u8]) -> Option<Vec<Pair>> {
    let mut all = Vec::new();
    for (attribute, value) in attributes(options) {
        let field = fields.iter().find(|field| field.attribute == attribute)?;
        match field.form {
            Form::Always(expected) => (value == expected).then_some(())?,
            Form::Zero => (unsigned(value)? == 0).then_some(())?,
            form => all.push((field.word, form.shown(value)?)),
        }
    }
    Some(all)
}

fn encoded(fields: &'static [Field], words: &[&str], now: &[Pair]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        let (field, bare) = field_of(fields, word)?;
        let (value, after) = match (bare, after) {
            (true, _) => (*word, after),
            (false, [value, after @ ..]) => (*value, after),
            (false, []) => return None,
        };
        rest = after;
        let encoded = field.form.bytes(value)?;
        let shown = field.form.set_to(&encoded);
        let is_now = |pair: &Pair| pair.0 == field.word && Some(&pair.1) == shown.as_ref();
        let is_switch_now = bare && now.iter().any(|pair| pair.0.is_empty() && pair.1 == value);
        if !is_switch_now && (bare || !now.iter().any(is_now)) {
            push(&mut bytes, field.attribute, &encoded);
        }
    }
    Some(bytes)
}

/// The field of a word, and whether the word is its value as well.
fn field_of(fields: &'static [Field], word: &str) -> Option<(&'static Field, bool)> {
    let is_switch =
        |field: &&Field| matches!(field.form, Form::Switch(off, on) if word == off || word == on);
    let switch = fields.iter().find(is_switch).map(|field| (field, true));
    let named = fields
        .iter()
        .find(|field| !word.is_empty() && field.word == word);
    switch.or(named.map(|field| (field, false)))
}

fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

const fn field(word: &'static str, attribute: u16, form: Form) -> Field {
    Field {
        word,
        attribute,
        form,
    }
}

const fn kind(name: &'static str, layout: Layout) -> Kind {
    Kind { name, layout }
}

static KINDS: [Kind; 10] = [
    kind("noqueue", Layout::Nothing),
    kind("mq", Layout::Nothing),
    // It shows a map of priorities that cannot be set.
    kind("pfifo_fast", Layout::Nothing),
    kind("pfifo", Layout::Fifo(Form::Count)),
    kind("bfifo", Layout::Fifo(Form::Bytes)),
    kind("pfifo_head_drop", Layout::Fifo(Form::Count)),
    kind("fq", Layout::Fields(&FQ)),
    kind("fq_codel", Layout::Fields(&FQ_CODEL)),
    kind("codel", Layout::Fields(&CODEL)),
    kind("tbf", Layout::TokenBucket),
];

/// net/sched/sch_fq.c `fq_dump`, `fq_change`.
static FQ: [Field; 18] = [
    field("limit", 1, Form::Count),
    field("flow_limit", 2, Form::Count),
    field("quantum", 3, Form::Bytes),
    field("initial_quantum", 4, Form::Bytes),
    field("", 5, Form::Switch("nopacing", "pacing")),
    // Not used any more.
    field("", 6, Form::Zero),
    field("maxrate", 7, Form::Rate),
    field("buckets", 8, Form::Logarithm),
    field("refill_delay", 9, Form::Microseconds),
    field("orphan_mask", 10, Form::Count),
    field("low_rate_threshold", 11, Form::Rate),
    field("ce_threshold", 12, Form::Microseconds),
    field("timer_slack", 13, Form::Nanoseconds),
    field("horizon", 14, Form::Microseconds),
    field("", 15, Form::Switch("horizon_cap", "horizon_drop")),
    // The map of priorities to bands, and the weights of the bands: those of `fq_init`.
    field("", 16, Form::Always(&PRIORITIES)),
    field("", 17, Form::Always(&WEIGHTS)),
    field("offload_horizon", 18, Form::Microseconds),
];

/// net/sched/sch_fq_codel.c `fq_codel_dump`, `fq_codel_change`.
static FQ_CODEL: [Field; 11] = [
    field("target", 1, Form::CodelTime),
    field("limit", 2, Form::Count),
    field("interval", 3, Form::CodelTime),
    field("", 4, Form::Switch("noecn", "ecn")),
    field("flows", 5, Form::Count),
    field("quantum", 6, Form::Bytes),
    field("ce_threshold", 7, Form::CodelTime),
    field("drop_batch", 8, Form::Count),
    field("memory_limit", 9, Form::Bytes),
    field("", 10, Form::Zero),
    field("", 11, Form::Zero),
];

/// net/sched/sch_codel.c.
static CODEL: [Field; 5] = [
    field("target", 1, Form::CodelTime),
    field("limit", 2, Form::Count),
    field("interval", 3, Form::CodelTime),
    field("", 4, Form::Switch("noecn", "ecn")),
    field("ce_threshold", 5, Form::CodelTime),
];

/// `struct tc_prio_qopt`: the number of bands, and the band of each of 16 priorities.
const PRIORITIES: [u8; 20] = {
    let bands = 3_u32.to_ne_bytes();
    [
        bands[0], bands[1], bands[2], bands[3], 1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
    ]
};

const WEIGHTS: [u8; 12] = {
    let [a, b, c] = [
        589_824_u32.to_ne_bytes(),
        196_608_u32.to_ne_bytes(),
        65_536_u32.to_ne_bytes(),
    ];
    [
        a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3],
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel shows it after it was set: `codel` rounds times down.
    fn shown(kind: &str, text: &str) -> Option<String> {
        let list: Vec<&str> = text.split_ascii_whitespace().collect();
        let set = options(kind, &list, None)?;
        if !kind.ends_with("codel") {
            return words(kind, &set);
        }
        let mut rounded = Vec::new();
        for (attribute, value) in attributes(&set) {
            let number = unsigned(value)?;
            let units = (number * 1000) >> 10;
            let is_time = [1, 3].contains(&attribute);
            let kept = if is_time {
                (units << 10) / 1000
            } else {
                number
            };
            push(&mut rounded, attribute, &kept.to_ne_bytes());
        }
        words(kind, &rounded)
    }

    /// What tc(8) is given, as it is shown again.
    #[test]
    fn words_are_shown_as_they_were_set() {
        for (kind, text) in [
            ("pfifo", "limit 16"),
            ("bfifo", "limit 30000"),
            ("mq", ""),
            (
                "fq",
                "limit 10000 flow_limit 100 quantum 3028 pacing maxrate 100000000bit buckets 1024",
            ),
            (
                "fq",
                "refill_delay 40000us timer_slack 10000ns horizon_drop",
            ),
            (
                "fq_codel",
                "target 5000us limit 10240 interval 100000us ecn flows 1024 quantum 1514",
            ),
            ("codel", "target 5000us limit 1000 noecn"),
        ] {
            assert_eq!(shown(kind, text).as_deref(), Some(text));
        }
    }

    #[test]
    fn units_of_tc_are_read() {
        for (kind, set, expected) in [
            ("fq", "maxrate 2mbit", "maxrate 2000000bit"),
            ("fq", "limit 100p", "limit 100"),
            ("fq_codel", "target 5ms", "target 5000us"),
            ("fq_codel", "memory_limit 32Mb", "memory_limit 33554432"),
        ] {
            assert_eq!(shown(kind, set).as_deref(), Some(expected));
        }
    }

    /// The kernel refuses to set the number of flows again, even to what it is.
    #[test]
    fn only_what_differs_is_set() {
        let all = ["limit", "10240", "flows", "1024", "ecn"];
        let now = options("fq_codel", &all, None).unwrap();
        assert_eq!(options("fq_codel", &all, Some(&now)), Some(Vec::new()));
        let other = ["limit", "9", "flows", "1024", "noecn"];
        let changed = options("fq_codel", &other, Some(&now)).unwrap();
        assert_eq!(
            words("fq_codel", &changed).as_deref(),
            Some("limit 9 noecn")
        );
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        let mut other = Vec::new();
        push(&mut other, 16, &[0; 20]);
        assert_eq!(words("fq", &other), None, "other priorities");
        push(&mut other, 99, &[0; 4]);
        assert_eq!(
            words("fq_codel", &other),
            None,
            "an option of a later kernel"
        );
        assert_eq!(words("htb", &[]), None);
        assert_eq!(words("pfifo", &[1]), None);
        for list in [
            &["limit"][..],
            &["limit", "x"],
            &["maxrates", "1"],
            &["limit", "-1"],
        ] {
            assert_eq!(options("fq", list, None), None, "{list:?}");
        }
    }

    /// As `tc qdisc add dev X root fq` leaves it in Linux 6.18.
    #[test]
    fn the_priorities_of_the_kernel_are_not_shown() {
        let mut options = Vec::new();
        push(&mut options, 1, &10_000_u32.to_ne_bytes());
        push(&mut options, 16, &PRIORITIES);
        push(&mut options, 17, &WEIGHTS);
        assert_eq!(words("fq", &options).as_deref(), Some("limit 10000"));
    }
}
