// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is chosen where a sandbox withholds something, and what is reported.

use std::process::{Command, ExitCode};

use linerate_linux::port::{Backend, Chosen, OpenError, Wanted, open};
use linerate_linux::seccomp::{Withheld, withhold};

use crate::cable::{Cable, with};

struct Case {
    withheld: &'static [Withheld],
    /// What is asked for.
    backend: Option<Backend>,
    /// What sends and what receives.
    had: [Backend; 2],
    /// What is reported, in this order, among other things.
    reported: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        withheld: &[Withheld::Bpf],
        backend: Some(Backend::AfXdpCopy),
        had: [Backend::AfXdpCopy, Backend::AfPacketRing],
        reported: &["af_xdp_copy receiving: create map: Operation not permitted"],
    },
    Case {
        withheld: &[Withheld::Xdp],
        backend: None,
        had: [Backend::AfPacketRing, Backend::AfPacketRing],
        reported: &[
            "af_xdp_zero_copy sending",
            "af_xdp_copy sending: socket: Address family not",
        ],
    },
    Case {
        withheld: &[Withheld::Xdp, Withheld::SendRing],
        backend: None,
        had: [Backend::AfPacketMmsg, Backend::AfPacketRing],
        reported: &[
            "af_xdp_copy sending",
            "af_packet_ring sending: open: Cannot allocate memory",
        ],
    },
];

pub(crate) fn what_is_withheld_is_done_without() {
    let no_xdp = chosen(&with(Backend::AfXdpCopy)).err();
    for case in CASES {
        if let (Some(why), Some(_)) = (&no_xdp, case.backend) {
            println!("skipped: {why}");
            continue;
        }
        let name = case.backend.map_or("", Backend::name);
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.env(POOR, name);
        withhold(&mut again, case.withheld);
        assert_reported(case.had, case.reported, &output(&mut again));
    }
}

/// A user namespace's root may not lock more memory than others; the machine's may.
pub(crate) fn what_may_not_be_locked() {
    let mut again = Command::new("sh");
    again.args(["-c", "ulimit -l 0 && exec \"$0\""]);
    again.arg(std::env::current_exe().unwrap()).env(POOR, "");
    let said = output(&mut again);
    if said.starts_with("af_xdp_copy") || said.contains("af_xdp_copy sending: socket") {
        println!("skipped: memory may be locked without limit here, or there is no AF_XDP");
        return;
    }
    let had = [Backend::AfPacketRing, Backend::AfPacketRing];
    let reported = ["af_xdp_copy sending: register memory: No buffer space"];
    assert_reported(had, &reported, &said);
}

fn output(again: &mut Command) -> String {
    let output = again.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn assert_reported(had: [Backend; 2], reported: &[&str], said: &str) {
    let [send, receive] = had;
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some(&*format!("{send} {receive}")), "{said}");
    for expected in reported {
        assert!(
            lines.any(|line| line.starts_with(expected)),
            "{expected}: {said}"
        );
    }
}

/// What a port is opened with, and what was refused before, a line each.
pub(crate) fn tell_what_is_had(backend: &str) -> ExitCode {
    let wanted = Wanted {
        backend: Backend::named(backend),
        ..Wanted::default()
    };
    let chosen = chosen(&wanted).unwrap();
    println!("{} {}", chosen.send, chosen.receive);
    chosen.refused.iter().for_each(|one| println!("{one}"));
    ExitCode::SUCCESS
}

pub(crate) fn where_tags_are_taken_out() {
    let tagged = Wanted {
        tagged: true,
        ..with(Backend::AfXdpCopy)
    };
    let chosen = match chosen(&tagged) {
        Ok(chosen) => chosen,
        Err(refused) => {
            println!("skipped: {refused}");
            return;
        }
    };
    assert_eq!(chosen.send, Backend::AfXdpCopy);
    assert_eq!(
        chosen.receive,
        Backend::AfPacketRing,
        "a veth takes them out"
    );
    let why = chosen.refused[0].to_string();
    assert!(why.ends_with("ethtool -K far rxvlan off"), "{why}");
}

fn chosen(wanted: &Wanted) -> Result<Chosen, OpenError> {
    let cable = Cable::new();
    let opened = cable.host("far").run(|| open("far", wanted)).unwrap();
    opened.map(|(_, _, chosen)| chosen)
}

pub(crate) const POOR: &str = "LINERATE_TEST_PORTS_POOR";
