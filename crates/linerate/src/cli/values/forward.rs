// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of `forward`'s flags.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use linerate_forward::{MaxLoad, RouterPort};
use linerate_method::frame_size::{Mix, MixError, RFC_2544_BYTES};
use linerate_model::units::Rate;

/// What frames are sent, in the order given; sizes with FCS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Sizes(pub(in crate::cli) Vec<Size>);

/// Frames of one size, or a mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Size {
    /// As typed.
    name: String,
    pub(in crate::cli) mix: Mix,
}

impl Default for Sizes {
    /// RFC 2544 section 9.1.
    fn default() -> Self {
        Self(RFC_2544_BYTES.into_iter().map(Size::one).collect())
    }
}

impl Size {
    fn one(bytes: u16) -> Self {
        Self {
            name: bytes.to_string(),
            mix: Mix::one(bytes),
        }
    }

    fn mixed(name: &str, mix: Result<Mix, MixError>) -> Result<Self, String> {
        let name = name.to_owned();
        let mix = mix.map_err(|why| format!("'{name}': {why}"))?;
        Ok(Self { name, mix })
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut sizes, mut parts) = (Vec::new(), Vec::new());
        for word in text.split(',') {
            match word.split_once(':') {
                None if word == "imix" => sizes.push(Size::mixed(word, Ok(Mix::classic()))?),
                None => sizes.push(Size::one(size(word)?)),
                Some(("imix", genome)) => {
                    sizes.push(Size::mixed(word, Mix::standard(genome, MTU_BYTES))?);
                }
                Some((weight, bytes)) => parts.push((self::weight(weight)?, size(bytes)?)),
            }
        }
        if !parts.is_empty() {
            let words: Vec<_> = text.split(',').filter(|word| is_part(word)).collect();
            sizes.push(Size::mixed(&words.join(","), Mix::weighted(&parts))?);
        }
        Ok(Self(sizes))
    }
}

fn is_part(word: &str) -> bool {
    word.contains(':') && !word.starts_with("imix:")
}

fn weight(text: &str) -> Result<u32, String> {
    let weight = text.parse().ok().filter(|weight| *weight > 0);
    weight.ok_or_else(|| format!("'{text}' is not a number of frames: expected 7:64,4:570,1:1518"))
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.0.iter().map(|size| size.name.as_str()).collect();
        f.write_str(&words.join(","))
    }
}

fn size(text: &str) -> Result<u16, String> {
    let size = text.parse().ok().filter(|size| (64..=9216).contains(size));
    size.ok_or_else(|| format!("'{text}' is not a frame size: expected 64 to 9216 bytes with FCS"))
}

/// The most that is offered: of `1G` frames with preamble and gap.
pub(in crate::cli) fn load(text: &str) -> Result<MaxLoad, String> {
    let load = match text.parse().map_err(|error| format!("{error}"))? {
        Rate::Bits(rate) => MaxLoad::L1BitsPerSecond(rate.0),
        Rate::Packets(rate) => MaxLoad::FramesPerSecond(rate.0),
        Rate::LineRate(ratio) => MaxLoad::LineRateRatio(ratio.0),
    };
    let (MaxLoad::FramesPerSecond(value)
    | MaxLoad::L1BitsPerSecond(value)
    | MaxLoad::LineRateRatio(value)) = load;
    let sensible = value > 0.0 && value.is_finite();
    sensible
        .then_some(load)
        .ok_or_else(|| "expected a rate above 0 such as 100kpps, 1G or 50%".to_owned())
}

/// For the letter z of a genome.
const MTU_BYTES: u16 = 1500;

/// The router's ports, port A's side first; `None`: the usual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Gateways(pub(in crate::cli) Option<[RouterPort; 2]>);

pub(in crate::cli) fn gateways(text: &str) -> Result<Gateways, String> {
    if text.is_empty() {
        return Ok(Gateways(None));
    }
    let expected = || {
        "expected two addresses of one family, A's side first: 192.168.7.1/24,10.0.7.1/24"
            .to_owned()
    };
    let (a, b) = text.split_once(',').ok_or_else(expected)?;
    let (a, b) = (router_port(a)?, router_port(b)?);
    if a.address.is_ipv4() != b.address.is_ipv4() {
        return Err(expected());
    }
    if a.host == b.host {
        return Err(format!(
            "{} cannot be the tester on both sides: a router has two networks",
            a.host
        ));
    }
    Ok(Gateways(Some([a, b])))
}

/// `ADDRESS`, `ADDRESS/BITS`, and `@HOST` for the tester's own address.
fn router_port(text: &str) -> Result<RouterPort, String> {
    let (network, host) = match text.split_once('@') {
        Some((network, host)) => (network, Some(address(host)?)),
        None => (text, None),
    };
    let (router, bits) = match network.split_once('/') {
        Some((router, bits)) => {
            let wrong = |_| format!("'{bits}' is not the length of a prefix");
            (router, Some(bits.parse().map_err(wrong)?))
        }
        None => (network, None),
    };
    RouterPort::new(address(router)?, bits, host)
}

fn address(text: &str) -> Result<IpAddr, String> {
    let wrong = |_| format!("'{text}' is not an IP address");
    text.parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::frame::{Family, Side};

    #[test]
    fn sizes_in_their_order() {
        let sizes = |text: &str| text.parse::<Sizes>().map(|sizes| sizes.to_string());
        assert_eq!(sizes("64,1518"), Ok("64,1518".to_owned()));
        assert!("64,,128".parse::<Sizes>().is_err());
        assert!("63".parse::<Sizes>().unwrap_err().contains("64 to 9216"));
        assert_eq!(
            Sizes::default().to_string(),
            "64,128,256,512,1024,1280,1518"
        );
    }

    #[test]
    fn mixes_are_sizes_too() {
        let sizes: Sizes = "64,imix,7:64,imix:aaafg,4:570,1:1518".parse().unwrap();
        assert_eq!(
            sizes.to_string(),
            "64,imix,imix:aaafg,7:64,4:570,1:1518",
            "weights belong together"
        );
        let frames: Vec<_> = sizes
            .0
            .iter()
            .map(|size| size.mix.sizes_bytes().len())
            .collect();
        assert_eq!(frames, [1, 12, 5, 12]);
        assert_eq!(sizes.to_string().parse(), Ok(sizes));
        for nonsense in [
            "0:64", "7:63", "x:64", "imix:", "imix:aq", "imix,", "9999:64",
        ] {
            assert!(nonsense.parse::<Sizes>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn loads_have_layers() {
        assert_eq!(load("100kpps"), Ok(MaxLoad::FramesPerSecond(100_000.0)));
        assert_eq!(load("1G"), Ok(MaxLoad::L1BitsPerSecond(1e9)));
        assert_eq!(load("50%"), Ok(MaxLoad::LineRateRatio(0.5)));
        assert!(load("0pps").is_err());
    }

    #[test]
    fn gateways_come_in_pairs() {
        assert_eq!(gateways(""), Ok(Gateways(None)));
        let usual = [Side::A, Side::B].map(|side| RouterPort::usual(side, Family::Ipv4));
        assert_eq!(gateways("198.18.1.1,198.19.1.1"), Ok(Gateways(Some(usual))));
        let given = gateways("192.168.7.1/24,10.0.7.1/16@10.0.9.9")
            .unwrap()
            .0
            .unwrap();
        let hosts = given.map(|port| port.host.to_string());
        assert_eq!(hosts, ["192.168.7.2", "10.0.9.9"]);
        for nonsense in [
            "198.18.1.1",
            "198.18.1.1,2001:2::1",
            "10.0.0.1/33,10.0.1.1",
            "10.0.0.1@10.0.1.2,10.0.1.1",
            "10.0.0.1/x,10.0.1.1",
            "10.0.0.1,10.0.0.3",
            "fd00::1/129,fd00:1::1",
        ] {
            assert!(gateways(nonsense).is_err(), "{nonsense}");
        }
    }
}
