// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must not be forwarded through: an interface that is needed for something else.

use std::net::IpAddr;

use super::surroundings::Surroundings;
use super::{Plane, Port};

/// Why nothing is set up, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub why: String,
    /// What to try.
    pub attempt: String,
}

/// The first reason.
pub(super) fn of(plane: Plane, around: &Surroundings) -> Option<Refused> {
    let [one, other] = around.port_names();
    if one == other {
        return refused(format!("{one} is given twice"), "two different interfaces");
    }
    around.ports.iter().find_map(|port| of_port(plane, port))
}

fn of_port(plane: Plane, port: &Port) -> Option<Refused> {
    not_a_port(plane, port)
        .or_else(|| in_use(port))
        .or_else(|| needed(plane, port))
        .or_else(|| would_lose(port))
}

fn not_a_port(plane: Plane, port: &Port) -> Option<Refused> {
    if port.is_ethernet || plane == Plane::Route {
        return None;
    }
    let why = format!("{} has no Ethernet address", port.name);
    refused(why, "an Ethernet interface, or `linerate dataplane route`")
}

fn in_use(port: &Port) -> Option<Refused> {
    let (name, master) = (&port.name, port.master.as_ref()?);
    let why = format!("{name} belongs to {master}");
    refused(
        why,
        format!("another interface, or ip link set dev {name} nomaster"),
    )
}

/// A bridge takes all that arrives; a driver may restart the link when an XDP program is attached.
fn needed(plane: Plane, port: &Port) -> Option<Refused> {
    let name = &port.name;
    if let Some(carries) = port.carries.as_ref().filter(|_| plane != Plane::Route) {
        let why = format!("{name} carries this session ({carries}), which would be cut");
        return refused(why, "another interface, or from the console");
    }
    if port.has_default_route && !plane.routes() {
        let why = format!("{name} has the default route of this host, which would be cut off");
        return refused(
            why,
            format!("another interface, or ip route del default dev {name}"),
        );
    }
    None
}

/// To take an interface down deletes its IPv6 addresses, and nothing puts them back.
fn would_lose(port: &Port) -> Option<Refused> {
    let name = &port.name;
    let mut addresses = port.configured().filter(|address| address.is_ipv6());
    let address: &IpAddr = addresses.next().filter(|_| !port.is_up)?;
    let why =
        format!("{name} is down, and to take it down again would delete its address {address}");
    refused(why, format!("ip link set dev {name} up"))
}

fn refused(why: String, attempt: impl Into<String>) -> Option<Refused> {
    let attempt = attempt.into();
    Some(Refused { why, attempt })
}
