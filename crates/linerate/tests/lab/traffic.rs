// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labs and traffic for the tests.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use linerate_lab::{Fault, Host, Isolation, Lab, LabError, LabPlan};
use linerate_linux::socket_buffer;
use linerate_linux::udp::queued_bytes;

use super::verdict::{Outcome, Verdict};

/// A pair with these faults; skipped where the kernel was built without what they need.
pub(crate) fn lab_with(isolation: &Isolation, faults: &[&str]) -> Outcome<Lab> {
    open(
        isolation,
        &LabPlan {
            faults: parse(faults)?,
            ..LabPlan::default()
        },
    )
}

pub(crate) fn parse(faults: &[&str]) -> Outcome<Vec<Fault>> {
    let parsed = faults.iter().map(|fault| fault.parse());
    parsed.collect::<Result<_, _>>().map_err(Verdict::Failed)
}

pub(crate) fn open(isolation: &Isolation, plan: &LabPlan) -> Outcome<Lab> {
    Lab::open(isolation, plan).map_err(|error| match is_missing(&error) {
        true => Verdict::Skipped(error.to_string()),
        false => Verdict::Failed(error.to_string()),
    })
}

/// ENOENT (an unknown qdisc or expression), EPROTONOSUPPORT, EOPNOTSUPP.
fn is_missing(error: &LabError) -> bool {
    [2, 93, 95]
        .iter()
        .any(|errno| error.why.ends_with(&format!("(os error {errno})")))
}

/// A socket in `from` connected to one in `to`.
pub(crate) fn udp(from: &Host, to: &Host) -> Outcome<(UdpSocket, UdpSocket)> {
    let receiver = to.enter(|| UdpSocket::bind((to.ipv4, 0)))??;
    let sender = from.enter(|| UdpSocket::bind((from.ipv4, 0)))??;
    sender.connect(receiver.local_addr()?)?;
    Ok((sender, receiver))
}

/// Host A's end and host B's end of a connection.
pub(crate) fn tcp(a: &Host, b: &Host) -> Outcome<(TcpStream, TcpStream)> {
    let listener = b.enter(|| TcpListener::bind((b.ipv4, 0)))??;
    let address = listener.local_addr()?;
    let near = a.enter(|| TcpStream::connect_timeout(&address, DEADLINE))??;
    Ok((near, listener.accept()?.0))
}

/// Sends datagrams 1 … `count` of `bytes` from A to B, gently, and returns the numbers that
/// arrived, in order of arrival. Ends when all is sent and B has heard nothing for a while.
pub(crate) fn send_numbered(lab: &Lab, count: u64, bytes: usize) -> Outcome<Vec<u64>> {
    let [a, b] = lab.hosts();
    let (sender, receiver) = udp(a, b)?;
    receiver.set_read_timeout(Some(SETTLED))?;
    // A wire that got no processor for a while brings all at once.
    socket_buffer::receive(&receiver, Some(ALL_AT_ONCE_BYTES))?;
    let all_sent = AtomicBool::new(false);
    thread::scope(|scope| {
        let listener = scope.spawn(|| receive_numbers(&receiver, &all_sent));
        let sent = send_all(a, &sender, &receiver, count, bytes.max(16));
        all_sent.store(true, Ordering::Release);
        let arrived = listener.join();
        sent?;
        arrived.map_err(|_| Verdict::Failed("the listener panicked".to_owned()))
    })
}

/// A receiver that gets no processor for a while must not lose what the lab brings, nor the kernel what waits for the answer
/// to its ARP request: they are waited for.
fn send_all(
    from: &Host,
    sender: &UdpSocket,
    receiver: &UdpSocket,
    count: u64,
    bytes: usize,
) -> io::Result<()> {
    let has_room = || queued_bytes(receiver).is_none_or(|bytes| bytes <= ROOMY_BYTES);
    let mut payload = vec![0; bytes];
    for number in 1..=count {
        payload[8..16].copy_from_slice(&number.to_be_bytes());
        sender.send(&payload)?;
        if number == 1 {
            eventually(|| knows_its_neighbours(from));
        }
        if number % 16 == 0 {
            thread::sleep(Duration::from_micros(500));
            eventually(has_room);
        }
    }
    Ok(())
}

/// Whether no address is still looked for.
fn knows_its_neighbours(host: &Host) -> bool {
    let read = || std::fs::read_to_string("/proc/thread-self/net/arp").unwrap_or_default();
    let table = host.enter(read).unwrap_or_default();
    let mut entries = table.lines().skip(1);
    entries.all(|entry| entry.split_whitespace().nth(FLAGS) != Some(INCOMPLETE))
}

/// The column of `/proc/net/arp`, and its value where no answer has come.
const FLAGS: usize = 2;
const INCOMPLETE: &str = "0x0";

fn receive_numbers(receiver: &UdpSocket, all_sent: &AtomicBool) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut payload = [0; 65_536];
    loop {
        let complete = all_sent.load(Ordering::Acquire);
        match receiver.recv(&mut payload) {
            Ok(length) => {
                let number = payload[..length]
                    .get(8..16)
                    .and_then(|bytes| bytes.try_into().ok());
                numbers.extend(number.map(u64::from_be_bytes));
            }
            Err(_) if complete => return numbers,
            Err(_) => {}
        }
    }
}

/// Writes to a peer that does not read until nothing more is taken; returns the bytes.
pub(crate) fn fill(stream: &mut TcpStream) -> io::Result<usize> {
    stream.set_write_timeout(Some(SILENCE))?;
    let chunk = [0; 1024];
    let mut bytes = 0;
    loop {
        match io::Write::write(stream, &chunk) {
            Ok(taken) => bytes += taken,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(bytes),
            Err(error) => return Err(error),
        }
    }
}

/// Asks again until it is so; `false`: never within the deadline.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + DEADLINE;
    while Instant::now() < end {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    false
}

/// A counter of an interface of that host.
pub(crate) fn counter(host: &Host, name: &str) -> Outcome<u64> {
    let path = format!("/sys/class/net/{}/statistics/{name}", host.interface);
    let text = host.enter(|| std::fs::read_to_string(path))??;
    Ok(text.trim().parse()?)
}

pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
pub(crate) const SILENCE: Duration = Duration::from_millis(400);
/// After so long without a datagram none is on its way: the lab's wire is a thread, and on a busy machine it waits for its turn.
const SETTLED: Duration = Duration::from_secs(3);
/// More than 5000 datagrams of 200 bytes take; an ordinary user is granted less.
const ALL_AT_ONCE_BYTES: usize = 8 << 20;
/// Of a receive buffer of 208 KiB, the default, this leaves room for what is on its way.
const ROOMY_BYTES: u32 = 32 * 1024;
