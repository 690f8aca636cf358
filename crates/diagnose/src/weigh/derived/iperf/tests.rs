// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::weigh::derived::values;

fn shows(text: &str, name: &str) -> Option<String> {
    let found = values(text, facts).into_iter();
    found
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value)
        .next()
}

#[test]
fn udp_at_the_default_rate() {
    let name = "udp_rate_is_tool_default";
    let row =
        "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.01 ms  0/906 (0%)  receiver\n";
    assert_eq!(
        shows(&format!("$ iperf3 -c 192.0.2.9 -u\n{row}"), name).as_deref(),
        Some("true")
    );
    assert_eq!(
        shows(&format!("$ iperf3 -c 192.0.2.9 -u -b 1M\n{row}"), name).as_deref(),
        Some("false")
    );
    let old =
        "Client connecting to h, UDP port 5001\n[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n";
    assert_eq!(shows(old, name).as_deref(), Some("true"));
    let tcp = "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec    0  sender\n";
    assert_eq!(shows(tcp, name), None);
}

#[test]
fn threads_of_versions() {
    let name = "iperf3_single_threaded";
    assert_eq!(
        shows("iperf 3.7 (cJSON 1.5.2)\niperf3 -c h -P 8\n", name).as_deref(),
        Some("true")
    );
    assert_eq!(
        shows("iperf 3.17.1 (cJSON 1.7.15)\n", name).as_deref(),
        Some("false")
    );
    assert_eq!(
        shows("iperf 3.7 (cJSON 1.5.2)\niperf3 -c h -P 1\n", name),
        None
    );
}

#[test]
fn rates_of_links_shapers_and_members() {
    let row = |rate: &str| format!("[  5]   0.00-10.00  sec  112 MBytes  {rate}  receiver\n");
    assert_eq!(
        shows(&row("94.1 Mbits/sec"), "rate_fits_standard_link").as_deref(),
        Some("true")
    );
    assert_eq!(
        shows(&row("431 Mbits/sec"), "rate_fits_standard_link").as_deref(),
        Some("false")
    );
    let shaper = "qdisc tbf 8001: dev eth0 root refcnt 2 rate 100Mbit burst 128Kb lat 50ms\n";
    let name = "measured_is_shaper_rate";
    assert_eq!(
        shows(&format!("{shaper}{}", row("95.4 Mbits/sec")), name).as_deref(),
        Some("true")
    );
    assert_eq!(
        shows(&format!("{shaper}{}", row("12 Mbits/sec")), name).as_deref(),
        Some("false")
    );
    assert_eq!(shows(&row("95.4 Mbits/sec"), name), None);
    let bond = "Slave Interface: eth0\nSpeed: 1000 Mbps\nSlave Interface: eth1\nSpeed: 1000 Mbps\n";
    let name = "measured_is_one_member_rate";
    assert_eq!(
        shows(&format!("{bond}{}", row("938 Mbits/sec")), name).as_deref(),
        Some("true")
    );
    assert_eq!(
        shows(&format!("{bond}{}", row("1.85 Gbits/sec")), name).as_deref(),
        Some("false")
    );
}

#[test]
fn courses_of_a_test() {
    let interval = |at: usize, rate: &str| {
        format!(
            "[  5]  {at}.00-{}.00  sec  10 MBytes  {rate}  0  1 MBytes\n",
            at + 1
        )
    };
    let falling: String = (0..12)
        .map(|at| {
            interval(
                at,
                if at < 4 {
                    "980 Mbits/sec"
                } else {
                    "200 Mbits/sec"
                },
            )
        })
        .collect();
    assert_eq!(
        shows(&falling, "fast_at_start_then_slow").as_deref(),
        Some("true")
    );
    assert_eq!(shows(&falling, "iperf_stalled_share").as_deref(), Some("0"));
    let stalled: String = (0..8)
        .map(|at| {
            interval(
                at,
                if at < 2 {
                    "9.8 Mbits/sec"
                } else {
                    "0.00 bits/sec"
                },
            )
        })
        .collect();
    assert_eq!(
        shows(&stalled, "iperf_stalled_share").as_deref(),
        Some("0.75")
    );
    assert_eq!(shows(&stalled, "fast_at_start_then_slow"), None);
}

#[test]
fn loss_at_any_rate() {
    let name = "loss_at_low_rate";
    let rows = "iperf3 -u -b 20M\n[  5]   0.00-10.00  sec  23.8 MBytes  20.0 Mbits/sec  0.020 ms  36/17267 (0.21%)\niperf3 -u -b 600M\n[  5]   0.00-10.00  sec  596 MBytes  600 Mbits/sec  0.018 ms  889/431680 (0.21%)\n";
    assert_eq!(
        shows(&format!("Speed: 1000Mb/s\n{rows}"), name).as_deref(),
        Some("true")
    );
    assert_eq!(shows(rows, name), None);
    let clean = rows.replace("36/17267", "0/17267");
    assert_eq!(
        shows(&format!("Speed: 1000Mb/s\n{clean}"), name).as_deref(),
        Some("false")
    );
}

#[test]
fn labels_above_before_and_behind() {
    let row =
        |rate: &str| format!("[  5]   0.00-10.00  sec  112 MBytes  {rate} Mbits/sec  receiver");
    let text = format!(
        "{}    # through the VPN\n{}    # without\n",
        row("50.0"),
        row("500")
    );
    assert_eq!(
        shows(&text, "tunnel_over_plain_rate").as_deref(),
        Some("0.1")
    );
    let text = format!("container: {}\nhost:      {}\n", row("765"), row("1530"));
    assert_eq!(
        shows(&text, "container_over_host_rate").as_deref(),
        Some("0.5")
    );
    let text = format!("inside:  {}\noutside: {}\n", row("941"), row("49.6"));
    assert_eq!(
        shows(&text, "inside_fast_outside_slow").as_deref(),
        Some("true")
    );
    let text = format!(
        "$ iperf3 -c h\n{}\n\niperf Done.\n$ iperf3 -c h -R\n{}\n",
        row("941"),
        row("230")
    );
    assert_eq!(
        shows(&text, "direction_ratio").as_deref(),
        Some("4.091304347826087")
    );
    assert_eq!(
        shows(
            &format!("$ iperf3 -c h\n{}\n", row("941")),
            "direction_ratio"
        ),
        None
    );
}

#[test]
fn other_outputs_show_nothing() {
    assert_eq!(
        values(
            "Speed: 1000Mb/s\n[  12.3] eth0: link up\nRX bytes 12\n",
            facts
        ),
        []
    );
}
