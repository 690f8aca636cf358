// SPDX-License-Identifier: MIT OR Apache-2.0
//! nftables for hosts of the lab: a rule that drops arriving or routed datagrams, a flowtable that routes known flows
//! (linux/netfilter/nf_tables.h; sent as one batch of nfnetlink messages).

use std::io;

use linerate_wire::netlink::attribute::{self, NESTED, find, push};

use crate::netlink::Netlink;

/// Drops every `every`-th UDP datagram (1: all) that arrives for this namespace, counting them.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, EPROTONOSUPPORT or ENOENT where the kernel lacks nftables.
pub fn drop_udp(every: u32) -> io::Result<()> {
    drop_at(NF_INET_LOCAL_IN, every)
}

/// Drops every `every`-th UDP datagram (1: all) that this namespace routes, counting them.
///
/// # Errors
/// As [`drop_udp`].
pub fn drop_forwarded_udp(every: u32) -> io::Result<()> {
    drop_at(NF_INET_FORWARD, every)
}

/// Routed datagrams of known flows go from one of the interfaces to another past most of the stack.
///
/// # Errors
/// As [`drop_udp`]; ENOENT or EOPNOTSUPP where the kernel has no flowtables.
pub fn flowtable(interfaces: &[&str]) -> io::Result<()> {
    change(&[
        message(NFT_MSG_NEWTABLE, NLM_F_CREATE, &table()),
        message(NFT_MSG_NEWFLOWTABLE, NLM_F_CREATE, &flows_of(interfaces)),
        message(NFT_MSG_NEWCHAIN, NLM_F_CREATE, &chain(NF_INET_FORWARD)),
        message(
            NFT_MSG_NEWRULE,
            NLM_F_CREATE | NLM_F_APPEND,
            &rule(&[is_udp(), offload()].concat()),
        ),
    ])
}

fn drop_at(hook: u32, every: u32) -> io::Result<()> {
    change(&[
        message(NFT_MSG_NEWTABLE, NLM_F_CREATE, &table()),
        message(NFT_MSG_NEWCHAIN, NLM_F_CREATE, &chain(hook)),
        message(
            NFT_MSG_NEWRULE,
            NLM_F_CREATE | NLM_F_APPEND,
            &rule(&[is_udp(), drop_one_of(every)].concat()),
        ),
    ])
}

/// The flowtables of this namespace, as `nft list flowtables` names them (`inet fast f`), each with its interfaces. Nothing is asked,
/// so that no module is loaded, where the kernel has none.
#[must_use]
pub fn flowtables() -> Vec<(String, String)> {
    let mut all = Vec::new();
    if std::path::Path::new("/sys/module/nf_flow_table").exists()
        && let Ok(mut socket) = Netlink::filter_orders()
    {
        let kind = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETFLOWTABLE;
        let asked = socket.ask(kind, true, &[NFPROTO_UNSPEC, 0, 0, 0], |answer| {
            all.extend(one_flowtable(answer));
        });
        // Without CAP_NET_ADMIN there is no answer.
        asked.unwrap_or_default();
    }
    all
}

fn one_flowtable(answer: &[u8]) -> Option<(String, String)> {
    let (header, attributes) = answer.split_first_chunk::<4>()?;
    let family = match header[0] {
        NFPROTO_INET => "inet",
        2 => "ip",
        10 => "ip6",
        _ => "netdev",
    };
    let name = |kind| Some(attribute::text(find(attributes, kind)?));
    let devices = find(attributes, NFTA_FLOWTABLE_HOOK)
        .and_then(|hook| find(hook, NFTA_FLOWTABLE_HOOK_DEVS))
        .unwrap_or_default();
    let devices = attribute::attributes(devices).map(|(_, device)| attribute::text(device));
    let devices: Vec<_> = devices.collect();
    let table = format!(
        "{family} {} {}",
        name(NFTA_FLOWTABLE_TABLE)?,
        name(NFTA_FLOWTABLE_NAME)?
    );
    Some((table, devices.join(" ")))
}

/// All of it or nothing.
fn change(messages: &[Vec<u8>]) -> io::Result<()> {
    let mut socket = Netlink::filter_orders()?;
    let batch = [
        batch(NFNL_MSG_BATCH_BEGIN),
        messages.concat(),
        batch(NFNL_MSG_BATCH_END),
    ];
    socket.send(&batch.concat())?;
    let mut answers = messages.iter();
    answers.try_for_each(|_| socket.answer(SEQUENCE, |_| {}))
}

fn table() -> Vec<u8> {
    text(NFTA_TABLE_NAME, NAME)
}

fn chain(hook: u32) -> Vec<u8> {
    let hook = [be32(NFTA_HOOK_HOOKNUM, hook), be32(NFTA_HOOK_PRIORITY, 0)];
    [
        text(NFTA_CHAIN_TABLE, NAME),
        text(NFTA_CHAIN_NAME, NAME),
        nested(NFTA_CHAIN_HOOK, &hook.concat()),
        text(NFTA_CHAIN_TYPE, "filter"),
    ]
    .concat()
}

fn flows_of(interfaces: &[&str]) -> Vec<u8> {
    let devices: Vec<_> = interfaces
        .iter()
        .map(|name| text(NFTA_DEVICE_NAME, name))
        .collect();
    let hook = [
        be32(NFTA_FLOWTABLE_HOOK_NUM, NF_NETDEV_INGRESS),
        be32(NFTA_FLOWTABLE_HOOK_PRIORITY, 0),
        nested(NFTA_FLOWTABLE_HOOK_DEVS, &devices.concat()),
    ];
    [
        text(NFTA_FLOWTABLE_TABLE, NAME),
        text(NFTA_FLOWTABLE_NAME, FLOWS),
        nested(NFTA_FLOWTABLE_HOOK, &hook.concat()),
    ]
    .concat()
}

fn is_udp() -> Vec<u8> {
    let is_udp = [
        be32(NFTA_META_DREG, NFT_REG_1),
        be32(NFTA_META_KEY, NFT_META_L4PROTO),
    ];
    [
        expression("meta", &is_udp.concat()),
        expression("cmp", &equal(&[IPPROTO_UDP])),
    ]
    .concat()
}

fn offload() -> Vec<u8> {
    expression("flow_offload", &text(NFTA_FLOW_TABLE_NAME, FLOWS))
}

fn drop_one_of(every: u32) -> Vec<u8> {
    let turn = [
        be32(NFTA_NG_DREG, NFT_REG_1),
        be32(NFTA_NG_MODULUS, every.max(1)),
        be32(NFTA_NG_TYPE, NFT_NG_INCREMENTAL),
    ];
    let verdict = nested(NFTA_DATA_VERDICT, &be32(NFTA_VERDICT_CODE, NF_DROP));
    let drop = [
        be32(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT),
        nested(NFTA_IMMEDIATE_DATA, &verdict),
    ];
    [
        expression("numgen", &turn.concat()),
        expression("cmp", &equal(&0u32.to_ne_bytes())),
        expression("counter", &[]),
        expression("immediate", &drop.concat()),
    ]
    .concat()
}

fn rule(expressions: &[u8]) -> Vec<u8> {
    [
        text(NFTA_RULE_TABLE, NAME),
        text(NFTA_RULE_CHAIN, NAME),
        nested(NFTA_RULE_EXPRESSIONS, expressions),
    ]
    .concat()
}

/// Register 1 equals `value`.
fn equal(value: &[u8]) -> Vec<u8> {
    let data = attribute(NFTA_DATA_VALUE, value);
    [
        be32(NFTA_CMP_SREG, NFT_REG_1),
        be32(NFTA_CMP_OP, NFT_CMP_EQ),
        nested(NFTA_CMP_DATA, &data),
    ]
    .concat()
}

fn expression(name: &str, data: &[u8]) -> Vec<u8> {
    let body = [text(NFTA_EXPR_NAME, name), nested(NFTA_EXPR_DATA, data)];
    nested(NFTA_LIST_ELEM, &body.concat())
}

// ---- bytes --------------------------------------------------------------------------------

fn batch(kind: u16) -> Vec<u8> {
    frame(
        kind,
        NLM_F_REQUEST,
        NFPROTO_UNSPEC,
        NFNL_SUBSYS_NFTABLES,
        &[],
    )
}

fn message(kind: u16, flags: u16, attributes: &[u8]) -> Vec<u8> {
    let kind = NFNL_SUBSYS_NFTABLES << 8 | kind;
    let flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    frame(kind, flags, NFPROTO_INET, 0, attributes)
}

/// `struct nlmsghdr`, `struct nfgenmsg`, attributes.
fn frame(kind: u16, flags: u16, family: u8, resource: u16, attributes: &[u8]) -> Vec<u8> {
    let length = (NLMSG_HEADER_BYTES + 4 + attributes.len()) as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(SEQUENCE.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, kind, value);
    bytes
}

fn nested(kind: u16, value: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, value)
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), &[0]].concat())
}

fn be32(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

/// Of the table and of its chain.
const NAME: &str = "lab";
/// Of the flowtable.
const FLOWS: &str = "flows";

/// Of all messages of the batch.
const SEQUENCE: u32 = 1;
const NLMSG_HEADER_BYTES: usize = 16;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_CREATE: u16 = 0x400;
const NLM_F_APPEND: u16 = 0x800;

const NFNL_SUBSYS_NFTABLES: u16 = 10;
const NFNL_MSG_BATCH_BEGIN: u16 = 0x10;
const NFNL_MSG_BATCH_END: u16 = 0x11;
const NFPROTO_UNSPEC: u8 = 0;
const NFPROTO_INET: u8 = 1;
const NF_INET_LOCAL_IN: u32 = 1;
const NF_INET_FORWARD: u32 = 2;
const NF_DROP: u32 = 0;
const IPPROTO_UDP: u8 = 17;

const NFT_MSG_NEWTABLE: u16 = 0;
const NFT_MSG_NEWCHAIN: u16 = 3;
const NFT_MSG_NEWRULE: u16 = 6;
const NFT_MSG_NEWFLOWTABLE: u16 = 22;
const NFT_MSG_GETFLOWTABLE: u16 = 23;
const NFTA_FLOWTABLE_TABLE: u16 = 1;
const NFTA_FLOWTABLE_NAME: u16 = 2;
const NFTA_FLOWTABLE_HOOK: u16 = 3;
const NFTA_FLOWTABLE_HOOK_NUM: u16 = 1;
const NFTA_FLOWTABLE_HOOK_PRIORITY: u16 = 2;
const NFTA_FLOWTABLE_HOOK_DEVS: u16 = 3;
const NFTA_DEVICE_NAME: u16 = 1;
const NF_NETDEV_INGRESS: u32 = 0;
const NFTA_FLOW_TABLE_NAME: u16 = 1;
const NFTA_TABLE_NAME: u16 = 1;
const NFTA_CHAIN_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_CHAIN_TYPE: u16 = 7;
const NFTA_HOOK_HOOKNUM: u16 = 1;
const NFTA_HOOK_PRIORITY: u16 = 2;
const NFTA_RULE_TABLE: u16 = 1;
const NFTA_RULE_CHAIN: u16 = 2;
const NFTA_RULE_EXPRESSIONS: u16 = 4;
const NFTA_LIST_ELEM: u16 = 1;
const NFTA_EXPR_NAME: u16 = 1;
const NFTA_EXPR_DATA: u16 = 2;
const NFTA_META_DREG: u16 = 1;
const NFTA_META_KEY: u16 = 2;
const NFT_META_L4PROTO: u32 = 16;
const NFT_REG_VERDICT: u32 = 0;
const NFT_REG_1: u32 = 1;
const NFTA_CMP_SREG: u16 = 1;
const NFTA_CMP_OP: u16 = 2;
const NFTA_CMP_DATA: u16 = 3;
const NFT_CMP_EQ: u32 = 0;
const NFTA_DATA_VALUE: u16 = 1;
const NFTA_DATA_VERDICT: u16 = 2;
const NFTA_VERDICT_CODE: u16 = 1;
const NFTA_NG_DREG: u16 = 1;
const NFTA_NG_MODULUS: u16 = 2;
const NFTA_NG_TYPE: u16 = 3;
const NFT_NG_INCREMENTAL: u32 = 0;
const NFTA_IMMEDIATE_DREG: u16 = 1;
const NFTA_IMMEDIATE_DATA: u16 = 2;
