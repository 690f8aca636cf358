// SPDX-License-Identifier: MIT OR Apache-2.0
//! The faults that are set, and the causes that are true of each.

/// A check with these faults.
pub(super) struct Case {
    /// As `--fault` takes them.
    pub(super) faults: Vec<&'static str>,
    /// Of these causes one must come first.
    pub(super) first: Vec<&'static str>,
    /// These are true as well.
    pub(super) also: Vec<&'static str>,
}

impl Case {
    /// Every cause that is true of the faults.
    pub(super) fn causes(&self) -> Vec<&'static str> {
        [self.first.as_slice(), self.also.as_slice()].concat()
    }
}

/// The case of these faults.
pub(super) fn of_faults(faults: &[&'static str]) -> Case {
    let of = |faults: &[&'static str], list: fn(&Truth) -> &'static [&'static str]| {
        let truths = faults.iter().flat_map(|fault| {
            TRUTHS.iter().filter(|truth| {
                let name = fault.split('=').next().unwrap_or_default();
                truth.fault == name
            })
        });
        truths
            .flat_map(|truth| list(truth).iter().copied())
            .collect()
    };
    Case {
        faults: faults.to_vec(),
        first: of(faults, |truth| truth.first),
        also: of(faults, |truth| truth.also),
    }
}

struct Truth {
    fault: &'static str,
    first: &'static [&'static str],
    also: &'static [&'static str],
}

const fn truth(
    fault: &'static str,
    first: &'static [&'static str],
    also: &'static [&'static str],
) -> Truth {
    Truth { fault, first, also }
}

/// What else is true of packets that the wire loses: TCP's view of them, and where queues lost others of the same test, so
/// that it is not known how the losses lie in time.
const LOST_BETWEEN: &[&str] = &["tcp-waits-for-timeouts", "lost-between-the-ends"];
/// TCP's view of a queue of 16 packets.
const OF_A_SHORT_QUEUE: &[&str] = &[
    "reordering-on-the-path",
    "spurious-retransmits-from-reordering",
    "tcp-waits-for-timeouts",
];
/// TCP's view of reordered ones.
const REORDERED: &[&str] = &[
    "reordering-on-the-path",
    "spurious-retransmits-from-reordering",
];

const TRUTHS: &[Truth] = &[
    truth("rcvbuf", &["udp-receive-buffer-too-small"], &[]),
    // The timer of the bucket sends on another processor than the program: packets overtake each other in the veth.
    truth("qdisc-limit", &["own-queue-drops"], OF_A_SHORT_QUEUE),
    truth("nft-drop", &["packet-filter-drops"], &[]),
    truth("mtu", &["mtu-mismatch"], &[]),
    truth(
        "threaded-napi",
        &["threaded-napi-too-slow"],
        &["segmentation-offload-off", "transmit-ring-drops"],
    ),
    truth("rps", &["steering-to-busy-processors"], &[]),
    truth("loss", &["loss-on-the-path"], LOST_BETWEEN),
    truth(
        "burst-loss",
        &["loss-on-the-path-in-bursts"],
        &[
            "loss-on-the-path",
            "tcp-waits-for-timeouts",
            "lost-between-the-ends",
        ],
    ),
    truth("black-hole", &["mtu-black-hole"], LOST_BETWEEN),
    truth("reorder", &["reordering-on-the-path"], REORDERED),
    truth("duplicate", &["duplication-on-the-path"], &[]),
    truth("corrupt", &["corruption-on-the-path"], LOST_BETWEEN),
    truth(
        "delay",
        &[
            "tcp-receiver-limited",
            "tcp-send-buffer-limited",
            "tcp-send-buffer-too-small",
        ],
        &[],
    ),
    truth("rate", &["rate-ceiling-on-the-path"], LOST_BETWEEN),
    // As with the bucket: TCP's pacing sends single segments by a timer.
    truth("offload-off", &["segmentation-offload-off"], REORDERED),
    truth(
        "reno",
        &["congestion-control-unsuited-to-loss-and-delay"],
        &[
            "loss-on-the-path",
            "tcp-waits-for-timeouts",
            "lost-between-the-ends",
        ],
    ),
    truth(
        "tcp-rmem",
        &["tcp-receiver-limited", "tcp-receive-window-too-small"],
        &[],
    ),
    truth(
        "tcp-wmem",
        &["tcp-send-buffer-limited", "tcp-send-buffer-too-small"],
        &[],
    ),
    truth("somaxconn", &["listen-backlog-full"], &[]),
    truth("arp-flux", &["arp-flux"], &[]),
    // TCP finds the window of a reader that pauses closed.
    truth(
        "paused-reader",
        &["receiver-paused"],
        &["endpoint-stalled", "tcp-receiver-limited"],
    ),
    truth(
        "cpu-contention",
        &["receiver-had-no-processor", "sender-had-no-processor"],
        &["receiver-too-slow"],
    ),
    truth("link-down", &["link-unstable"], LOST_BETWEEN),
];

/// Each fault alone.
pub(super) const ALONE: [&str; 21] = [
    "rcvbuf=9K",
    "qdisc-limit=37M",
    "nft-drop=70",
    "mtu=1300",
    "loss=2.3%",
    "burst-loss=1.7%:14",
    "black-hole=1100",
    "reorder=2.1%:3ms",
    "duplicate=1.9%",
    "corrupt=1.3%",
    "delay=8ms",
    "rate=77M:20K",
    "offload-off",
    "threaded-napi",
    "rps=3",
    "reno=11ms:0.3%",
    "tcp-rmem=19K",
    "tcp-wmem=21K",
    "paused-reader=210ms",
    "cpu-contention=3",
    "link-down=900ms:600ms",
];

/// Faults of different places, two at once.
pub(super) const PAIRS: [[&str; 2]; 12] = [
    ["rcvbuf=9K", "loss=2.3%"],
    ["rcvbuf=9K", "cpu-contention=3"],
    ["nft-drop=70", "corrupt=1.3%"],
    ["nft-drop=70", "rate=77M:20K"],
    ["qdisc-limit=37M", "loss=2.3%"],
    ["corrupt=1.3%", "rcvbuf=9K"],
    ["duplicate=1.9%", "reorder=2.1%:3ms"],
    ["loss=2.3%", "reorder=2.1%:3ms"],
    ["paused-reader=210ms", "nft-drop=70"],
    ["burst-loss=1.7%:14", "rcvbuf=9K"],
    ["mtu=1300", "loss=2.3%"],
    ["rate=77M:20K", "duplicate=1.9%"],
];

/// What other work on this machine causes, and is rightly reported.
pub(super) const OF_THIS_MACHINE: [&str; 6] = [
    "lab-wire-overloaded",
    "sender-had-no-processor",
    "sender-limited",
    "receiver-had-no-processor",
    "receiver-too-slow",
    "receiver-waited-for-cpu",
];
