// SPDX-License-Identifier: MIT OR Apache-2.0
//! The changes that make a host forward, in their order.

use linerate_linux::sysctl::swapped;

use super::surroundings::{LARGE_RECEIVE, Merging, Port, Surroundings, accept_advertisements};
use super::{Plane, Refused, refusal};
use crate::forwarding;
use crate::link;

/// What is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes; some may be in force already.
    pub steps: Vec<Step>,
    /// The bridge that is made.
    pub bridge: Option<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The setting, as in [`crate::Key::knob`].
    pub knob: String,
    /// The interface, if it is a setting of one.
    pub interface: Option<String>,
    /// The value.
    pub value: String,
}

/// What makes a host forward.
///
/// # Errors
/// An interface is needed for something else.
pub fn plan(plane: Plane, around: &Surroundings) -> Result<Plan, Refused> {
    if let Some(refused) = refusal::of(plane, around) {
        return Err(refused);
    }
    let bridge = (plane == Plane::Bridge).then(|| unused_name(around));
    let mut steps = offloads(plane, around);
    steps.extend(up(around));
    if let Some(name) = &bridge {
        steps.extend(bridged(name, around));
    }
    if plane.routes() {
        steps.extend(routed_ipv4(around));
        steps.extend(routed_ipv6(around));
    }
    Ok(Plan {
        steps,
        bridge,
        notes: notes(plane, around),
    })
}

/// What the kernel would switch off on the side, and leave off.
fn offloads(plane: Plane, around: &Surroundings) -> Vec<Step> {
    let everywhere = plane.routes() && !is_router(around) && around.forwarding_ipv6.is_some();
    let is_switched_off = |one: &&Merging| match one.feature {
        LARGE_RECEIVE => one.is_below_port || everywhere,
        _ => one.is_below_port && plane.is_xdp(),
    };
    let chosen = around.merging.iter().filter(is_switched_off);
    let off = chosen.map(|one| {
        of(
            &one.interface,
            &format!("ethtool -K {}", one.feature),
            "off",
        )
    });
    off.collect()
}

fn up(around: &Surroundings) -> impl Iterator<Item = Step> {
    let down = around.ports.iter().filter(|port| !port.is_up);
    down.map(|port| of(&port.name, "ip link state", link::UP))
}

fn bridged(name: &str, around: &Surroundings) -> Vec<Step> {
    let made = here(format!("ip link bridge {name}"), link::PRESENT);
    let ports = around.ports.iter();
    let under = ports.map(|port| of(&port.name, "ip link master", name));
    std::iter::once(made).chain(under).collect()
}

/// The interface at which a packet arrives decides (`IN_DEV_FORWARD`).
fn routed_ipv4(around: &Surroundings) -> impl Iterator<Item = Step> {
    let ports = around.ports.iter();
    ports.map(|port| here(setting("ipv4", port), "1"))
}

/// All interfaces decide; XDP asks the interface as well.
fn routed_ipv6(around: &Surroundings) -> Vec<Step> {
    let Some(value) = &around.forwarding_ipv6 else {
        return Vec::new();
    };
    let differs = |port: &&Port| {
        let off = format!("{}=0", swapped(&port.name));
        value.split(' ').any(|word| word == off)
    };
    let switched: Vec<Step> = match is_router(around) {
        false => vec![here(format!("sysctl {}", forwarding::ALL), "1")],
        true => {
            let ports = around.ports.iter().filter(differs);
            ports.map(|port| here(setting("ipv6", port), "1")).collect()
        }
    };
    let accept = around.advertised.iter().filter(|_| !switched.is_empty());
    let accept = accept.map(|name| here(accept_advertisements(name), "2"));
    accept.chain(switched.iter().cloned()).collect()
}

/// Whether IPv6 is forwarded already.
fn is_router(around: &Surroundings) -> bool {
    let all = around.forwarding_ipv6.as_deref();
    all.is_some_and(|value| !value.starts_with('0'))
}

fn setting(family: &str, port: &Port) -> String {
    format!(
        "sysctl net.{family}.conf.{}.forwarding",
        swapped(&port.name)
    )
}

fn notes(plane: Plane, around: &Surroundings) -> Vec<String> {
    let of_port = |port: &Port| {
        let (name, address) = (&port.name, port.configured().next());
        match (plane, address) {
            (Plane::Bridge, Some(address)) => Some(format!(
                "{name} has the address {address}, which does not answer while the bridge has the interface"
            )),
            (Plane::Route | Plane::XdpRoute, None) => Some(format!(
                "{name} has no address: nothing is routed through it before `ip address add ADDRESS/PREFIX dev {name}`"
            )),
            _ => None,
        }
    };
    around.ports.iter().filter_map(of_port).collect()
}

/// The first name that no interface has.
fn unused_name(around: &Surroundings) -> String {
    let name = |number| format!("lr-br{number}");
    let taken = (0..around.names.len()).find(|number| !around.names.contains(&name(*number)));
    name(taken.unwrap_or(around.names.len()))
}

fn of(interface: &str, knob: &str, value: &str) -> Step {
    Step {
        interface: Some(interface.to_owned()),
        ..here(knob.to_owned(), value)
    }
}

fn here(knob: String, value: &str) -> Step {
    Step {
        knob,
        interface: None,
        value: value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::surroundings::HARDWARE_GRO;
    use super::*;
    use crate::knob::is_knob;

    fn port(name: &str) -> Port {
        Port {
            name: name.to_owned(),
            is_up: true,
            is_ethernet: true,
            addresses: vec!["198.18.0.1".parse().unwrap()],
            ..Port::default()
        }
    }

    fn around() -> Surroundings {
        let merging = |interface: &str, feature, is_below_port| Merging {
            interface: interface.to_owned(),
            feature,
            is_below_port,
        };
        Surroundings {
            ports: [port("eth1"), port("eth2.7")],
            names: ["lo", "lr-br0", "eth0", "eth1", "eth2", "eth2.7"]
                .map(str::to_owned)
                .into(),
            merging: vec![
                merging("eth0", LARGE_RECEIVE, false),
                merging("eth2", LARGE_RECEIVE, true),
                merging("eth2", HARDWARE_GRO, true),
            ],
            forwarding_ipv6: Some("0 eth3=1".to_owned()),
            advertised: vec!["eth0".to_owned()],
        }
    }

    fn shown(plane: Plane, around: &Surroundings) -> Vec<String> {
        let steps = plan(plane, around).unwrap().steps.into_iter();
        let shown = |step: Step| {
            assert!(is_knob(&step.knob), "{}", step.knob);
            let of = step
                .interface
                .map_or(String::new(), |name| format!(" of {name}"));
            format!("{}{of} = {}", step.knob, step.value)
        };
        steps.map(shown).collect()
    }

    #[test]
    fn a_bridge_has_an_unused_name_and_ports_that_are_up() {
        let mut around = around();
        around.ports[0].is_up = false;
        assert_eq!(
            shown(Plane::Bridge, &around),
            [
                "ethtool -K large-receive-offload of eth2 = off",
                "ip link state of eth1 = up",
                "ip link bridge lr-br1 = present",
                "ip link master of eth1 = lr-br1",
                "ip link master of eth2.7 = lr-br1",
            ]
        );
        let plan = plan(Plane::Bridge, &around).unwrap();
        assert_eq!(plan.bridge.as_deref(), Some("lr-br1"));
        assert!(plan.notes[0].contains("eth1 has the address 198.18.0.1"));
    }

    /// The kernel switches large-receive-offload off everywhere, and deletes advertised routes.
    #[test]
    fn what_forwarding_changes_on_the_side_is_changed_before() {
        assert_eq!(
            shown(Plane::Route, &around()),
            [
                "ethtool -K large-receive-offload of eth0 = off",
                "ethtool -K large-receive-offload of eth2 = off",
                "sysctl net.ipv4.conf.eth1.forwarding = 1",
                "sysctl net.ipv4.conf.eth2/7.forwarding = 1",
                "sysctl net.ipv6.conf.eth0.accept_ra = 2",
                "sysctl net.ipv6.conf.*.forwarding = 1",
            ]
        );
    }

    #[test]
    fn a_router_stays_one_and_xdp_asks_the_interface() {
        let mut around = around();
        around.forwarding_ipv6 = Some("1 eth2/7=0".to_owned());
        assert_eq!(
            shown(Plane::XdpRoute, &around),
            [
                "ethtool -K large-receive-offload of eth2 = off",
                "ethtool -K rx-gro-hw of eth2 = off",
                "sysctl net.ipv4.conf.eth1.forwarding = 1",
                "sysctl net.ipv4.conf.eth2/7.forwarding = 1",
                "sysctl net.ipv6.conf.eth0.accept_ra = 2",
                "sysctl net.ipv6.conf.eth2/7.forwarding = 1",
            ]
        );
        for (value, ipv6) in [(Some("1"), 0), (None, 0), (Some("0"), 2)] {
            around.forwarding_ipv6 = value.map(str::to_owned);
            let shown = shown(Plane::Route, &around);
            let steps = shown.iter().filter(|step| step.contains("ipv6"));
            assert_eq!(steps.count(), ipv6, "{value:?}: {shown:?}");
        }
        around.ports[1].addresses = vec!["fe80::1".parse().unwrap()];
        let notes = plan(Plane::Route, &around).unwrap().notes;
        assert!(notes[0].starts_with("eth2.7 has no address"), "{notes:?}");
    }

    #[test]
    fn a_wire_of_xdp_needs_its_ports_only() {
        assert_eq!(
            shown(Plane::XdpBridge, &around()),
            [
                "ethtool -K large-receive-offload of eth2 = off",
                "ethtool -K rx-gro-hw of eth2 = off",
            ]
        );
    }

    #[test]
    fn an_interface_that_is_needed_is_refused_with_what_to_do() {
        type Spoil = fn(&mut Port);
        let master: Spoil = |port| port.master = Some("br0".to_owned());
        let session: Spoil = |port| port.carries = Some("the route to 192.0.2.1".to_owned());
        let default: Spoil = |port| port.has_default_route = true;
        let tunnel: Spoil = |port| port.is_ethernet = false;
        let down: Spoil = |port| {
            port.is_up = false;
            port.addresses.push("2001:2::1".parse().unwrap());
        };
        let all = [
            Plane::Bridge,
            Plane::Route,
            Plane::XdpBridge,
            Plane::XdpRoute,
        ];
        for (spoil, refused, why, attempt) in [
            (master, [true; 4], "belongs to br0", "nomaster"),
            (
                session,
                [true, false, true, true],
                "this session",
                "console",
            ),
            (
                default,
                [true, false, true, false],
                "default route",
                "ip route del",
            ),
            (
                tunnel,
                [true, false, true, true],
                "no Ethernet",
                "an Ethernet interface",
            ),
            (
                down,
                [true; 4],
                "delete its address 2001:2::1",
                "ip link set dev eth2.7 up",
            ),
        ] {
            let mut around = around();
            spoil(&mut around.ports[1]);
            for (plane, refused) in all.into_iter().zip(refused) {
                match plan(plane, &around) {
                    Ok(_) => assert!(!refused, "{plane:?}: {why}"),
                    Err(said) => {
                        assert!(refused && said.why.contains(why), "{plane:?}: {said:?}");
                        assert!(said.why.contains("eth2.7") && said.attempt.contains(attempt));
                    }
                }
            }
        }
        let twice = Surroundings {
            ports: [port("eth1"), port("eth1")],
            ..around()
        };
        assert!(plan(Plane::Bridge, &twice).is_err());
    }
}
