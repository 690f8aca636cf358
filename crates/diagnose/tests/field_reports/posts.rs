// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people ask in forums, in our own words: the first cause is the right one, no other is wrong, and where nothing is
//! wrong the answer is that nothing is, and what to collect.

use std::collections::BTreeSet;

use crate::causes::{causes, explanations, first, lost_by};

/// The text; the first cause; further ones that are right as well; what the first accounts for.
struct Post {
    name: &'static str,
    text: &'static str,
    first: &'static str,
    also: &'static [&'static str],
    lost: Option<u64>,
}

macro_rules! post {
    ($name:literal, $first:literal, $also:expr, $lost:expr) => {
        Post {
            name: $name,
            text: include_str!(concat!("posts/", $name, ".txt")),
            first: $first,
            also: $also,
            lost: $lost,
        }
    };
}

const POSTS: &[Post] = &[
    post!(
        "r8169-eee",
        "receive-fifo-overrun-without-pause",
        &[],
        Some(33_871)
    ),
    post!(
        "igb-nobuf",
        "receive-fifo-overrun",
        &["receive-ring-too-small"],
        Some(48_810)
    ),
    post!("stmmac", "receive-fifo-overrun", &[], Some(124_282)),
    post!(
        "mvneta",
        "receive-fifo-overrun",
        &["all-interrupts-on-one-cpu"],
        Some(229_912)
    ),
    post!("lan78xx", "usb-slower-than-link", &[], None),
    post!("dpaa2", "one-portal-for-all-ports", &[], None),
    post!("bond", "bundle-uses-one-link", &[], None),
    post!("duplex", "half-duplex", &[], None),
    post!(
        "german",
        "udp-receive-buffer-overflowed",
        &[],
        Some(612_345)
    ),
    post!("spanish", "receive-fifo-overrun", &[], Some(41_022)),
];

#[test]
fn the_right_cause_first_and_no_wrong_one() {
    for post in POSTS {
        let first = first(post.text);
        assert_eq!(first.cause, post.first, "{}", post.name);
        assert_eq!(first.explains.lost_packets, post.lost, "{}", post.name);
        let expected = post.also.iter().chain([&post.first]);
        let expected: BTreeSet<String> = expected.map(|cause| (*cause).to_owned()).collect();
        assert_eq!(causes(post.text), expected, "{}", post.name);
    }
}

/// A sender that offers less than it was asked for loses nothing: the wire has no part in it.
#[test]
fn a_slow_sender_is_no_slow_network() {
    let text = include_str!("posts/windows.txt");
    assert_eq!(causes(text), ["sender-limited".to_owned()].into());
    assert_eq!(lost_by(text, "sender-limited"), None);
}

#[test]
fn a_healthy_machine_gets_that_answer_and_what_to_collect() {
    let explained = explanations(include_str!("posts/healthy.txt"));
    assert!(
        explained
            .iter()
            .all(|one| one.findings.is_empty() && one.cannot_tell.is_empty()),
        "{explained:?}"
    );
    let next: Vec<&String> = explained
        .iter()
        .flat_map(|one| &one.next_commands)
        .collect();
    assert!(
        next.iter()
            .any(|command| command.contains("ethtool -S eno1")),
        "{next:?}"
    );
}
