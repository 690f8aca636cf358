// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which TCP buffers are proposed.

use super::*;

/// The window in use is what the small buffer leaves: what the link needs is more.
#[test]
fn a_proposed_tcp_buffer_fills_the_link() {
    let proposed = |link_bits_per_second: u64, rate: f64| {
        let mut test = tcp("t1", rate);
        test.rtt_ns = Some(Quantiles {
            min: 50_000_000,
            p50: 50_000_000,
            ..Quantiles::default()
        });
        let mut record = with_buffers(test, USUAL.0, USUAL.1);
        for host in &mut record.run.hosts {
            host.interfaces[0].link_bits_per_second = Some(link_bits_per_second);
        }
        let facts = record.explained().facts;
        let fact = facts
            .into_iter()
            .find(|one| one.name == "tcp_rmem_proposed");
        let text = fact.unwrap().value.to_string();
        let most = text.strip_prefix("4096 131072 ").unwrap();
        most.parse::<u64>().unwrap()
    };
    let most = proposed(10_000_000_000, 5e8);
    assert!((125_000_000..125_100_000).contains(&most), "{most}");
    assert_eq!(proposed(u64::MAX, 5e8), 1 << 30);
    assert_eq!(proposed(10_000_000_000, 1e300), 1 << 30);
}

/// In a window of a few segments nothing is known of what the path could carry: the kernel's own choice is the least.
#[test]
fn a_proposed_tcp_buffer_is_no_smaller_than_the_kernels_own_choice() {
    for (source, key, value, most) in [
        ("sysctl", "net.ipv4.tcp_mem", "12380 190000 28570", 6 << 20),
        ("sysctl", "net.ipv4.tcp_mem", "500 1024 1500", 524_288),
        // A network namespace does not show it.
        ("/proc/meminfo", "MemTotal", "65536", 524_288),
    ] {
        let mut test = tcp("t1", 1e8);
        test.rtt_ns = Some(Quantiles {
            p50: 1_000_000,
            ..Quantiles::default()
        });
        let rmem = [("net.ipv4.tcp_rmem", "4096 16384 16384")];
        let record = run(vec![test]).set(PEER, "sysctl", &rmem);
        let facts = record.set(PEER, source, &[(key, value)]).explained().facts;
        let mut proposed = facts.iter().filter(|one| one.name == "tcp_rmem_proposed");
        let text = proposed.next().unwrap().value.to_string();
        assert_eq!(text, format!("4096 16384 {most}"));
    }
}
