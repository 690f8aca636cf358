// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTM_GETQDISC`: the queueing disciplines of an interface with what they count
//! (include/uapi/linux/{rtnetlink,gen_stats,pkt_sched}.h).

use super::attribute::{attributes, find, text, unsigned, word};

/// The kind of the request; its answer is a dump of all interfaces.
pub const GET: u16 = 38;

/// The payload of the request.
#[must_use]
pub fn request() -> Vec<u8> {
    vec![0; HEADER_BYTES]
}

/// One queueing discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    /// Of which interface.
    pub interface_index: u32,
    /// `fq_codel`, `mq`, `noqueue` …
    pub kind: String,
    /// Its own handle, `major << 16 | minor`; 0 where the kernel chose it by default.
    pub handle: u32,
    /// Whose child it is; [`ROOT`] for the first.
    pub parent: u32,
    /// Its counters in `tc`'s words, only those that it gave.
    pub counters: Vec<(&'static str, u64)>,
    /// How much it holds, in its own unit; `None` where it has no one limit or does not say.
    pub limit: Option<u32>,
}

impl Qdisc {
    /// Whether the interface's packets enter here.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.parent == ROOT
    }

    /// How `tc` would name it: `fq_codel 8001:`, or `fq_codel 0: parent :2` where only the place
    /// distinguishes it from its siblings.
    #[must_use]
    pub fn name(&self) -> String {
        let (major, minor) = (self.parent >> 16, self.parent & 0xffff);
        match (self.handle >> 16, major) {
            (0, 0) => format!("{} 0: parent :{minor:x}", self.kind),
            (0, _) => format!("{} 0: parent {major:x}:{minor:x}", self.kind),
            (handle, _) => format!("{} {handle:x}:", self.kind),
        }
    }
}

/// The options of an answer, in the form of its kind.
#[must_use]
pub fn options(payload: &[u8]) -> &[u8] {
    let body = payload.get(HEADER_BYTES..).unwrap_or_default();
    find(body, OPTIONS).unwrap_or_default()
}

/// Whether an answer has a table of sizes (`tc qdisc … stab`).
#[must_use]
pub fn has_size_table(payload: &[u8]) -> bool {
    let body = payload.get(HEADER_BYTES..).unwrap_or_default();
    find(body, SIZE_TABLE).is_some()
}

/// The kind of the request for the filters of a discipline; its answer is a dump.
pub const GET_FILTERS: u16 = 46;

/// Its payload.
#[must_use]
pub fn filters_request(index: u32, handle: u32) -> Vec<u8> {
    [0, index, 0, handle, 0].map(u32::to_ne_bytes).concat()
}

/// Reads one answer; `None` if it is cut.
#[must_use]
pub fn parse(payload: &[u8]) -> Option<Qdisc> {
    let at = |at: usize| word(payload.get(at..)?);
    let mut qdisc = Qdisc {
        interface_index: at(4)?,
        handle: at(8)?,
        parent: at(12)?,
        ..Qdisc::default()
    };
    let body = payload.get(HEADER_BYTES..)?;
    qdisc.kind = find(body, KIND).map(text)?;
    let stats = find(body, STATS2);
    qdisc.counters = stats.map(counters).unwrap_or_default();
    let own = stats.and_then(|stats| find(stats, OWN));
    let each_flow = own
        .filter(|_| qdisc.kind == "fq")
        .and_then(flow_limit_drops);
    qdisc
        .counters
        .extend(each_flow.map(|drops| ("flows_plimit", drops)));
    let options = find(body, OPTIONS);
    qdisc.limit = options.and_then(|options| limit(&qdisc.kind, options));
    Some(qdisc)
}

fn counters(stats: &[u8]) -> Vec<(&'static str, u64)> {
    let mut counters = Vec::new();
    for (kind, value) in attributes(stats) {
        let words = || value.chunks_exact(4).filter_map(unsigned);
        match kind {
            BASIC => {
                counters.extend(
                    value
                        .get(..8)
                        .and_then(unsigned)
                        .map(|bytes| ("bytes", bytes)),
                );
                counters.extend(
                    value
                        .get(8..12)
                        .and_then(unsigned)
                        .map(|packets| ("packets", packets)),
                );
            }
            QUEUE => counters.extend(QUEUE_NAMES.iter().copied().zip(words())),
            PACKETS64 => {
                counters.retain(|(name, _)| *name != "packets");
                counters.extend(unsigned(value).map(|packets| ("packets", packets)));
            }
            _ => {}
        }
    }
    counters
}

/// `struct tc_fq_qd_stats`: the fifth of its first 64-bit words, packets dropped because their flow had its share.
fn flow_limit_drops(stats: &[u8]) -> Option<u64> {
    stats.get(32..40).and_then(unsigned)
}

/// Each kind keeps its limit elsewhere.
fn limit(kind: &str, options: &[u8]) -> Option<u32> {
    match kind {
        "pfifo" | "bfifo" | "pfifo_head_drop" => word(options),
        "fq" | "fq_pie" => find(options, 1).and_then(word),
        "fq_codel" | "codel" | "pie" => find(options, 2).and_then(word),
        // struct tc_tbf_qopt: two rates of 12 bytes, then the limit.
        "tbf" => word(find(options, 1)?.get(24..)?),
        // struct tc_netem_qopt: latency, limit.
        "netem" => word(options.get(4..)?),
        _ => None,
    }
}

/// The parent of a root.
pub const ROOT: u32 = u32::MAX;
/// The parent of what receives (`ingress`, `clsact`).
pub const INGRESS: u32 = 0xffff_fff1;
/// `struct gnet_stats_queue`.
const QUEUE_NAMES: [&str; 5] = ["qlen", "backlog", "drops", "requeues", "overlimits"];
/// `struct tcmsg`: family, index, handle, parent, info.
const HEADER_BYTES: usize = 20;
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const STATS2: u16 = 7;
const SIZE_TABLE: u16 = 8;
const BASIC: u16 = 1;
const QUEUE: u16 = 3;
const OWN: u16 = 4;
const PACKETS64: u16 = 8;

#[cfg(test)]
mod tests {
    use super::super::attribute::push;
    use super::*;

    fn answer(handle: u32, parent: u32, kind: &str, options: &[u8]) -> Vec<u8> {
        let mut payload = vec![0; 4];
        for word in [3, handle, parent, 2] {
            payload.extend(word.to_ne_bytes());
        }
        let mut stats = Vec::new();
        let mut basic = 9000_u64.to_ne_bytes().to_vec();
        basic.extend(6_u32.to_ne_bytes());
        push(&mut stats, BASIC, &basic);
        push(&mut stats, PACKETS64, &(1_u64 << 33).to_ne_bytes());
        let queue: Vec<u8> = [1_u32, 1500, 17, 2, 5]
            .into_iter()
            .flat_map(u32::to_ne_bytes)
            .collect();
        push(&mut stats, QUEUE, &queue);
        let own: Vec<u8> = [0_u64, 0, 0, 4, 12, 0]
            .into_iter()
            .flat_map(u64::to_ne_bytes)
            .collect();
        push(&mut stats, OWN, &own);
        push(&mut payload, KIND, format!("{kind}\0").as_bytes());
        push(&mut payload, OPTIONS, options);
        push(&mut payload, STATS2, &stats);
        payload
    }

    #[test]
    fn counters_have_the_names_of_tc() {
        let qdisc = parse(&answer(0x8001_0000, ROOT, "pfifo", &16_u32.to_ne_bytes())).unwrap();
        assert!(qdisc.is_root());
        assert_eq!(
            (qdisc.name(), qdisc.limit),
            ("pfifo 8001:".to_owned(), Some(16))
        );
        let expected = [
            ("bytes", 9000),
            ("packets", 1 << 33),
            ("qlen", 1),
            ("backlog", 1500),
            ("drops", 17),
            ("requeues", 2),
            ("overlimits", 5),
        ];
        assert_eq!(qdisc.counters, expected);
    }

    #[test]
    fn only_fq_tells_of_its_flows() {
        let of = |kind| {
            let qdisc = parse(&answer(0, ROOT, kind, &[])).unwrap();
            let mut counters = qdisc.counters.into_iter();
            counters
                .find(|(name, _)| *name == "flows_plimit")
                .map(|(_, drops)| drops)
        };
        assert_eq!((of("fq"), of("fq_codel")), (Some(12), None));
    }

    #[test]
    fn limits_are_read_where_each_kind_keeps_them() {
        let mut codel = Vec::new();
        push(&mut codel, 2, &10_240_u32.to_ne_bytes());
        let mut bucket = vec![0; 24];
        bucket.extend(4500_u32.to_ne_bytes());
        bucket.extend([0; 8]);
        let mut tbf = Vec::new();
        push(&mut tbf, 1, &bucket);
        let of = |kind, options: &[u8]| parse(&answer(0, ROOT, kind, options)).unwrap().limit;
        assert_eq!(of("fq_codel", &codel), Some(10_240));
        assert_eq!(of("tbf", &tbf), Some(4500));
        assert_eq!(of("tbf", &tbf[..20]), None);
        assert_eq!(of("mq", &[]), None);
    }

    #[test]
    fn a_child_without_a_handle_is_named_by_its_place() {
        let name = |handle, parent| {
            parse(&answer(handle, parent, "fq_codel", &[]))
                .unwrap()
                .name()
        };
        assert_eq!(name(0, 2), "fq_codel 0: parent :2");
        assert_eq!(name(0, 0x0001_000a), "fq_codel 0: parent 1:a");
        assert_eq!(name(0x0010_0000, 0x0001_0001), "fq_codel 10:");
        assert_eq!(parse(&[0; 19]), None);
    }
}
