// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends frames, and by which command line.

use std::path::PathBuf;

use super::NEAR;
use crate::build::has_program;

/// A program that sends until it is ended.
#[derive(Debug)]
pub(super) struct Contender {
    /// As it stands in the table.
    pub(super) label: String,
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// Which of ours it is compared with, by label; ours with none.
    pub(super) rival: Option<&'static str>,
}

/// Ours and the peers that are installed; the others are named.
///
/// # Errors
/// trafgen's frame cannot be written down.
pub(super) fn present(ours: &str) -> Result<Vec<Contender>, String> {
    let send = |backend: &str| Contender {
        label: format!("linerate {backend}"),
        words: [ours, "send", NEAR, "--backend", backend, "--seconds", "600"]
            .map(str::to_owned)
            .to_vec(),
        rival: None,
    };
    let mut contenders: Vec<Contender> = ["af_xdp_copy", "af_packet_ring", "af_packet_mmsg"]
        .into_iter()
        .map(send)
        .collect();
    let peers = [
        ("dpdk-testpmd", testpmd()),
        ("trafgen", trafgen()?),
        ("xdp-trafficgen", vec![xdp_trafficgen()]),
    ];
    for (program, peers) in peers {
        match has_program(program) {
            true => contenders.extend(peers),
            false => println!("{program}: absent"),
        }
    }
    Ok(contenders)
}

/// Two processors, because one only waits for commands.
fn testpmd() -> Vec<Contender> {
    let by = |label: &str, device: String, rival| Contender {
        label: format!("testpmd {label}"),
        words: [
            "dpdk-testpmd",
            "-l",
            "0,1",
            "--no-huge",
            "-m",
            "512",
            "--no-pci",
            "--file-prefix",
            "linerate",
            "--vdev",
            &device,
        ]
        .into_iter()
        .chain([
            "--",
            "--forward-mode=txonly",
            "--auto-start",
            "--stats-period=600",
            "--total-num-mbufs=16384",
        ])
        .map(str::to_owned)
        .collect(),
        rival: Some(rival),
    };
    vec![
        by(
            "net_af_xdp",
            format!("net_af_xdp0,iface={NEAR},force_copy=1"),
            "linerate af_xdp_copy",
        ),
        by(
            "net_af_packet",
            format!("net_af_packet0,iface={NEAR},qdisc_bypass=1"),
            "linerate af_packet_ring",
        ),
    ]
}

fn trafgen() -> Result<Vec<Contender>, String> {
    let file = frame_file();
    std::fs::write(&file, FRAME).map_err(|why| format!("{}: {why}", file.display()))?;
    let file = file.display().to_string();
    let words = [
        "trafgen", "--dev", NEAR, "--conf", &file, "--cpus", "1", "-n", "0",
    ];
    Ok(vec![Contender {
        label: "trafgen".to_owned(),
        words: words.map(str::to_owned).to_vec(),
        rival: Some("linerate af_packet_ring"),
    }])
}

/// The kernel itself repeats one frame, by `BPF_PROG_TEST_RUN`: no socket, no copy.
fn xdp_trafficgen() -> Contender {
    let words = ["xdp-trafficgen", "udp", NEAR, "-m", "02:00:00:00:00:08"];
    Contender {
        label: "xdp-trafficgen".to_owned(),
        words: words.map(str::to_owned).to_vec(),
        rival: Some("linerate af_xdp_copy"),
    }
}

fn frame_file() -> PathBuf {
    std::env::temp_dir().join(format!("linerate-bench-{}.trafgen", std::process::id()))
}

/// Removes what [`present`] wrote down.
pub(super) fn tidy_up() {
    // It may never have been written.
    let _gone = std::fs::remove_file(frame_file());
}

/// 60 bytes: UDP over IPv4, benchmark addresses.
const FRAME: &str = "{ 0x02,0,0,0,0,9, 0x02,0,0,0,0,8, 0x08,0, 0x45,0,0,46,0,0,0,0,10,17,0,0, 198,18,0,1, 198,19,0,1,
  0xc0,0x20,0,7,0,26,0,0, fill(0x11,18) }\n";
