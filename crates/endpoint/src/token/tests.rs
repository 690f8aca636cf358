// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both parts of the exchange against each other, and against who does not know the token.

use super::*;
use crate::extension::Message;
use crate::sampler::Audience;
use linerate_model::output::Withheld;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::token::Secret;

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes()).unwrap()
}

fn cookie() -> Cookie {
    Cookie::from_random(&[5; 23])
}

fn nonce_of(challenge: &Challenge<'_>) -> String {
    let Message::Challenge { nonce } = challenge.message() else {
        panic!("no challenge");
    };
    nonce
}

/// What comes of it when both do their part: the server's word, and the client's judgement.
fn met(client: &str, server: &str) -> (Access, Option<Withheld>) {
    let mut auth = ClientAuth::begin(Some(&secret(client)), &cookie()).unwrap();
    let server = secret(server);
    let challenge = Challenge::of(&server, &cookie(), &auth.nonce().unwrap()).unwrap();
    let Some(Message::Proof { proof }) = auth.answer(&nonce_of(&challenge)) else {
        panic!("no proof");
    };
    let access = challenge.judge(&proof);
    let judged = auth.judge(Some(access.status), access.proof.as_deref());
    (access, judged)
}

#[test]
fn a_client_with_the_token_sees_everything_and_believes_it() {
    let (access, judged) = met("the same secret of both", "the same secret of both");
    assert_eq!(access.audience(), Audience::User);
    assert_eq!(judged, None);
    let (access, judged) = met("the same secret of both", "another secret than that");
    assert_eq!((access.audience(), access.proof), (Audience::Peer, None));
    assert_eq!(judged, Some(Withheld::OtherToken));
}

#[test]
fn garbage_is_no_proof() {
    let secret = secret("the same secret of both");
    let auth = ClientAuth::begin(Some(&secret), &cookie()).unwrap();
    let challenge = Challenge::of(&secret, &cookie(), &auth.nonce().unwrap()).unwrap();
    let own = nonce_of(&challenge);
    for garbage in ["", "00", &own, &own[1..], &"é".repeat(32)] {
        let access = challenge.judge(garbage);
        assert_eq!(
            access,
            Access::unauthenticated(TokenStatus::Refused),
            "{garbage}"
        );
    }
    for garbage in ["", "xyz", &own[2..]] {
        assert!(Challenge::of(&secret, &cookie(), garbage).is_none());
        let mut auth = ClientAuth::begin(Some(&secret), &cookie()).unwrap();
        assert_eq!(auth.answer(garbage), None);
    }
}

/// Its challenge is the client's own nonce, its proof the client's own.
#[test]
fn a_mirror_is_not_believed() {
    let mut auth = ClientAuth::begin(Some(&secret("the same secret of both")), &cookie()).unwrap();
    let own = auth.nonce().unwrap();
    let Some(Message::Proof { proof }) = auth.answer(&own) else {
        panic!("no proof");
    };
    let judged = auth.judge(Some(TokenStatus::Accepted), Some(&proof));
    assert_eq!(judged, Some(Withheld::Unproven));
    assert_eq!(auth.answer(&own), None, "one proof a connection");
}

/// What was heard on one connection is said on the next.
#[test]
fn a_replay_is_not_believed() {
    let token = secret("the same secret of both");
    let mut first = ClientAuth::begin(Some(&token), &cookie()).unwrap();
    let heard = Challenge::of(&token, &cookie(), &first.nonce().unwrap()).unwrap();
    let Some(Message::Proof { proof }) = first.answer(&nonce_of(&heard)) else {
        panic!("no proof");
    };
    let said = heard.judge(&proof);
    let again = Challenge::of(&token, &cookie(), &first.nonce().unwrap()).unwrap();
    assert_eq!(again.judge(&proof).status, TokenStatus::Refused);
    let mut second = ClientAuth::begin(Some(&token), &cookie()).unwrap();
    assert!(second.answer(&nonce_of(&heard)).is_some());
    let judged = second.judge(Some(TokenStatus::Accepted), said.proof.as_deref());
    assert_eq!(judged, Some(Withheld::Unproven));
}

#[test]
fn who_asks_without_a_challenge_is_judged_by_what_he_gave() {
    use Withheld::{HasNoToken, NeedsToken, OtherToken, Unproven};
    let given = ClientAuth::begin(Some(&secret("the same secret of both")), &cookie()).unwrap();
    let none = ClientAuth::begin(None, &cookie()).unwrap();
    assert_eq!(none.nonce(), None);
    for (said, with, without) in [
        (None, HasNoToken, None),
        (Some(TokenStatus::None), HasNoToken, Some(HasNoToken)),
        (Some(TokenStatus::Needed), Unproven, Some(NeedsToken)),
        (Some(TokenStatus::Refused), OtherToken, None),
        (Some(TokenStatus::Accepted), Unproven, None),
    ] {
        assert_eq!(given.judge(said, None), Some(with), "{said:?}");
        assert_eq!(none.judge(said, None), without, "{said:?}");
    }
}

#[test]
fn standings_read_back() {
    for status in [
        TokenStatus::None,
        TokenStatus::Needed,
        TokenStatus::Refused,
        TokenStatus::Accepted,
    ] {
        let word = serde_json::to_value(status).unwrap();
        assert_eq!(TokenStatus::of(word.as_str().unwrap()), Some(status));
    }
    assert_eq!(TokenStatus::of("a later word"), None);
}
