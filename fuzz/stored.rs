// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the targets of our own documents do with one input. Separate from `targets.rs`, because they need
//! `linerate-endpoint`, whose corpus test includes this file.

use linerate_endpoint::extension::{Message, Request};
use linerate_model::output::{Output, Trial};
use linerate_model::run::Run;
use linerate_model::sample::Sample;
use linerate_wire::json::{self, Raw};
use serde::{Serialize, de::DeserializeOwned};

/// Messages of the extension, as a peer sends them.
pub(crate) fn messages(data: &[u8]) {
    reads_again::<Request>(data);
    let Some(message) = json::read::<Raw>(data)
        .ok()
        .and_then(|raw| Message::read(&raw))
    else {
        return;
    };
    let again = Raw::of(&message).ok().and_then(|raw| Message::read(&raw));
    assert!(again.is_some(), "{message:?}");
}

/// Files of a run directory, as somebody else may have written them.
pub(crate) fn stored(data: &[u8]) {
    reads_again::<Run>(data);
    reads_again::<Output>(data);
    reads_again::<Sample>(data);
    reads_again::<Trial>(data);
}

/// What can be read can be written, and reads again.
fn reads_again<T: Serialize + DeserializeOwned>(data: &[u8]) {
    let Ok(document) = json::read::<T>(data) else {
        return;
    };
    let again = Raw::of(&document).is_ok_and(|written| written.read::<T>().is_ok());
    assert!(again, "{}", String::from_utf8_lossy(data));
}
