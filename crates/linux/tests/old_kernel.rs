// SPDX-License-Identifier: MIT OR Apache-2.0
//! Under the filters the data path finds no new facility, says so, and still works to the datagram.

use std::error::Error;
use std::net::Ipv4Addr;
use std::process::Command;
use std::time::{Duration, Instant};

use linerate_linux::seccomp::{Withheld, see_old_kernel, withhold};
use linerate_linux::udp::{self, Options, Receiver, ReceiverConfig, RxMode, Sender, TxMode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, netlink, socket};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn data_path_under_an_old_kernel() -> Outcome {
    let name = "data_path_under_an_old_kernel";
    under(see_old_kernel, name, work_on_an_old_kernel)
}

#[test]
fn data_path_without_batches() -> Outcome {
    let name = "data_path_without_batches";
    under(
        |command| withhold(command, &[Withheld::Batches]),
        name,
        work_without_batches,
    )
}

/// Starts the test `name` again under the filter, because the filter is for ever.
fn under(filter: fn(&mut Command), name: &str, work: fn() -> Outcome) -> Outcome {
    const INSIDE: &str = "LINERATE_TEST_OLD_KERNEL";
    if std::env::var_os(INSIDE).is_some() {
        return work();
    }
    let mut again = Command::new(std::env::current_exe()?);
    again.args(["--exact", name, "--nocapture"]);
    again.env(INSIDE, "1");
    filter(&mut again);
    assert!(again.status()?.success());
    Ok(())
}

fn work_on_an_old_kernel() -> Outcome {
    let generic = socket(
        AddressFamily::NETLINK,
        SocketType::RAW,
        Some(netlink::GENERIC),
    );
    assert_eq!(generic.err(), Some(Errno::PROTONOSUPPORT));
    assert_eq!(
        pidfd_open(getpid(), PidfdFlags::empty()).err(),
        Some(Errno::NOSYS)
    );

    let (mut sender, mut receiver) = pair(TxMode::Gso, RxMode::Gro, &Options::default())?;
    assert_eq!(
        (sender.mode(), receiver.mode()),
        (TxMode::Mmsg, RxMode::Mmsg)
    );
    assert!(
        receiver.has_timestamps(),
        "by the option of before Linux 5.1"
    );

    assert_eq!(sender.send(0..8).accepted, 8);
    let mut received = 0;
    while received < 8 {
        let batch = receiver.receive(Duration::from_secs(5))?;
        assert!(!batch.is_empty(), "only {received} of 8 arrived");
        for datagram in batch.iter() {
            assert!(datagram.kernel_ns.is_some_and(|time_ns| time_ns > 0));
            received += 1;
        }
    }
    Ok(())
}

fn work_without_batches() -> Outcome {
    for tx in [TxMode::Gso, TxMode::Mmsg, TxMode::Plain] {
        for rx in [RxMode::Gro, RxMode::Mmsg, RxMode::Plain] {
            none_is_lost_or_doubled(tx, rx).map_err(|error| format!("{tx:?} {rx:?}: {error}"))?;
        }
        each_loss_is_counted(tx)?;
    }
    Ok(())
}

fn none_is_lost_or_doubled(tx: TxMode, rx: RxMode) -> Outcome {
    let (mut sender, mut receiver) = pair(tx, rx, &Options::default())?;
    for round in 0..4_u8 {
        for slot in 0..SLOTS {
            sender.slot(slot).fill(round * SLOTS as u8 + slot as u8);
        }
        assert_eq!(sender.send(0..SLOTS).accepted, SLOTS);
    }
    let sent = 4 * SLOTS;
    let numbers = take(&mut receiver, sent)?;
    assert_eq!(numbers, Vec::from_iter(0..sent as u8));
    assert_eq!(sender.mode(), TxMode::Plain);
    // GRO is the socket's, not the call's: it stays, a message a call.
    let left = if rx == RxMode::Gro { rx } else { RxMode::Plain };
    assert_eq!(receiver.mode(), left);
    Ok(())
}

/// More than the socket holds, before anything is read.
fn each_loss_is_counted(tx: TxMode) -> Outcome {
    let small = Options {
        recv_buffer_bytes: Some(8 << 10),
        ..Options::default()
    };
    let (mut sender, mut receiver) = pair(tx, RxMode::Mmsg, &small)?;
    let mut sent = 0;
    for _ in 0..100 {
        sent += sender.send(0..SLOTS).accepted;
    }
    assert_eq!(sent, 100 * SLOTS);
    let received = take(&mut receiver, sent)?.len();
    let drops = receiver.drops().ok_or("the drops are not known")? as usize;
    assert!(received > 0 && drops > 0, "{received} {drops}");
    assert_eq!(received + drops, sent);
    Ok(())
}

/// The first byte of each datagram, until all that were sent are accounted for and no more come.
fn take(receiver: &mut Receiver, sent: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut taken = Vec::new();
    loop {
        let batch = receiver.receive(Duration::from_millis(10))?;
        let silent = batch.is_empty();
        for datagram in batch.iter() {
            assert_eq!(datagram.length, PAYLOAD_BYTES);
            taken.push(datagram.bytes[0]);
        }
        let drops = receiver.drops().ok_or("the drops are not known")? as usize;
        let complete = silent && taken.len() + drops >= sent;
        if complete || Instant::now() >= deadline {
            return Ok(taken);
        }
    }
}

fn pair(tx: TxMode, rx: RxMode, far: &Options) -> Result<(Sender, Receiver), Box<dyn Error>> {
    let far = udp::bind((Ipv4Addr::LOCALHOST, 0).into(), far)?.socket;
    let near = udp::connect(far.local_addr()?, None, &Options::default())?.socket;
    let config = ReceiverConfig::new(PAYLOAD_BYTES, SLOTS, rx);
    let receiver = Receiver::new(far.into(), config)?;
    let sender = Sender::new(near.into(), PAYLOAD_BYTES, SLOTS, tx)?;
    Ok((sender, receiver))
}

const PAYLOAD_BYTES: usize = 100;
const SLOTS: usize = 8;
