// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC by the vectors of RFC 4231, and what an exchange refuses.

use hmac::Mac;
use proptest::prelude::*;

use super::{CLIENT, Digits, Exchange, Nonce, Party, Proof, SERVER, Secret};
use crate::iperf3::cookie::Cookie;

/// Key, data, digest; the fifth is of a truncated one.
#[test]
fn digests_are_those_of_rfc_4231() {
    let long = [0xaa; 131];
    let counted: Vec<u8> = (1..=25).collect();
    let cases: [(&[u8], &[u8], &str); 6] = [
        (
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xaa; 20],
            &[0xdd; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
        ),
        (
            &counted,
            &[0xcd; 50],
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
        ),
        (
            &long,
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
        (
            &long,
            b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        ),
    ];
    for (key, data, digest) in cases {
        let mut mac = Secret::key(key).mac();
        mac.update(data);
        let digits: Proof = Digits(mac.finalize().into_bytes().into());
        assert_eq!(digits.to_string(), digest);
    }
}

const ALICE: &[u8] = b"a token of more than 16 bytes";

fn secret(bytes: &[u8]) -> Secret {
    Secret::new(bytes).unwrap()
}

fn exchange() -> Exchange {
    Exchange {
        cookie: Cookie::from_random(&[7; 23]),
        client: Digits([1; 32]),
        server: Digits([2; 32]),
    }
}

#[test]
fn each_end_is_believed_by_who_knows_the_token_only() {
    let exchange = exchange();
    for party in [Party::Client, Party::Server] {
        let proof = secret(ALICE).prove(party, &exchange);
        assert!(secret(ALICE).accepts(&proof, party, &exchange));
        let other = secret(b"a token of more than 16 byteS");
        assert!(!other.accepts(&proof, party, &exchange));
    }
}

#[test]
fn what_is_sent_back_proves_nothing() {
    let exchange = exchange();
    let (client, server) = (Party::Client, Party::Server);
    let proof = secret(ALICE).prove(client, &exchange);
    assert!(!secret(ALICE).accepts(&proof, server, &exchange));
    // Nor does a server that repeats the client's nonce as its own, and then the proof.
    let mirrored = Exchange {
        server: exchange.client,
        ..exchange
    };
    let proof = secret(ALICE).prove(client, &mirrored);
    assert!(!secret(ALICE).accepts(&proof, server, &mirrored));
    assert_eq!(CLIENT.len(), SERVER.len());
}

#[test]
fn what_was_heard_on_another_connection_proves_nothing() {
    let heard = exchange();
    let proof = secret(ALICE).prove(Party::Client, &heard);
    let others = [
        Exchange {
            server: Digits([3; 32]),
            ..heard
        },
        Exchange {
            client: Digits([3; 32]),
            ..heard
        },
        Exchange {
            cookie: Cookie::from_random(&[8; 23]),
            ..heard
        },
    ];
    for other in others {
        assert!(!secret(ALICE).accepts(&proof, Party::Client, &other));
    }
}

#[test]
fn a_short_secret_is_none_and_no_secret_is_shown() {
    assert!(Secret::new(b"").is_none() && Secret::new(&ALICE[..15]).is_none());
    assert!(Secret::new(&ALICE[..16]).is_some());
    assert_eq!(format!("{:?}", secret(ALICE)), "Secret(…)");
}

#[test]
fn digits_are_all_or_none() {
    let nonce: Nonce = Digits(std::array::from_fn(|index| index as u8 * 8));
    let text = nonce.to_string();
    assert_eq!(Digits::read(&text), Some(nonce));
    let wrong = [
        "",
        "00",
        &text[1..],
        &text[..63],
        &format!("{text}0"),
        &text.replace('0', "g"),
        &text.to_uppercase(),
        &text.replacen("00", "é", 1),
    ];
    for text in wrong {
        assert_eq!(Nonce::read(text), None, "{text}");
    }
}

proptest! {
    /// Cut, longer, or with any byte changed, it is no proof.
    #[test]
    fn a_changed_proof_is_none(at in 0..32_usize, by in 1..=255_u8, text in ".{0,80}") {
        let exchange = exchange();
        let mut proof = secret(ALICE).prove(Party::Client, &exchange);
        proof.0[at] ^= by;
        prop_assert!(!secret(ALICE).accepts(&proof, Party::Client, &exchange));
        if let Some(read) = Proof::read(&text) {
            prop_assert_eq!(read.to_string(), text);
        }
    }
}
