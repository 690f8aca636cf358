// SPDX-License-Identifier: MIT OR Apache-2.0
//! What systemd-networkd sets when it configures an interface, after udev: systemd.network(5).

use std::path::Path;

use super::surroundings::{Config, text};

/// The `.network` file of the interface with this index, and its drop-ins: networkd's own state knows them.
pub(super) fn applied(root: &Path, index: &str) -> Vec<Config> {
    let state = text(root, &format!("/run/systemd/netif/links/{index}")).unwrap_or_default();
    let property = |key: &str| {
        let mut lines = state.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.unwrap_or_default().trim_matches('"')
    };
    let paths = ["NETWORK_FILE", "NETWORK_FILE_DROPINS"].map(property);
    let paths = paths.iter().flat_map(|paths| paths.split_whitespace());
    let read = paths.filter_map(|path| {
        Some(Config {
            text: text(root, path)?,
            path: path.to_owned(),
        })
    });
    read.collect()
}

/// The section that makes the root queueing discipline, and its file.
pub(super) fn discipline(files: &[Config]) -> Option<(&Config, &'static str)> {
    files.iter().find_map(|file| {
        let mut sections = sections(&file.text);
        let made = sections.find_map(|(name, lines)| {
            let known = DISCIPLINES.into_iter().find(|known| *known == name)?;
            let parent = lines.iter().rev().find(|(key, _)| *key == "Parent");
            parent.is_none_or(|(_, of)| *of == "root").then_some(known)
        })?;
        Some((file, made))
    })
}

/// The file that sets the MTU, and to what.
pub(super) fn mtu(files: &[Config]) -> Option<(&Config, &str)> {
    files.iter().rev().find_map(|file| {
        let mut sections = sections(&file.text).filter(|(name, _)| *name == "Link");
        let bytes = sections.find_map(|(_, lines)| {
            lines
                .into_iter()
                .find_map(|(key, value)| (key == "MTUBytes").then_some(value))
        })?;
        Some((file, bytes))
    })
}

/// The assignments of each section.
fn sections(text: &str) -> impl Iterator<Item = (&str, Vec<(&str, &str)>)> {
    let parts = text
        .split("\n[")
        .map(|part| part.trim_start().trim_start_matches('['));
    parts.filter_map(|part| {
        let (name, rest) = part.split_once(']')?;
        let lines = rest.lines().map(str::trim);
        let lines = lines.filter(|line| !line.starts_with(['#', ';']));
        let pairs = lines.filter_map(|line| line.split_once('='));
        let pairs = pairs.map(|(key, value)| (key.trim(), value.trim()));
        Some((name, pairs.collect()))
    })
}

/// `[QDisc]` itself makes only `ingress` and `clsact`.
const DISCIPLINES: [&str; 19] = [
    "BFIFO",
    "CAKE",
    "ControlledDelay",
    "DeficitRoundRobinScheduler",
    "EnhancedTransmissionSelection",
    "FairQueueing",
    "FairQueueingControlledDelay",
    "FlowQueuePIE",
    "GenericRandomEarlyDetection",
    "HeavyHitterFilter",
    "HierarchyTokenBucket",
    "NetworkEmulator",
    "PFIFO",
    "PFIFOFast",
    "PFIFOHeadDrop",
    "PIE",
    "QuickFairQueueing",
    "StochasticFairnessQueueing",
    "TokenBucketFilter",
];
