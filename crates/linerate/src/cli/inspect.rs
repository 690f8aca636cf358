// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate inspect [IFACE]`: how this host is set up and what looks wrong with it, without sending
//! a packet.

use std::io::{self, ErrorKind};

use linerate_diagnose::explain::explain;
use linerate_linux::management::Management;
use linerate_linux::nic;
use linerate_model::order::Gather as _;
use linerate_model::output::{Fact, LinkKind, Output};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::setting::Setting;
use linerate_report::Detail;

use super::args::InspectArgs;
use super::document::document;
use super::{session, site_rules};
use crate::exit::Exit;
use linerate_endpoint::sampler;
use linerate_model::failure::Failure;

/// Runs the command. What was found is an answer, whatever it says: exit 0.
pub(super) fn run(args: &InspectArgs) -> Exit {
    session::ended(
        "inspect",
        args.document.json,
        inspected(args).and_then(|output| args.document.print(&output, detail(args))),
    )
}

/// One screen, unless more is asked for.
fn detail(args: &InspectArgs) -> Detail {
    match args.verbose || args.facts {
        true => Detail::Full,
        false => Detail::Answer,
    }
}

fn inspected(args: &InspectArgs) -> Result<Output, Failure> {
    let rules = site_rules::with(args.rules.as_deref())?;
    let names = interfaces(args.interface.as_deref())?;
    let mut run = Run::begin("inspect", env!("CARGO_PKG_VERSION"), &[]);
    run.hosts = vec![sampler::this_host(&names)];
    run.settings = sampler::setup(&names);
    if let (Some(name), Some(kind)) = (args.interface.as_deref(), &args.cable_test) {
        let test = CableTest::of(kind);
        run.settings
            .push(cable_test(name, &test, args.allow_management)?);
    }
    let mut output = document("inspect");
    output.hosts.clone_from(&run.hosts);
    output.settings.clone_from(&run.settings);
    let record = Record::of_run(run, sampler::totals(&names));
    explain(&record, &rules).add_to(&mut output, true);
    output.settings.extend(tcp_memory(&output.facts));
    output
        .settings
        .extend(names.iter().filter_map(|name| addresses(name)));
    if !args.facts {
        output.facts.clear();
    }
    Ok(output)
}

/// By name.
type Readings = Vec<(String, String)>;

/// What a PHY can measure of its cable.
struct CableTest {
    /// As `ethtool` calls it.
    source: &'static str,
    run: fn(&str) -> io::Result<Readings>,
}

impl CableTest {
    fn of(kind: &str) -> Self {
        match kind {
            "tdr" => Self {
                source: "ethtool --cable-test-tdr",
                run: nic::cable::reflected,
            },
            _ => Self {
                source: "ethtool --cable-test",
                run: nic::cable::test,
            },
        }
    }
}

/// The state of each pair of the cable, or what it reflects. The link is down meanwhile, so that of the session is left alone.
fn cable_test(name: &str, test: &CableTest, may_interrupt: bool) -> Result<Setting, Failure> {
    let what = || format!("test the cable of {name}");
    let carried = Management::of_session().by(name).filter(|_| !may_interrupt);
    if let Some(why) = carried {
        let why = format!("it takes down the link that carries this session ({why})");
        return Err(Failure::usage(what(), why).hint("--allow-management, from the console"));
    }
    let values = (test.run)(name).map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::Unsupported => "only some copper PHYs can; another cable is a test, too",
            ErrorKind::PermissionDenied => "run it as root",
            _ => "`dmesg | grep -i phy` may say more",
        };
        Failure::measuring(what(), error).hint(hint)
    })?;
    Ok(Setting {
        source: test.source.to_owned(),
        interface: Some(name.to_owned()),
        values: values.into_iter().gather(),
        ..Setting::default()
    })
}

/// What it is called on the wire, and in IP: rules do not ask.
fn addresses(name: &str) -> Option<Setting> {
    let link = nic::link(name).ok()?;
    let held = nic::addresses_of(link.index).ok()?;
    let bytes: Vec<String> = link
        .address
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let hardware = (!bytes.is_empty()).then(|| bytes.join(":"));
    let family = |is_v4: bool| {
        let of = held
            .iter()
            .filter(|(address, _)| address.is_ipv4() == is_v4);
        let texts: Vec<String> = of.map(|(ip, prefix)| format!("{ip}/{prefix}")).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    };
    let values = [
        ("link/ether", hardware),
        ("inet", family(true)),
        ("inet6", family(false)),
    ];
    let values = values
        .into_iter()
        .filter_map(|(key, texts)| Some((key.to_owned(), texts?)));
    Some(Setting {
        source: "ip address".to_owned(),
        interface: Some(name.to_owned()),
        values: values.gather(),
        ..Setting::default()
    })
}

/// Whether TCP's memory limits are the kernel's default.
fn tcp_memory(facts: &[Fact]) -> Option<Setting> {
    let fact = |name: &str| facts.iter().find(|fact| fact.name == name);
    let set_by = fact("tcp_mem_set_by")?.value.to_string();
    let said = match (set_by.as_str(), fact("tcp_mem_from_megabytes")) {
        ("kernel", Some(free)) => format!(
            "the kernel's default for {} MB of free memory at boot",
            free.value
        ),
        ("kernel", None) => "the kernel's default".to_owned(),
        _ => "not the kernel's default: it was changed".to_owned(),
    };
    Some(Setting {
        source: "tcp_mem".to_owned(),
        values: [("net.ipv4.tcp_mem".to_owned(), said)].into(),
        ..Setting::default()
    })
}

/// The one that was named, or all that are up.
fn interfaces(named: Option<&str>) -> Result<Vec<String>, Failure> {
    let what = "list the network interfaces";
    if let Some(name) = named {
        nic::link(name).map_err(|error| {
            let why = match error.kind() {
                ErrorKind::NotFound => "this host has no interface of this name".to_owned(),
                _ => error.to_string(),
            };
            Failure::usage(format!("inspect {name}"), why).hint("`ip -br link` lists them")
        })?;
        return Ok(vec![name.to_owned()]);
    }
    let all = nic::list().map_err(|error| Failure::measuring(what, error))?;
    let shown = all
        .into_iter()
        .filter(|link| link.link_kind != LinkKind::Loopback && link.up);
    Ok(shown.map(|link| link.name).collect())
}
