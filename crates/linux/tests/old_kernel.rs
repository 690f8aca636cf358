// SPDX-License-Identifier: MIT OR Apache-2.0
//! Under the old-kernel filter the data path finds no new facility, says so, and still works.

use std::error::Error;
use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use linerate_linux::seccomp::see_old_kernel;
use linerate_linux::udp::{self, Options, Receiver, ReceiverConfig, RxMode, Sender, TxMode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, netlink, socket};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

/// Starts itself again under the filter, because the filter is for ever.
#[test]
fn data_path_under_an_old_kernel() -> Result<(), Box<dyn Error>> {
    const INSIDE: &str = "LINERATE_TEST_OLD_KERNEL";
    if std::env::var_os(INSIDE).is_some() {
        return work_on_an_old_kernel();
    }
    let mut again = Command::new(std::env::current_exe()?);
    again.args(["--exact", "data_path_under_an_old_kernel", "--nocapture"]);
    again.env(INSIDE, "1");
    see_old_kernel(&mut again);
    assert!(again.status()?.success());
    Ok(())
}

fn work_on_an_old_kernel() -> Result<(), Box<dyn Error>> {
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

    let loopback = (Ipv4Addr::LOCALHOST, 0).into();
    let far = udp::bind(loopback, &Options::default())?.socket;
    let to = far.local_addr()?;
    let near = udp::connect(to, None, &Options::default())?.socket;
    let mut sender = Sender::new(near.into(), 100, 8, TxMode::Gso)?;
    let config = ReceiverConfig::new(100, 8, RxMode::Gro);
    let mut receiver = Receiver::new(far.into(), config)?;
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
