// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peripheral of a CMSIS-SVD file → the text of a register map.
//!
//! What an SVD file says of side effects is often left out, so that registers without a
//! `readAction` are `read = "unknown"`: they are decoded, and never read from a device's memory.

mod array;
mod element;
mod field;
mod index;
mod register;
mod text;

use roxmltree::{Document, Node, ParsingOptions};

use super::parse;
use register::Expansion;

/// A map made from an SVD file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The map's text, which [`parse`](fn@parse) takes.
    pub toml: String,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// Why there is no map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SvdError {
    /// No XML, or XML that nobody would write by hand or tool.
    #[error("it is not an SVD file: {0}")]
    NotSvd(String),
    /// Several peripherals, and none was asked for.
    #[error("it has {} peripherals", .0.len())]
    WhichPeripheral(Vec<String>),
    /// The peripheral is not there.
    #[error("it has no peripheral `{wanted}`")]
    NoSuchPeripheral {
        /// What was asked for.
        wanted: String,
        /// What there is.
        names: Vec<String>,
    },
    /// Something is derived from itself.
    #[error("`{0}` is derived from itself")]
    Circular(String),
    /// More than any device has.
    #[error("it has more than {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The peripheral has no register that a map can have.
    #[error("`{0}` has no registers")]
    NoRegisters(String),
    /// What came out is no right map; our mistake.
    #[error("the map would be wrong: {0}")]
    WrongMap(String),
}

/// The map of one peripheral; of the only one where none is named.
///
/// # Errors
/// [`SvdError`]. Hostile files end in one, in time and memory that grow with their length.
pub fn import(svd: &str, peripheral: Option<&str>) -> Result<Imported, SvdError> {
    no_endless_tag(svd)?;
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(svd.trim_start_matches('\u{feff}'), options)
        .map_err(|why| SvdError::NotSvd(why.to_string()))?;
    let device = document.root_element();
    if device.tag_name().name() != "device" {
        let name = device.tag_name().name();
        return Err(SvdError::NotSvd(format!("it begins with <{name}>")));
    }
    let chosen = choose(device, peripheral)?;
    let expansion = Expansion::of(device, chosen)?;
    let toml = text::map(device, chosen, &expansion)?;
    match parse(OWN, &toml) {
        Ok(_) => Ok(Imported {
            toml,
            left_out: expansion.left_out,
        }),
        Err(mistakes) => {
            let first = mistakes.first().map(ToString::to_string);
            Err(SvdError::WrongMap(first.unwrap_or_default()))
        }
    }
}

fn choose<'d>(device: Node<'d, 'd>, wanted: Option<&str>) -> Result<Node<'d, 'd>, SvdError> {
    let all: Vec<Node<'d, 'd>> = element::peripherals(device).collect();
    let names = || all.iter().map(|p| element::name(*p)).collect();
    match (wanted, all.as_slice()) {
        (None, [only]) => Ok(*only),
        (None, _) => Err(SvdError::WhichPeripheral(names())),
        (Some(wanted), _) => {
            let found = all
                .iter()
                .find(|p| element::name(**p).eq_ignore_ascii_case(wanted));
            found.copied().ok_or_else(|| SvdError::NoSuchPeripheral {
                wanted: wanted.to_owned(),
                names: names(),
            })
        }
    }
}

/// Attributes are compared with one another: thousands in one tag take for ever.
fn no_endless_tag(svd: &str) -> Result<(), SvdError> {
    let tags = svd.split('<').skip(1);
    let endless = tags
        .filter(|tag| !tag.starts_with(['!', '?']))
        .any(|tag| tag.find('>').unwrap_or(tag.len()) > LONGEST_TAG);
    if endless {
        let why = format!("a tag has more than {LONGEST_TAG} letters");
        return Err(SvdError::NotSvd(why));
    }
    Ok(())
}

const OWN: &str = "imported.toml";
const LONGEST_TAG: usize = 1_024;
/// The largest files of makers have a million.
const MOST_NODES: u32 = 2_000_000;
