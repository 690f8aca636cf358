// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::weigh::derived::spoken::facts;
use crate::weigh::derived::values;

fn shows(text: &str, name: &str) -> Option<String> {
    let found = values(text, facts).into_iter();
    found
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value)
        .next()
}

fn each(name: &str, cases: &[(&str, Option<&str>)]) {
    for (text, value) in cases {
        assert_eq!(shows(text, name).as_deref(), *value, "{text}");
    }
}

#[test]
fn other_partners_and_hosts() {
    each(
        "other_partner_works",
        &[
            (
                "With another switch it works without any loss.",
                Some("true"),
            ),
            (
                "When the two are directly connected, it is fine.",
                Some("true"),
            ),
            ("I tried a different switch, with no change.", Some("false")),
            ("The switch is fine and the server is slow.", None),
        ],
    );
    each(
        "other_hosts_affected",
        &[
            (
                "Other machines on this switch lose packets, too.",
                Some("true"),
            ),
            ("All other machines are fine.", Some("false")),
            ("Other hosts cannot reach it either.", None),
        ],
    );
}

#[test]
fn questions_and_praise() {
    let yes = Some("true");
    each(
        "asks_whether_normal",
        &[
            ("I see 94 Mbit/s here. Is this a normal result?", yes),
            ("It is not normal that it fails.", None),
        ],
    );
    each(
        "everything_works_says_writer",
        &[
            ("With that everything works fine.", yes),
            ("Everything works fine, but sometimes it hangs.", None),
        ],
    );
    each(
        "slow_from_all_hosts",
        &[
            ("Each host at this connection measures the same.", yes),
            ("All hosts are fine.", None),
        ],
    );
    each(
        "other_system_named",
        &[
            (
                "When I reboot from Windows into Linux the port is dead.",
                yes,
            ),
            ("The client runs Windows 10 and is slow.", None),
        ],
    );
}

#[test]
fn a_guest_that_nobody_reaches() {
    each(
        "outside_cannot_reach_vm",
        &[
            (
                "The host and other machines cannot reach the web server in the VM.",
                Some("true"),
            ),
            ("The VM is not reachable from outside.", Some("true")),
            ("The host can ping the guest.", Some("false")),
            ("The VM cannot reach the host.", None),
        ],
    );
}

#[test]
fn comparisons_of_rates() {
    each(
        "larger_mtu_is_faster",
        &[
            (
                "With MTU 9000 I get 9.8 Gbit/s, with MTU 1500 only 4 Gbit/s.",
                Some("true"),
            ),
            ("I use jumbo frames and it is slow.", None),
        ],
    );
    each(
        "two_queues_reach_more",
        &[
            (
                "One transmit queue has 12.5 Mpps, the two queues reach 14.88 Mpps in sum",
                Some("true"),
            ),
            ("The card has one queue and 12.5 Mpps is all it does.", None),
        ],
    );
    each(
        "tunnel_over_plain_rate",
        &[
            (
                "Through the tunnel I get 50 Mbit/s, without it 500 Mbit/s.",
                Some("0.1"),
            ),
            ("The tunnel has 50 Mbit/s.", None),
        ],
    );
    each(
        "differs_by_tool_running",
        &[
            (
                "It has 301880 msg/s without netqtop; with netqtop running it has 214680 msg/s",
                Some("true"),
            ),
            ("I ran perf and all is slow.", None),
        ],
    );
}
