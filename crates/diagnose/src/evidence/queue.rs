// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of one queue's packets, by the many ways in which drivers name them.

/// The number of the receive queue whose packets a counter of this name counts.
pub(crate) fn receive_queue(name: &str) -> Option<u32> {
    queue_of(name, "rx")?.parse().ok()
}

/// The number of the queue of a direction (`rx`, `tx`) whose packets a counter of this name counts.
pub(crate) fn queue_of(name: &str, direction: &str) -> Option<String> {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let without = name.replace(&digits, "#");
    let forms = [
        "D_queue_#_packets",
        "D#_packets",
        "D-#.packets",
        "D_#_packets",
        "queue_#_D_packets",
        "D-#.D_packets",
        "D-#.D-packets",
        "D_#.packets",
    ];
    let known = forms
        .iter()
        .any(|form| form.replace('D', direction) == without);
    (known && !digits.is_empty()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_queues() {
        for (name, queue) in [
            ("rx_queue_3_packets", Some("3")),
            ("rx12_packets", Some("12")),
            ("rx-0.packets", Some("0")),
            ("rx_packets", None),
            ("rx_queue_3_drops", None),
            ("rx_queue_0_xdp_packets", None),
            ("tx_queue_3_packets", None),
        ] {
            assert_eq!(queue_of(name, "rx").as_deref(), queue, "{name}");
        }
    }
}
