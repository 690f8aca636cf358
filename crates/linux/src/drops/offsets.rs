// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where this kernel keeps what the filter looks at, by its own type information.

use linerate_wire::btf::{Btf, Member};

use crate::bpf::Size;

/// Offsets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offsets {
    /// Of the tracepoint.
    pub(super) arguments: usize,
    pub(super) pointer: Size,
    pub(super) head: i32,
    pub(super) data: i32,
    pub(super) network_header: i32,
    pub(super) end: i32,
    /// `end` is an address, not a distance from `head` (32-bit kernels).
    pub(super) end_is_address: bool,
    /// From `end`.
    pub(super) segments: i32,
    /// None on a kernel without network namespaces.
    pub(super) netns: Option<NetnsOffsets>,
}

/// The way from a packet to its network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NetnsOffsets {
    pub(super) socket: i32,
    pub(super) net_of_socket: i32,
    pub(super) device: i32,
    pub(super) net_of_device: i32,
    pub(super) inode_of_net: i32,
}

impl Offsets {
    /// What the types say; the error names what they do not have.
    pub(super) fn of(btf: &Btf<'_>) -> Result<Self, String> {
        let at = |aggregate, path| place(btf, aggregate, path).ok_or(format!("{aggregate}.{path}"));
        let end = at("sk_buff", "end")?;
        let pointer = btf.pointer_bytes().and_then(Size::of_bytes);
        Ok(Self {
            arguments: btf
                .tracepoint_arguments("kfree_skb")
                .ok_or("tracepoint kfree_skb")?,
            pointer: pointer.ok_or("size of a pointer")?,
            head: offset(at("sk_buff", "head")?),
            data: offset(at("sk_buff", "data")?),
            network_header: offset(at("sk_buff", "network_header")?),
            end: offset(end),
            end_is_address: end.is_pointer,
            segments: offset(at("skb_shared_info", "gso_segs")?),
            netns: NetnsOffsets::of(btf),
        })
    }
}

impl NetnsOffsets {
    fn of(btf: &Btf<'_>) -> Option<Self> {
        let at = |aggregate, path| place(btf, aggregate, path).map(offset);
        Some(Self {
            socket: at("sk_buff", "sk")?,
            net_of_socket: at("sock", "__sk_common.skc_net.net")?,
            device: at("sk_buff", "dev")?,
            net_of_device: at("net_device", "nd_net.net")?,
            inode_of_net: at("net", "ns.inum")?,
        })
    }
}

fn place(btf: &Btf<'_>, aggregate: &str, path: &str) -> Option<Member> {
    let member = btf.member(aggregate, path)?;
    (member.offset_bytes <= LARGEST_OFFSET).then_some(member)
}

fn offset(member: Member) -> i32 {
    member.offset_bytes as i32
}

/// The types that are asked for by name.
pub(super) const ASKED: [&str; 8] = [
    "long unsigned int",
    "unsigned long",
    "btf_trace_kfree_skb",
    "sk_buff",
    "skb_shared_info",
    "sock",
    "net_device",
    "net",
];
const LARGEST_OFFSET: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::Offsets;
    use crate::drops::kernel::TYPES;
    use linerate_wire::btf::Btf;

    #[test]
    fn this_kernel_says_where_its_packets_are() {
        let Ok(blob) = std::fs::read(TYPES) else {
            println!("skipped: no {TYPES}");
            return;
        };
        let btf = Btf::parse(&blob).unwrap();
        let offsets = Offsets::of(&btf).unwrap();
        assert!(offsets.arguments >= 2);
        assert!(offsets.head != offsets.data && offsets.network_header > 0);
        let port = btf.member("sock", "__sk_common.skc_num").unwrap();
        assert_eq!(port.size_bytes, Some(2));
    }

    #[test]
    fn what_a_foreign_kernel_lacks_is_named() {
        let small = include_bytes!("../../../../fuzz/corpus/btf/small");
        let btf = Btf::parse(small).unwrap();
        assert_eq!(Offsets::of(&btf), Err("sk_buff.end".to_owned()));
    }
}
