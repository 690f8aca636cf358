// SPDX-License-Identifier: MIT OR Apache-2.0

use std::cell::Cell;

use super::{Btf, Malformed, Member};

/// Types written down by hand, as the kernel would.
struct Writer {
    types: Vec<u8>,
    strings: Vec<u8>,
    big: bool,
}

impl Writer {
    fn new(big: bool) -> Self {
        Self {
            types: Vec::new(),
            strings: vec![0],
            big,
        }
    }

    fn word(&self, word: u32) -> [u8; 4] {
        if self.big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        }
    }

    fn words(&mut self, words: &[u32]) {
        for word in words {
            let bytes = self.word(*word);
            self.types.extend(bytes);
        }
    }

    fn name(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        at
    }

    fn record(&mut self, name: &str, kind: u32, flag: bool, count: u32, size_or_type: u32) {
        let name = self.name(name);
        self.words(&[
            name,
            u32::from(flag) << 31 | kind << 24 | count,
            size_or_type,
        ]);
    }

    fn aggregate(&mut self, name: &str, size: u32, members: &[(&str, u32, u32)]) {
        self.record(name, 4, false, members.len() as u32, size);
        for (name, kind, offset_bits) in members {
            let name = self.name(name);
            self.words(&[name, *kind, *offset_bits]);
        }
    }

    fn blob(&self) -> Vec<u8> {
        let mut blob = if self.big {
            vec![0xeb, 0x9f, 1, 0]
        } else {
            vec![0x9f, 0xeb, 1, 0]
        };
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        for word in [24, 0, types, types, strings] {
            blob.extend(self.word(word));
        }
        blob.extend(&self.types);
        blob.extend(&self.strings);
        blob
    }
}

/// A kernel in small: an sk_buff with members in unnamed places, an enumeration, a tracepoint.
fn small(big: bool) -> Vec<u8> {
    let mut w = Writer::new(big);
    w.record("long unsigned int", 1, false, 0, 8); // 1
    w.words(&[64]);
    w.record("unsigned char", 1, false, 0, 1); // 2
    w.words(&[8]);
    w.record("", 2, false, 0, 2); // 3: unsigned char *
    w.record("u8ptr", 8, false, 0, 3); // 4
    w.aggregate("", 16, &[("dev", 1, 0), ("scratch", 1, 64)]); // 5
    w.aggregate("net", 32, &[("other", 1, 0), ("inum", 2, 200)]); // 6
    w.record("", 3, false, 0, 0); // 7: unsigned char[40]
    w.words(&[2, 1, 40]);
    w.aggregate(
        "sk_buff",
        96,
        &[
            ("next", 3, 0),
            ("", 5, 64),
            ("head", 4, 192),
            ("net", 6, 256),
            ("cb", 7, 512),
        ],
    ); // 8
    w.record("reason", 6, false, 2, 4); // 9
    let (drop, mask) = (w.name("DROP"), w.name("MASK"));
    w.words(&[drop, 2, mask, 0xffff_0000]);
    w.record("signed", 6, true, 1, 4); // 10
    w.words(&[drop, 0xffff_ffff]);
    w.record("", 13, false, 4, 0); // 11
    w.words(&[0; 8]);
    w.record("", 2, false, 0, 11); // 12
    w.record("btf_trace_kfree_skb", 8, false, 0, 12); // 13
    w.blob()
}

#[test]
fn a_member_is_found_in_either_byte_order() {
    for big in [false, true] {
        let blob = small(big);
        let btf = Btf::parse(&blob).unwrap();
        assert_eq!(btf.count(), 13);
        let at = |path| btf.member("sk_buff", path);
        let head = Member {
            offset_bytes: 24,
            size_bytes: Some(8),
            is_pointer: true,
        };
        assert_eq!(at("head"), Some(head), "through a typedef");
        let scratch = Member {
            offset_bytes: 16,
            size_bytes: Some(8),
            is_pointer: false,
        };
        assert_eq!(at("scratch"), Some(scratch), "in an unnamed structure");
        assert_eq!(at("net.inum").map(|m| m.offset_bytes), Some(32 + 25));
        assert_eq!(at("cb").and_then(|m| m.size_bytes), Some(40));
        assert_eq!(at("tail"), None);
        assert_eq!(at("head.next"), None, "a pointer is no structure");
        assert_eq!(btf.member("sock", "head"), None);
    }
}

#[test]
fn an_enumeration_and_a_tracepoint_are_read() {
    let blob = small(true);
    let btf = Btf::parse(&blob).unwrap();
    let values = vec![("DROP", 2), ("MASK", 0xffff_0000)];
    assert_eq!(btf.enumeration("reason"), Some(named(&values)));
    assert_eq!(btf.enumeration("signed"), Some(named(&[("DROP", -1)])));
    assert_eq!(btf.enumeration("sk_buff"), None);
    assert_eq!(btf.tracepoint_arguments("kfree_skb"), Some(3));
    assert_eq!(btf.tracepoint_arguments("other"), None);
    assert_eq!(btf.pointer_bytes(), Some(8));
}

#[test]
fn the_fuzz_corpus_is_that_kernel() {
    assert!(small(false) == include_bytes!("../../../../fuzz/corpus/btf/small"));
    assert!(small(true) == include_bytes!("../../../../fuzz/corpus/btf/small-big-endian"));
}

#[test]
fn what_is_cut_or_foreign_is_refused_and_never_panics() {
    let blob = small(false);
    assert_eq!(Btf::parse(&[]).err(), Some(Malformed::Header));
    assert_eq!(Btf::parse(&blob[..30]).err(), Some(Malformed::Short));
    let mut foreign = blob;
    foreign[24 + 7] = 31;
    let kind = Malformed::Kind {
        number: 1,
        kind: 31,
    };
    assert_eq!(Btf::parse(&foreign).err(), Some(kind));
}

#[test]
fn a_structure_within_itself_ends() {
    let mut w = Writer::new(false);
    w.aggregate("loop", 8, &[("", 1, 0), ("", 1, 0), ("", 1, 0)]);
    w.record("me", 8, false, 0, 2);
    let blob = w.blob();
    let btf = Btf::parse(&blob).unwrap();
    assert_eq!(btf.member("loop", "nowhere"), None);
}

fn named(values: &[(&str, i64)]) -> Vec<(String, i64)> {
    let values = values.iter();
    values
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

#[test]
fn a_large_kernel_is_read_in_pieces_and_by_any_way_the_same() {
    let mut w = Writer::new(true);
    for number in 0..5000 {
        w.aggregate(&format!("of_no_interest_{number}"), 8, &[("other", 1, 0)]);
    }
    w.record(&"long".repeat(20_000), 4, false, 0, 8);
    w.aggregate("last", 8, &[("here", 5001, 32)]);
    let (blob, largest) = (w.blob(), Cell::new(0));
    assert!(blob.len() > 300_000);
    let whole = Btf::parse(&blob).unwrap();
    let expected = Some(4);
    let offset = |btf: &Btf<'_>| btf.member("last", "here").map(|m| m.offset_bytes);
    assert_eq!(offset(&whole), expected);
    for names in [&["last"][..], &[], &["first"]] {
        let pieces = Box::new(Counting(&blob, &largest));
        let btf = Btf::read(pieces, names).unwrap();
        assert_eq!(offset(&btf), expected, "{names:?}");
        assert_eq!(btf.count(), 5002);
    }
    assert!((1..=32 << 10).contains(&largest.get()), "{largest:?}");
}

/// Notes the largest piece that was asked for.
struct Counting<'b>(&'b [u8], &'b Cell<usize>);

impl super::Blob for Counting<'_> {
    fn read_at(&self, at: usize, into: &mut [u8]) -> usize {
        self.1.set(self.1.get().max(into.len()));
        self.0.read_at(at, into)
    }
}
