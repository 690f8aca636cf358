// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each fault of a host: its effect is really there, and absent without it.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

use linerate_lab::{Host, Isolation, Lab};
use linerate_linux::{cpu, host, nic, setup};

use super::Test;
use super::role::VARIABLE;
use super::traffic::{DEADLINE, SILENCE, counter, eventually, fill, lab_with, send_numbered, tcp};
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("healthy_loses_nothing", healthy_loses_nothing),
    (
        "rcvbuf_limits_what_a_socket_holds",
        rcvbuf_limits_what_a_socket_holds,
    ),
    (
        "qdisc_limit_drops_before_the_link",
        qdisc_limit_drops_before_the_link,
    ),
    ("nft_drop_takes_every_nth", nft_drop_takes_every_nth),
    (
        "cpu_contention_makes_the_peer_wait",
        cpu_contention_makes_the_peer_wait,
    ),
    (
        "mtu_mismatch_eats_large_packets",
        mtu_mismatch_eats_large_packets,
    ),
    ("offload_off_is_off", offload_off_is_off),
    (
        "rps_steers_to_a_busy_processor",
        rps_steers_to_a_busy_processor,
    ),
    (
        "threaded_napi_polls_in_a_thread",
        threaded_napi_polls_in_a_thread,
    ),
    ("reno_is_used", reno_is_used),
    ("tcp_rmem_limits_the_receiver", tcp_rmem_limits_the_receiver),
    ("tcp_wmem_limits_the_sender", tcp_wmem_limits_the_sender),
    (
        "somaxconn_limits_the_accept_queue",
        somaxconn_limits_the_accept_queue,
    ),
    (
        "arp_flux_answers_from_the_second_interface",
        arp_flux_answers_from_the_second_interface,
    ),
    (
        "paused_reader_stops_and_goes_on",
        paused_reader_stops_and_goes_on,
    ),
    (
        "link_goes_down_and_comes_back",
        link_goes_down_and_comes_back,
    ),
];

fn healthy_loses_nothing(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &[])?;
    let arrived = send_numbered(&lab, 1000, 1400)?;
    let expected: Vec<u64> = (1..=1000).collect();
    ensure(arrived == expected, || {
        format!("{} of 1000 arrived in order", arrived.len())
    })
}

fn rcvbuf_limits_what_a_socket_holds(isolation: &Isolation) -> Outcome {
    let granted = |faults: &[&str]| -> Outcome<Vec<u64>> {
        let lab = lab_with(isolation, faults)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.env(VARIABLE, "ask-for-a-buffer");
        let said = answer(&lab.hosts()[1], command)?;
        Ok(said.lines().map(str::parse).collect::<Result<_, _>>()?)
    };
    let (healthy, small) = (granted(&[])?, granted(&["rcvbuf=16K"])?);
    // The kernel doubles what is set, for its own overhead.
    ensure(healthy.iter().all(|bytes| *bytes > 100_000), || {
        format!("healthy: {healthy:?}")
    })?;
    ensure(small == [2 * 16_384; 2], || {
        format!("with the fault: {small:?}")
    })
}

fn qdisc_limit_drops_before_the_link(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["qdisc-limit=1M"])?;
    let a = &lab.hosts()[0];
    let before = counter(a, "tx_packets")?;
    let arrived = send_numbered(&lab, 200, 1400)?.len() as u64;
    let left = counter(a, "tx_packets")? - before;
    ensure(arrived < 150, || format!("{arrived} of 200 arrived"))?;
    ensure(left < 160, || {
        format!("{left} left the host, so they were not dropped in it")
    })
}

fn nft_drop_takes_every_nth(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["nft-drop=5"])?;
    let arrived = send_numbered(&lab, 500, 200)?;
    let every_fifth = arrived.len() == 400 && arrived.windows(5).all(|w| w[4] - w[0] == 5);
    ensure(every_fifth, || format!("{} of 500 arrived", arrived.len()))
}

fn cpu_contention_makes_the_peer_wait(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["cpu-contention=2"])?;
    let mut shell = Command::new("sh");
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; \
                  read line < /proc/self/schedstat; echo $line; \
                  grep Cpus_allowed_list /proc/self/status";
    shell.args(["-c", script]);
    let said = answer(&lab.hosts()[1], shell)?;
    let mut lines = said.lines();
    let times: Vec<u64> = lines
        .next()
        .unwrap_or("")
        .split(' ')
        .flat_map(str::parse)
        .collect();
    let [ran_ns, waited_ns, _slices] = times[..] else {
        return Err(Verdict::Skipped("no /proc/self/schedstat here".to_owned()));
    };
    ensure(waited_ns > ran_ns / 2, || {
        format!("ran {ran_ns} ns, waited {waited_ns} ns")
    })?;
    let cpus = lines.next().and_then(|line| line.split_whitespace().nth(1));
    ensure(cpus.is_some_and(|cpus| cpus.parse::<u32>().is_ok()), || {
        format!("on CPUs {cpus:?}")
    })
}

fn mtu_mismatch_eats_large_packets(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["mtu=1000"])?;
    let b = &lab.hosts()[1];
    let small = send_numbered(&lab, 50, 900)?.len();
    let before = counter(b, "rx_dropped")?;
    let large = send_numbered(&lab, 50, 1400)?.len();
    let dropped = counter(b, "rx_dropped")? - before;
    ensure((small, large) == (50, 0), || {
        format!("{small} small and {large} large arrived")
    })?;
    ensure(dropped >= 50, || format!("rx_dropped grew by {dropped}"))
}

/// Features of `ethtool -k` that the fault switches off.
const OFFLOADS: [&str; 4] = [
    "tx-checksumming",
    "tx-tcp-segmentation",
    "generic-segmentation-offload",
    "generic-receive-offload",
];

fn offload_off_is_off(isolation: &Isolation) -> Outcome {
    let on = |lab: &Lab| -> Outcome<Vec<bool>> {
        let b = &lab.hosts()[1];
        let commands = b.enter(|| nic::settings::read(b.interface))?;
        let features = commands
            .into_iter()
            .filter(|(name, _)| *name == "ethtool -k");
        let values = features.flat_map(|(_, values)| values);
        let offloads = values.filter(|(name, _)| OFFLOADS.contains(&name.as_str()));
        Ok(offloads.map(|(_, value)| value == "on").collect())
    };
    let (healthy, off) = (
        on(&lab_with(isolation, &[])?)?,
        on(&lab_with(isolation, &["offload-off"])?)?,
    );
    ensure(healthy.contains(&true), || format!("healthy: {healthy:?}"))?;
    ensure(!off.contains(&true), || format!("with the fault: {off:?}"))
}

/// Writing `rps_cpus` takes a capability in the initial user namespace.
fn rps_steers_to_a_busy_processor(isolation: &Isolation) -> Outcome {
    let of = |faults: &[&str]| -> Outcome<String> {
        let lab = lab_with(isolation, faults)?;
        file_of_b(&lab, "queues/rx-0/rps_cpus")
    };
    if host::effective_user() != 0 || cpu::allowed().len() < 2 {
        return Err(Verdict::Skipped(
            "it needs root and two processors".to_owned(),
        ));
    }
    let [healthy, steered] = [of(&[])?, of(&["rps"])?];
    let bits = |mask: &str| mask.chars().filter(|digit| !"0,".contains(*digit)).count();
    ensure((bits(&healthy), bits(&steered)) == (0, 1), || {
        format!("healthy {healthy}, with the fault {steered}")
    })
}

fn threaded_napi_polls_in_a_thread(isolation: &Isolation) -> Outcome {
    let of = |faults: &[&str]| -> Outcome<String> {
        let lab = lab_with(isolation, faults)?;
        file_of_b(&lab, "threaded")
    };
    let [healthy, threaded] = [of(&[])?, of(&["threaded-napi"])?];
    ensure((healthy.as_str(), threaded.as_str()) == ("0", "1"), || {
        format!("healthy {healthy}, with the fault {threaded}")
    })
}

/// A file of the peer's interface in sysfs.
fn file_of_b(lab: &Lab, name: &str) -> Outcome<String> {
    let b = &lab.hosts()[1];
    let path = format!("/sys/class/net/{}/{name}", b.interface);
    let text = b.enter(|| std::fs::read_to_string(path))??;
    Ok(text.trim().to_owned())
}

fn reno_is_used(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["reno"])?;
    let [a, b] = lab.hosts();
    let (near, far) = tcp(a, b)?;
    for stream in [near, far] {
        let name = socket2::SockRef::from(&stream).tcp_congestion()?;
        ensure(name.starts_with(b"reno"), || {
            String::from_utf8_lossy(&name).into_owned()
        })?;
    }
    let report = lab
        .close()
        .ok_or_else(|| Verdict::Failed("no wire".to_owned()))?;
    ensure(report.directions[0].received > 0, || {
        "nothing crossed the wire".to_owned()
    })
}

fn tcp_rmem_limits_the_receiver(isolation: &Isolation) -> Outcome {
    let held = |faults: &[&str]| queues(isolation, faults).map(|(_, receiver)| receiver);
    let (healthy, small) = (held(&[])?, held(&["tcp-rmem=16K"])?);
    ensure(healthy > 32_768, || format!("healthy: {healthy} bytes"))?;
    ensure(small <= 16_384, || format!("with the fault: {small} bytes"))
}

fn tcp_wmem_limits_the_sender(isolation: &Isolation) -> Outcome {
    let held = |faults: &[&str]| queues(isolation, faults).map(|(sender, _)| sender);
    let (healthy, small) = (held(&[])?, held(&["tcp-wmem=16K"])?);
    // The kernel looks at the limit before it adds a segment, which may hold 64 KiB.
    ensure(small <= 16_384 + 65_536, || {
        format!("with the fault: {small} bytes")
    })?;
    ensure(healthy > 2 * small, || {
        format!("healthy: {healthy}, with the fault: {small} bytes")
    })
}

/// Bytes in the sender's and in the receiver's queue once nothing moves.
fn queues(isolation: &Isolation, faults: &[&str]) -> Outcome<(usize, usize)> {
    let lab = lab_with(isolation, faults)?;
    let [a, b] = lab.hosts();
    let (mut near, far) = tcp(a, b)?;
    let written = fill(&mut near)?;
    let arrived = far.peek(&mut vec![0; 16 << 20])?;
    Ok((written - arrived, arrived))
}

/// A queue of one holds two: the kernel looks whether there are more than its length (include/net/sock.h sk_acceptq_is_full).
fn somaxconn_limits_the_accept_queue(isolation: &Isolation) -> Outcome {
    let healthy = accepted(isolation, &[], DEADLINE)?;
    ensure(healthy == 4, || format!("healthy: {healthy} of 4"))?;
    let few = accepted(isolation, &["somaxconn=1"], SILENCE)?;
    ensure(few <= 2, || format!("with the fault: {few} of 4"))
}

/// How many of four connections a server completes that accepts none.
fn accepted(isolation: &Isolation, faults: &[&str], patience: Duration) -> Outcome<usize> {
    let lab = lab_with(isolation, faults)?;
    let [a, b] = lab.hosts();
    let listener = b.enter(|| TcpListener::bind((b.ipv4, 0)))??;
    let server = listener.local_addr()?;
    let open: Vec<TcpStream> = a.enter(|| {
        let opened = (0..4).map(|_| TcpStream::connect_timeout(&server, patience));
        opened.filter_map(Result::ok).collect()
    })?;
    Ok(open.len())
}

/// The neighbour table has the hardware address of the interface that does not have the IP address.
fn arp_flux_answers_from_the_second_interface(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["arp-flux"])?;
    let [a, b] = lab.hosts();
    let listener = b.enter(|| TcpListener::bind((b.ipv4, 0)))??;
    let server = listener.local_addr()?;
    let _open = a.enter(|| TcpStream::connect_timeout(&server, DEADLINE))??;
    let settings = a.enter(|| setup::of_interface(a.interface))?;
    let table = settings.iter().find(|one| one.source == "ip neigh");
    let mut entries = table.into_iter().flat_map(|table| &table.values);
    let answers = entries.find(|(ip, _)| *ip == b.ipv4.to_string());
    let known = b.enter(setup::of_host)?;
    let own = known.iter().find(|one| one.source == "ip link address");
    let mut links = own.into_iter().flat_map(|links| &links.values);
    let second = links.find(|(name, _)| name != b.interface);
    let same = answers.map(|(_, hardware)| hardware) == second.map(|(_, hardware)| hardware);
    ensure(same && second.is_some(), || {
        format!("{answers:?}, {known:?}")
    })
}

fn paused_reader_stops_and_goes_on(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["paused-reader=300ms"])?;
    let mut command = Command::new("sleep");
    command.arg("1000");
    let mut reader = lab.hosts()[1].spawn(command)?;
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", reader.id()));
        stat.ok()
            .and_then(|stat| stat.rsplit(") ").next()?.chars().next())
    };
    let stopped = eventually(|| state() == Some('T'));
    let went_on = eventually(|| state().is_some_and(|state| state != 'T'));
    reader.kill()?;
    reader.wait()?;
    ensure(stopped && went_on, || {
        format!("stopped {stopped}, went on {went_on}")
    })
}

fn link_goes_down_and_comes_back(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["link-down=100ms:300ms"])?;
    let [a, b] = lab.hosts();
    let carrier = || {
        let path = format!("/sys/class/net/{}/carrier", a.interface);
        a.enter(|| std::fs::read_to_string(path))
            .and_then(|text| text)
            .ok()
    };
    ensure(eventually(|| carrier().as_deref() == Some("0\n")), || {
        "never down".to_owned()
    })?;
    ensure(eventually(|| carrier().as_deref() == Some("1\n")), || {
        "never up again".to_owned()
    })?;
    let arrived = send_numbered(&lab, 10, 100)?.len();
    ensure(arrived == 10, || {
        format!("{arrived} of 10 arrived afterwards")
    })?;
    let Some(ipv6) = b.ipv6 else {
        return Ok(());
    };
    let bound = b.enter(|| UdpSocket::bind((ipv6, 0)))?;
    ensure(bound.is_ok(), || format!("IPv6 afterwards: {bound:?}"))
}

/// What a command in that host says.
fn answer(host: &Host, mut command: Command) -> Outcome<String> {
    command.stdout(Stdio::piped());
    let output = host.spawn(command)?.wait_with_output()?;
    Ok(String::from_utf8(output.stdout)?)
}
