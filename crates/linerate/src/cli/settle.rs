// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is settled before a command runs: HOST:PORT is a host and a port, HOST%INTERFACE a host and an interface,
//! and with --logfile what would be printed goes there.

use std::net::Ipv6Addr;
use std::path::Path;

use linerate_model::failure::Failure;

use super::args::{Command, LabShape, OutputFlags, ServerFlags};
use super::values;

/// Settles it.
///
/// # Errors
/// A port that is none, or is named twice; a log that cannot be written.
pub(super) fn settle(command: &mut Command) -> Result<(), Failure> {
    shape_of_a_lab(command)?;
    if let Some(server) = server_of(command) {
        reach(server)?;
    }
    match output_of(command).and_then(|output| output.logfile.as_deref()) {
        Some(log) => write_to(log),
        None => Ok(()),
    }
}

/// Refuses the lab's options where there is no lab: they would have no effect. (clap requires nothing that conflicts with
/// what is given, such as HOST. A plan of `matrix` may have the lab, so that one asks by itself.)
fn shape_of_a_lab(command: &mut Command) -> Result<(), Failure> {
    match command {
        Command::Forward(args) => {
            needs_lab(args.lab.is_some(), &[("--fault", !args.fault.is_empty())])
        }
        Command::NicCheck(args) => {
            let given = [("--fault", !args.fault.is_empty()), ("--veth", args.veth)];
            needs_lab(args.lab, &given)
        }
        Command::Ab(args) => needs_lab(args.lab, &options(&args.shape)),
        _ => Ok(()),
    }
}

fn options(shape: &LabShape) -> [(&'static str, bool); 3] {
    [
        ("--fault", !shape.fault.is_empty()),
        ("--topology", shape.topology.is_some()),
        ("--mtu", shape.mtu.is_some()),
    ]
}

fn needs_lab(is_lab: bool, given: &[(&str, bool)]) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if !is_lab => Err(Failure::usage(
            "understand the command line",
            format!("{option} changes the lab, and --lab is not given"),
        )
        .hint("--lab in place of HOST or the interfaces")),
        _ => Ok(()),
    }
}

/// Takes apart what HOST names.
///
/// # Errors
/// As [`settle`].
pub(super) fn reach(flags: &mut ServerFlags) -> Result<(), Failure> {
    needs_lab(flags.lab.lab, &options(&flags.lab.shape))?;
    let Some(given) = flags.host.take() else {
        return Ok(());
    };
    let fail = |why: &str| {
        Failure::usage(format!("reach {given}"), why)
            .hint("HOST, HOST:PORT or [IPV6-ADDRESS]:PORT, with a port from 1 to 65535")
    };
    let (host, port) = parts(&given);
    if let Some(port) = port {
        let port: u16 = port.parse().unwrap_or(0);
        match flags.target.port.replace(port) {
            _ if port == 0 => return Err(fail("the text after the colon is not a port")),
            Some(other) if other != port => {
                return Err(fail(&format!("-p gives another port, {other}")));
            }
            _ => {}
        }
    }
    let (host, device) = device(host);
    if let Some(device) = device {
        let device = values::interface(device).map_err(|why| fail(&why))?;
        flags.target.bind_dev.get_or_insert(device);
    }
    flags.host = Some(host.to_owned());
    Ok(())
}

/// Host and port. An IPv6 address has colons of its own: with a port it stands in brackets (RFC 3986, 3.2.2).
fn parts(text: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (host, rest.strip_prefix(':'));
    }
    match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (text, None),
    }
}

/// iperf3's HOST%INTERFACE is HOST and --bind-dev; that of a link-local address is part of the address.
fn device(text: &str) -> (&str, Option<&str>) {
    let is_link_local = |host: &str| {
        (host.parse::<Ipv6Addr>()).is_ok_and(|address| address.is_unicast_link_local())
    };
    match text.split_once('%') {
        Some((host, device)) if !is_link_local(host) => (host, Some(device)),
        _ => (text, None),
    }
}

fn write_to(log: &Path) -> Result<(), Failure> {
    crate::output::log::open(log).map_err(|error| {
        Failure::usage(format!("write the log {}", log.display()), error)
            .hint("a --logfile in a directory that exists")
    })
}

/// The flags of a command that measures against a server.
pub(super) fn server_of(command: &mut Command) -> Option<&mut ServerFlags> {
    match command {
        Command::Check(args) => Some(&mut args.server),
        Command::Tcp(args) => Some(&mut args.server),
        Command::Udp(args) => Some(&mut args.server),
        Command::Sweep(args) => Some(&mut args.server),
        Command::Cost(args) => Some(&mut args.server),
        Command::Tune(args) => {
            Some(&mut args.campaign.server).filter(|server| server.host.is_some())
        }
        _ => None,
    }
}

fn output_of(command: &mut Command) -> Option<&OutputFlags> {
    match command {
        Command::Forward(args) => Some(&args.output),
        other => server_of(other).map(|server| &server.output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::Parser;

    fn reached(words: &str) -> Result<(String, Option<u16>, Option<String>), Failure> {
        let line = format!("linerate tcp {words}");
        let mut cli = Cli::try_parse_from(line.split(' ')).unwrap();
        settle(&mut cli.command)?;
        let server = server_of(&mut cli.command).unwrap();
        let host = server.host.clone().unwrap();
        Ok((host, server.target.port, server.target.bind_dev.clone()))
    }

    #[test]
    fn an_option_of_the_lab_needs_the_lab() {
        for words in ["h --fault loss", "h --topology route", "h --mtu 1400"] {
            let failure = reached(words).unwrap_err();
            assert!(failure.why.contains("--lab is not given"), "{failure}");
        }
        let mut cli = Cli::try_parse_from(["linerate", "tcp", "--lab", "--fault", "loss"]).unwrap();
        assert!(settle(&mut cli.command).is_ok());
    }

    #[test]
    fn a_host_may_name_port_and_interface() {
        for (words, host, port, device) in [
            ("h", "h", None, None),
            ("h:5300", "h", Some(5300), None),
            ("192.0.2.7:5300 -p 5300", "192.0.2.7", Some(5300), None),
            ("2001:db8::7", "2001:db8::7", None, None),
            ("[2001:db8::7]", "2001:db8::7", None, None),
            ("[fe80::1%eth0]:80", "fe80::1%eth0", Some(80), None),
            ("192.0.2.7%eth0 -p 9", "192.0.2.7", Some(9), Some("eth0")),
            ("h%eth0 --bind-dev eth1", "h", None, Some("eth1")),
        ] {
            let wanted = (host.to_owned(), port, device.map(str::to_owned));
            assert_eq!(reached(words), Ok(wanted), "{words}");
        }
    }

    #[test]
    fn a_port_that_is_none_is_refused() {
        for (words, why) in [
            ("h:0", "not a port"),
            ("h:http", "not a port"),
            ("h:65536", "not a port"),
            ("h:5300 -p 5301", "another port, 5301"),
            ("h%", "interface name"),
        ] {
            let refused = reached(words).unwrap_err();
            assert!(refused.why.contains(why), "{words}: {}", refused.why);
        }
    }
}
