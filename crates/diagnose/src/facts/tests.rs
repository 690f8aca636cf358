// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use linerate_model::output::Role;

fn pause(host: Option<Role>, interface: Option<&str>, test: Option<&str>, value: &str) -> Fact {
    Fact {
        host,
        interface: interface.map(str::to_owned),
        test_id: test.map(str::to_owned),
        ..fact("pause_tx", value, "ethtool -a").unwrap()
    }
}

fn viewpoint() -> Viewpoint {
    Viewpoint {
        test_id: Some("udp-1".to_owned()),
        host: Some(Role::Remote),
        interface: Some("eth1".to_owned()),
        peer: Some((Role::Local, Some("eth0".to_owned()))),
        ..Viewpoint::default()
    }
}

fn said(facts: &Facts, name: &str) -> Option<String> {
    facts
        .get(name, &viewpoint())
        .map(|fact| fact.value.to_string())
}

fn from_list(all: impl IntoIterator<Item = Fact>) -> Facts {
    let mut facts = Facts::default();
    all.into_iter().for_each(|fact| facts.add(fact));
    facts
}

#[test]
fn the_most_special_fact_counts() {
    let mut facts = from_list([pause(None, None, None, "anywhere")]);
    assert_eq!(said(&facts, "pause_tx").as_deref(), Some("anywhere"));
    facts.add(pause(Some(Role::Remote), Some("eth1"), None, "eth1"));
    assert_eq!(said(&facts, "pause_tx").as_deref(), Some("eth1"));
    facts.add(pause(
        Some(Role::Remote),
        Some("eth1"),
        Some("udp-1"),
        "in the test",
    ));
    assert_eq!(said(&facts, "pause_tx").as_deref(), Some("in the test"));
}

#[test]
fn what_is_of_another_place_is_not_known_here() {
    let facts = from_list([
        pause(Some(Role::Local), Some("eth0"), None, "eth0"),
        pause(Some(Role::Remote), Some("eth2"), None, "eth2"),
        pause(None, None, Some("udp-2"), "other test"),
    ]);
    assert_eq!(said(&facts, "pause_tx"), None);
    assert_eq!(said(&facts, "peer.pause_tx").as_deref(), Some("eth0"));
}

#[test]
fn no_number_is_no_fact() {
    let facts = from_list(fact("loss_ratio", f64::NAN, ""));
    assert_eq!(facts.list().len(), 0);
}

#[test]
fn every_name_is_listed_once_and_explained() {
    let mut names = std::collections::BTreeSet::new();
    for known in catalogue() {
        assert!(names.insert(known.name), "{} twice", known.name);
        assert!(!known.means.is_empty(), "{}", known.name);
    }
}
