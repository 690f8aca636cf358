// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of a ring buffer of perf_event_open(2), as the kernel writes them for IP, TID, CPU and CALLCHAIN
//! (include/uapi/linux/perf_event.h).

/// What the ring has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PerfRecord {
    /// Where a processor was.
    Sample(Stack),
    /// The ring had no room for this number of records.
    Lost(u64),
}

/// Where a processor was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The processor's number.
    pub cpu: u32,
    /// The process.
    pub pid: u32,
    /// The task, 0 for the idle task of a processor.
    pub tid: u32,
    /// It was in user mode.
    pub is_user: bool,
    /// Addresses in the kernel: where it was, and what called it. Empty in user mode.
    pub chain: Vec<u64>,
}

/// The records of these bytes, which begin with one. A record that is not complete ends them.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = PerfRecord> {
    let mut rest = bytes;
    let each = std::iter::from_fn(move || {
        let kind = u32::from_ne_bytes(*rest.first_chunk()?);
        let misc = u16::from_ne_bytes(*rest.get(4..)?.first_chunk()?);
        let size = usize::from(u16::from_ne_bytes(*rest.get(6..)?.first_chunk()?));
        let body = rest.get(HEADER_BYTES..size)?;
        rest = rest.get(size..)?;
        Some(record(kind, misc, body))
    });
    each.flatten()
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Option<PerfRecord> {
    match kind {
        LOST => Some(PerfRecord::Lost(word(body, 1)?)),
        SAMPLE => Some(PerfRecord::Sample(stack(misc, body)?)),
        _ => None,
    }
}

fn stack(misc: u16, body: &[u8]) -> Option<Stack> {
    let is_user = misc & MODE == USER_MODE;
    let half = |at: usize| Some(u32::from_ne_bytes(*body.get(at..)?.first_chunk()?));
    let length = usize::try_from(word(body, 3)?).unwrap_or(usize::MAX);
    let words = body.get(CHAIN_AT..)?.chunks_exact(8).take(length);
    let called = words.filter_map(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    let mut chain: Vec<u64> = called.filter(|address| *address < CONTEXT_MARKS).collect();
    if chain.is_empty() && !is_user {
        chain.push(word(body, 0)?);
    }
    if is_user {
        chain.clear();
    }
    Some(Stack {
        cpu: half(16)?,
        pid: half(8)?,
        tid: half(12)?,
        is_user,
        chain,
    })
}

fn word(body: &[u8], number: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*body.get(number * 8..)?.first_chunk()?))
}

const HEADER_BYTES: usize = 8;
/// After the instruction pointer, process and thread, processor, and the number of addresses.
const CHAIN_AT: usize = 32;
/// `PERF_RECORD_LOST`.
const LOST: u32 = 2;
/// `PERF_RECORD_SAMPLE`.
const SAMPLE: u32 = 9;
/// `PERF_RECORD_MISC_CPUMODE_MASK`.
const MODE: u16 = 7;
/// `PERF_RECORD_MISC_USER`.
const USER_MODE: u16 = 2;
/// `PERF_CONTEXT_MAX`: what is not below is a mark.
const CONTEXT_MARKS: u64 = -4095_i64 as u64;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: u32, misc: u16, words: &[u64]) -> Vec<u8> {
        let size = u16::try_from(8 + 8 * words.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    fn halves(first: u32, second: u32) -> u64 {
        let bytes = [first.to_ne_bytes(), second.to_ne_bytes()].concat();
        u64::from_ne_bytes(bytes.try_into().unwrap())
    }

    const KERNEL: u64 = -128_i64 as u64;

    #[test]
    fn samples_losses_and_other_records_are_read_in_order() {
        let mut ring = written(
            9,
            1,
            &[0xa1, halves(7, 8), halves(1, 0), 3, KERNEL, 0xa1, 0xb2],
        );
        ring.extend(written(11, 0, &[1, 2]));
        ring.extend(written(2, 0, &[5, 42]));
        ring.extend(written(9, 2, &[0x40, halves(7, 8), halves(0, 0), 0]));
        let all: Vec<_> = records(&ring).collect();
        let stack = |cpu, is_user, chain: &[u64]| {
            PerfRecord::Sample(Stack {
                cpu,
                pid: 7,
                tid: 8,
                is_user,
                chain: chain.to_vec(),
            })
        };
        assert_eq!(
            all,
            [
                stack(1, false, &[0xa1, 0xb2]),
                PerfRecord::Lost(42),
                stack(0, true, &[])
            ]
        );
    }

    #[test]
    fn a_kernel_without_a_chain_has_its_place() {
        let ring = written(9, 1, &[0xa1, halves(0, 0), halves(1, 0), 0]);
        let all: Vec<_> = records(&ring).collect();
        assert!(matches!(&all[..], [PerfRecord::Sample(one)] if one.chain == [0xa1]));
    }

    #[test]
    fn what_is_cut_or_has_no_length_ends_the_records() {
        let whole = written(9, 1, &[0xa1, halves(7, 8), halves(1, 0), 1, 0xa1]);
        for end in 0..whole.len() {
            assert_eq!(records(&whole[..end]).count(), 0, "{end}");
        }
        assert_eq!(records(&[0; 64]).count(), 0);
        let long = written(9, 1, &[0xa1, halves(7, 8), halves(1, 0), u64::MAX, 0xa1]);
        assert_eq!(
            records(&long).count(),
            1,
            "as many as the record has room for"
        );
    }
}
