// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab's kernel interfaces, on real namespaces. Runs once in a user namespace and once as
//! what it is, which for root means without one.
//!
//! libtest starts threads, and a process with threads cannot enter a user namespace: so this
//! harness is its own. It answers `--list` and takes a name to filter by, as libtest does.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]

use std::error::Error;
use std::net::{IpAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::time::Duration;

use linerate_linux::netns::NetNs;
use linerate_linux::rtnl::Rtnl;
use linerate_linux::sandbox::{self, Privilege};

type Outcome = Result<(), Box<dyn Error>>;

type Test = (&'static str, fn() -> Outcome);

const TESTS: &[Test] = &[
    (
        "datagram_crosses_a_veth_in_both_families",
        datagram_crosses_a_veth,
    ),
    ("command_starts_inside", command_starts_inside),
];

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let wanted = std::env::var_os(IN_A_USER_NAMESPACE).is_some();
    let other_way = (!wanted).then(again_in_a_user_namespace);
    let asked = wanted.then_some(Privilege::UserNamespace);
    let here = match sandbox::enter(asked) {
        Ok(privilege) => run_all(privilege),
        Err(refusal) => {
            println!(
                "skipped: {} tests: {refusal}; {}",
                TESTS.len(),
                refusal.remedy()
            );
            ExitCode::SUCCESS
        }
    };
    if other_way == Some(false) {
        ExitCode::FAILURE
    } else {
        here
    }
}

/// The same tests without the privilege that the caller may have.
fn again_in_a_user_namespace() -> bool {
    let program = std::env::current_exe();
    let mut again = Command::new(program.unwrap_or_default());
    again
        .args(std::env::args().skip(1))
        .env(IN_A_USER_NAMESPACE, "1");
    again.status().is_ok_and(|status| status.success())
}

const IN_A_USER_NAMESPACE: &str = "LINERATE_TEST_USER_NAMESPACE";

fn run_all(privilege: Privilege) -> ExitCode {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let chosen = TESTS
        .iter()
        .filter(|(name, _)| filter.as_ref().is_none_or(|f| name.contains(f)));
    let mut failed = 0;
    for (name, test) in chosen {
        let verdict = match catch_unwind(AssertUnwindSafe(test)) {
            Ok(Ok(())) => "ok".to_owned(),
            Ok(Err(error)) => format!("FAILED: {error}"),
            Err(_) => "FAILED: panicked".to_owned(),
        };
        println!("test {privilege:?}::{name} ... {verdict}");
        failed += usize::from(verdict != "ok");
    }
    ExitCode::from(u8::from(failed > 0))
}

fn datagram_crosses_a_veth() -> Outcome {
    let (a, b) = pair()?;
    for (from, to) in [("198.18.0.1", "198.18.0.2"), ("2001:2::1", "2001:2::2")] {
        let (from, to): (IpAddr, IpAddr) = (from.parse()?, to.parse()?);
        let receiver = b.run(|| UdpSocket::bind((to, 0)))??;
        receiver.set_read_timeout(Some(Duration::from_secs(5)))?;
        let sender = a.run(|| UdpSocket::bind((from, 0)))??;
        sender.send_to(b"across", receiver.local_addr()?)?;
        let mut bytes = [0; 16];
        let (length, source) = receiver.recv_from(&mut bytes)?;
        assert_eq!(
            (&bytes[..length], source),
            (&b"across"[..], sender.local_addr()?)
        );
    }
    Ok(())
}

fn command_starts_inside() -> Outcome {
    let (a, _b) = pair()?;
    let mut list = Command::new("ls");
    list.arg("/sys/class/net");
    a.start_inside(&mut list)?;
    let names = String::from_utf8(list.output()?.stdout)?;
    assert_eq!(names.split_whitespace().collect::<Vec<_>>(), ["eth0", "lo"]);
    Ok(())
}

/// Two hosts on a plain veth.
fn pair() -> Result<(NetNs, NetNs), Box<dyn Error>> {
    let (a, b) = (NetNs::create()?, NetNs::create()?);
    Rtnl::open()?.veth(("eth0", &a), ("eth0", &b))?;
    for (host, v4, v6) in [
        (&a, "198.18.0.1", "2001:2::1"),
        (&b, "198.18.0.2", "2001:2::2"),
    ] {
        let (v4, v6) = (v4.parse()?, v6.parse()?);
        host.run(|| -> Result<(), Box<dyn Error + Send + Sync>> {
            let mut net = Rtnl::open()?;
            net.set_up("lo", true)?;
            net.add_address("eth0", v4, 24)?;
            net.add_address("eth0", v6, 64)?;
            Ok(net.set_up("eth0", true)?)
        })?
        .map_err(|error| error.to_string())?;
    }
    Ok((a, b))
}
