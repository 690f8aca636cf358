// SPDX-License-Identifier: MIT OR Apache-2.0
//! A drop-in of the `.link` file that applies to the interface: systemd.link(5). Only the first file that matches applies, so
//! a further one would replace what is configured; a drop-in adds to it. It is right only where that file matches this device
//! alone.

use super::kind::Kind;
use super::surroundings::{Config, Interface, Surroundings};
use super::{DropIn, Kept, header, name};
use crate::entry::Device;

/// Nothing where another kind of file is better.
pub(super) fn file(kept: &Kept, around: &Surroundings) -> Option<DropIn> {
    let device = kept.key.place.device()?;
    let interface = around.interfaces.get(&device.name)?;
    let link = interface.link.as_ref()?;
    let is_known = around.systemd.is_some_and(|version| version >= SINCE);
    if !is_known || !is_of_this_device_alone(link, device, interface) {
        return None;
    }
    let lines = lines(Kind::of(&kept.key.knob)?, &kept.value)?;
    let path = format!(
        "{}/{}.d/90-linerate-{}.conf",
        name::LINK,
        link.name(),
        name::name(&kept.key)
    );
    let mut file = header::alone(kept, path, &format!("[Link]\n{lines}"), around);
    file.activates = vec![
        "udevadm control --reload".to_owned(),
        format!(
            "udevadm trigger --action=add /sys/class/net/{}",
            device.name
        ),
    ];
    Some(file).filter(|file| super::is_ours(&file.path))
}

/// Whether one of its conditions holds for this device only.
fn is_of_this_device_alone(link: &Config, device: &Device, interface: &Interface) -> bool {
    let mut section = "";
    link.text.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let Some((key, value)) = line.split_once('=') else {
            return false;
        };
        let (key, value) = (key.trim(), value.trim());
        section == "[Match]"
            && match key {
                "PermanentMACAddress" => device
                    .permanent_address
                    .as_ref()
                    .is_some_and(|own| own.eq_ignore_ascii_case(value)),
                "Path" => {
                    interface.id_path.as_deref() == Some(value) && !value.contains(['*', '?', '['])
                }
                _ => false,
            }
    })
}

/// `RxBufferSize=4096`, one for each word.
fn lines(kind: Kind<'_>, value: &str) -> Option<String> {
    if kind == Kind::QueueLength {
        return Some(format!("TransmitQueueLength={value}\n"));
    }
    let Kind::Ethtool { option, words } = kind else {
        return None;
    };
    let (words, values) = (words.split(' '), value.split(' '));
    if words.clone().count() != values.clone().count() {
        return None;
    }
    let lines = words.zip(values).map(|(word, value)| {
        let of = |(of, name, key): &(&str, &str, &'static str)| {
            (*of == option && *name == word).then_some(*key)
        };
        let key = KEYS.iter().find_map(of)?;
        let unit = if key.ends_with("Sec") { "us" } else { "" };
        Some(format!("{key}={value}{unit}\n"))
    });
    lines.collect()
}

/// The version with coalescing and queue lengths in `.link` files; drop-ins are older.
const SINCE: u32 = 250;
/// What `ethtool` calls it, and systemd. Features that `ethtool -k` shows by one name, but which are several, are absent.
const KEYS: [(&str, &str, &str); 22] = [
    ("-G", "rx", "RxBufferSize"),
    ("-G", "rx-mini", "RxMiniBufferSize"),
    ("-G", "rx-jumbo", "RxJumboBufferSize"),
    ("-G", "tx", "TxBufferSize"),
    ("-L", "rx", "RxChannels"),
    ("-L", "tx", "TxChannels"),
    ("-L", "other", "OtherChannels"),
    ("-L", "combined", "CombinedChannels"),
    ("-C", "adaptive-rx", "UseAdaptiveRxCoalesce"),
    ("-C", "adaptive-tx", "UseAdaptiveTxCoalesce"),
    ("-C", "rx-usecs", "RxCoalesceSec"),
    ("-C", "tx-usecs", "TxCoalesceSec"),
    ("-C", "rx-frames", "RxMaxCoalescedFrames"),
    ("-C", "tx-frames", "TxMaxCoalescedFrames"),
    ("-K", "tx-tcp-segmentation", "TCPSegmentationOffload"),
    ("-K", "tx-tcp6-segmentation", "TCP6SegmentationOffload"),
    (
        "-K",
        "generic-segmentation-offload",
        "GenericSegmentationOffload",
    ),
    ("-K", "generic-receive-offload", "GenericReceiveOffload"),
    ("-K", "rx-gro", "GenericReceiveOffload"),
    ("-K", "rx-gro-hw", "GenericReceiveOffloadHardware"),
    ("-K", "large-receive-offload", "LargeReceiveOffload"),
    ("-K", "rx-lro", "LargeReceiveOffload"),
];
