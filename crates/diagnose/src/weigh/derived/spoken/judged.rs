// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the author says about one thing: another partner works, other hosts suffer too, whether this is normal.

use super::super::Fact;
use super::classes::*;
use super::clauses::{Clause, begins_text};

pub(super) fn facts(clauses: &[Clause]) -> Vec<Fact> {
    let said = [
        other_partner(clauses),
        other_hosts(clauses),
        slow_for_all(clauses),
        everything_works(clauses),
        guest_unreached(clauses),
        helper(clauses),
        idle_latency(clauses),
        larger_mtu(clauses),
        more_queues(clauses),
        tracer(clauses),
        ratio(clauses, "tunnel_over_plain_rate", TUNNEL, PLAIN),
        ratio(clauses, "container_over_host_rate", CONTAINER, THE_HOST),
    ];
    said.into_iter().flatten().chain(phrases(clauses)).collect()
}

/// Facts that a phrase says.
fn phrases(clauses: &[Clause]) -> impl Iterator<Item = Fact> {
    PHRASES.iter().filter_map(move |(name, patterns)| {
        let clause = clauses.iter().find(|one| says(one, patterns))?;
        Some(Fact::new(name, true, clause.line))
    })
}

fn says(clause: &Clause, patterns: &[&str]) -> bool {
    place(clause, patterns).is_some()
}

/// The first word of the first pattern that fits.
fn place(clause: &Clause, patterns: &[&str]) -> Option<usize> {
    let words = &clause.words;
    let fits = |at: &usize| {
        let rest = words.get(*at..).unwrap_or_default();
        patterns.iter().any(|one| begins_text(one, rest))
    };
    (0..words.len()).find(fits)
}

/// It works with another switch, or directly; `false` where it fails there, too.
fn other_partner(clauses: &[Clause]) -> Option<Fact> {
    let with = || clauses.iter().filter(|one| one.has(OTHER_PARTNER));
    let works = with().find(|one| one.is_good());
    let fails = with().find(|one| one.is_bad());
    match (works, fails) {
        (Some(works), None) => Some(Fact::new("other_partner_works", true, works.line)),
        (None, Some(fails)) => Some(Fact::new("other_partner_works", false, fails.line)),
        _ => None,
    }
}

/// Other hosts have the same trouble; `false` where they are well.
fn other_hosts(clauses: &[Clause]) -> Option<Fact> {
    let others = || clauses.iter().filter(|one| one.has(OTHER_HOSTS));
    let too = |one: &&Clause| one.is_bad() && says(one, TOO) && !says(one, ASIDE);
    if let Some(one) = others().find(too) {
        return Some(Fact::new("other_hosts_affected", true, one.line));
    }
    let well = others().find(|one| one.is_good() && !says(one, VIA))?;
    Some(Fact::new("other_hosts_affected", false, well.line))
}

fn slow_for_all(clauses: &[Clause]) -> Option<Fact> {
    let slow = |one: &&Clause| {
        says(
            one,
            &[
                "slow*",
                "same speed",
                "same rate",
                "same result*",
                "measures the same",
                "same limit",
            ],
        )
    };
    let one = clauses
        .iter()
        .filter(|one| one.has(EACH_HOST) && !one.is_good())
        .find(slow)?;
    Some(Fact::new("slow_from_all_hosts", true, one.line))
}

/// Nothing else is complained of anywhere.
fn everything_works(clauses: &[Clause]) -> Option<Fact> {
    let all = |one: &&Clause| {
        one.is_good()
            && says(
                one,
                &[
                    "everything works",
                    "everything is working",
                    "all works",
                    "everything is fine",
                    "it all works",
                ],
            )
    };
    let one = clauses.iter().find(all)?;
    let complains = clauses.iter().any(Clause::is_bad);
    (!complains).then(|| Fact::new("everything_works_says_writer", true, one.line))
}

/// `the host cannot reach the VM`, `the VM is not reachable from outside`; `false` where it is.
fn guest_unreached(clauses: &[Clause]) -> Option<Fact> {
    let is_it =
        |one: &&Clause| one.has(GUEST) && (one.is_bad() || one.is_good()) && guest_is_object(one);
    let all = || clauses.iter().filter(is_it);
    let one = all().find(|one| one.is_bad()).or_else(|| all().next())?;
    Some(Fact::new("outside_cannot_reach_vm", one.is_bad(), one.line))
}

fn guest_is_object(clause: &Clause) -> bool {
    let guest = place(clause, GUESTS);
    let outside = place(
        clause,
        &[
            "host*", "other*", "outside", "lan", "internet", "machines", "nobody", "clients",
            "network",
        ],
    );
    let (Some(verb), Some(guest), Some(outside)) = (place(clause, REACHES), guest, outside) else {
        return false;
    };
    let is_passive = clause.words.get(verb).is_some_and(|word| {
        word.ends_with("ed") || word.ends_with("able") || word.ends_with("ible")
    });
    if is_passive {
        return guest < verb && verb < outside && !says(clause, &["from the vm", "from the guest"]);
    }
    outside < verb && verb < guest
}

/// A helper or a gateway changes addresses inside the messages of a protocol.
fn helper(clauses: &[Clause]) -> Option<Fact> {
    let changed = |one: &&Clause| {
        says(
            one,
            &[
                "rewrit*", "rewrote", "chang*", "replac*", "mangl*", "modif*", "wrong", "private",
            ],
        ) && says(one, &["address*", "ip", "ips"])
    };
    let one = clauses.iter().filter(|one| one.has(HELPER)).find(changed)?;
    let inside = says(
        one,
        &[
            "sdp", "payload", "body", "inside", "header*", "contact", "message*", "pasv", "invite",
        ],
    );
    inside.then(|| Fact::new("payload_addresses_changed", true, one.line))
}

/// `the ping is high even when the line is idle`
fn idle_latency(clauses: &[Clause]) -> Option<Fact> {
    let is_high = |one: &&Clause| one.is_bad() || says(one, &["high*", "spike*", "ms"]);
    let even = |one: &&Clause| {
        says(
            one,
            &[
                "even when",
                "even if",
                "even with",
                "even while",
                "even without",
                "also when",
                "even on",
                "still",
            ],
        )
    };
    let of_idle = clauses
        .iter()
        .filter(|one| one.has(LATENCY) && one.has(IDLE) && !one.is_good());
    let one = of_idle.filter(is_high).find(even)?;
    Some(Fact::new("latency_high_when_idle", true, one.line))
}

fn larger_mtu(clauses: &[Clause]) -> Option<Fact> {
    let large = || {
        clauses
            .iter()
            .filter(|one| one.has(JUMBO) && !one.has(USUAL_MTU))
    };
    let usual = || {
        clauses
            .iter()
            .filter(|one| one.has(USUAL_MTU) && !one.has(JUMBO))
    };
    let most = large()
        .filter_map(|one| Some((one.rate?, one.line)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let least = usual().filter_map(|one| one.rate).max_by(f64::total_cmp);
    if let (Some((high, line)), Some(low)) = (most, least) {
        return (high > FASTER * low).then(|| Fact::new("larger_mtu_is_faster", true, line));
    }
    let one = large().find(|one| {
        one.is_good()
            && says(
                one,
                &["faster", "full speed", "line rate", "full bandwidth"],
            )
    })?;
    Some(Fact::new("larger_mtu_is_faster", true, one.line))
}

fn more_queues(clauses: &[Clause]) -> Option<Fact> {
    let of = |class| {
        clauses
            .iter()
            .filter(move |one| one.has(class))
            .filter_map(|one| Some((one.quantity()?, one.line)))
    };
    let (one, more) = (of(ONE_QUEUE).next()?, of(MORE_QUEUES).next()?);
    let comparable = one.0.1 == more.0.1;
    (comparable && more.0.0 > 1.05 * one.0.0)
        .then(|| Fact::new("two_queues_reach_more", true, more.1))
}

/// It is slower while a program that traces runs.
fn tracer(clauses: &[Clause]) -> Option<Fact> {
    let with = || {
        clauses
            .iter()
            .filter(|one| one.has(TRACER) && !says(one, WITHOUT))
    };
    let without = || {
        clauses
            .iter()
            .filter(|one| one.has(TRACER) && says(one, WITHOUT))
    };
    let running = |one: &&Clause| {
        says(
            one,
            &[
                "running", "runs", "started", "attached", "with", "enabled", "while", "when",
            ],
        )
    };
    let fewer = with().filter(running).find(|one| {
        let now = one.quantity();
        without()
            .filter_map(Clause::quantity)
            .any(|before| now.is_some_and(|now| before.1 == now.1 && before.0 > 1.1 * now.0))
    });
    let slower = || {
        with()
            .filter(running)
            .find(|one| one.is_bad() && says(one, &["slow*", "drops to", "throughput", "rate"]))
    };
    let one = fewer.or_else(slower)?;
    Some(Fact::new("differs_by_tool_running", true, one.line))
}

/// The rate of clauses about `one` over that of clauses about `other`.
fn ratio(clauses: &[Clause], name: &'static str, one: Class, other: Class) -> Option<Fact> {
    let of = |wanted, unwanted| {
        let named = clauses
            .iter()
            .filter(move |clause| clause.has(wanted) && !clause.has(unwanted));
        named.filter_map(|clause| Some((clause.rate?, clause)))
    };
    let (rate, first) = of(one, other).next()?;
    let near = |clause: &Clause| clause.sentence.abs_diff(first.sentence) <= 1;
    let (base, _) = of(other, 0).find(|(_, clause)| near(clause))?;
    (base > 0.0).then(|| Fact::new(name, rate / base, first.line))
}

const FASTER: f64 = 1.3;
const WITHOUT: &[&str] = &["without", "no", "stopped", "stopping", "disabled", "off"];
const TOO: &[&str] = &[
    "also", "too", "as well", "same", "all", "several", "affected", "likewise",
];
/// Words of those who do not reach the one host, or are well themselves.
const ASIDE: &[&str] = &[
    "reach",
    "cannot connect",
    "connect to",
    "ping",
    "access",
    "no other*",
    "none of*",
];
const VIA: &[&str] = &[
    "reach",
    "reaches",
    "reached",
    "to other*",
    "ping",
    "connect",
];
const GUESTS: &[&str] = &["vm", "vms", "guest", "guests", "virtual machine*", "vm's"];
const REACHES: &[&str] = &[
    "reach",
    "reaches",
    "reached",
    "reachable",
    "ping",
    "pinged",
    "access",
    "accessed",
    "accessible",
    "connect",
    "connected",
    "ssh",
    "open",
    "contact",
];
const PHRASES: &[(&str, &[&str])] = &[
    (
        "asks_whether_normal",
        &[
            "is this normal",
            "is it normal",
            "is that normal",
            "are these normal",
            "are those normal",
            "is this ok",
            "is this okay",
            "is that ok",
            "is this expected",
            "is that expected",
            "is it expected",
            "should i worry",
            "should i be worried",
            "should i be concerned",
            "is this a normal*",
            "is this the normal*",
            "is this a problem",
            "is that a problem",
            "are these values normal",
            "are these numbers normal",
            "are these errors normal",
            "do i need to worry",
            "anything to worry",
            "something to worry",
            "are these values ok",
            "worth worrying",
            "need i worry",
            "is this good",
            "is this result normal",
            "is that good",
        ],
    ),
    (
        "other_system_named",
        &[
            "from windows",
            "in windows",
            "into windows",
            "after windows",
            "windows was running",
            "booted windows",
            "booting windows",
            "dual boot*",
            "dual-boot*",
            "under windows",
            "reboot* from windows",
            "shutdown of windows",
            "windows has been running",
            "from macos into",
            "after pxe",
            "booted by pxe",
            "network boot leaves",
        ],
    ),
    (
        "many_small_files",
        &[
            "many small files",
            "lots of small files",
            "thousands of small files",
            "millions of small files",
            "many tiny files",
            "of small files",
            "thousands of files",
            "millions of files",
            "thousands of tiny files",
            "small files are slow",
            "lots of little files",
            "many little files",
        ],
    ),
    (
        "no_public_address",
        &[
            "no public ip*",
            "no public address",
            "without public ip*",
            "without a public ip*",
            "without public address",
            "no external ip*",
            "no elastic ip*",
            "no floating ip*",
            "without a public address",
            "without an elastic ip*",
            "without external ip*",
            "without an external ip*",
            "doesn't have a public ip*",
            "no public ipv4*",
        ],
    ),
    (
        "unicast_flooded",
        &[
            "unicast flood*",
            "floods unicast",
            "flooded unicast",
            "flooded to all ports",
            "floods to all ports",
            "flooded out all*",
            "floods it to all*",
            "flooding unicast",
            "unicast frames are flooded",
            "unicast is flooded",
            "unknown unicast flood*",
            "unicast packets are flooded",
            "unicast traffic is flooded",
        ],
    ),
    (
        "counter_wrapped_or_reset",
        &[
            "counter* wrap*",
            "counter* overflow*",
            "counter* overflowed",
            "32-bit counter*",
            "32 bit counter*",
            "counter* wraps",
            "counter* has wrapped",
            "counters were reset",
            "counter was reset",
            "counters are reset",
            "wraps at 4",
            "wraps around",
        ],
    ),
    (
        "foreign_mac_behind_vm",
        &[
            "nested guest*",
            "nested vm*",
            "nested virtual*",
            "nested container*",
            "nested hypervisor*",
        ],
    ),
];

#[cfg(test)]
mod tests;
