// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which frame has which sequence number: the sizes of a mix in its order, flow by flow.
//!
//! Hot path: [`Frames::at`] neither allocates nor locks.

use linerate_method::frame_size::Mix;
use linerate_wire::frame::{Flow, Refusal, Template};

/// The frames of one direction, which repeat: each flow in turn sends the whole mix.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// For each different size, one frame per flow.
    sizes: Vec<Vec<Template>>,
    /// The mix, by index of the size.
    order: Vec<usize>,
}

impl Frames {
    /// The frames of these flows and sizes.
    ///
    /// # Errors
    /// Not a flow, or a size without room for the signature.
    pub(crate) fn new(flows: &[Flow], mix: &Mix) -> Result<Self, Refusal> {
        let different = mix.different_bytes();
        let place = |bytes: &u16| different.binary_search(bytes).unwrap_or(0);
        let order = mix.sizes_bytes().iter().map(place).collect();
        let of_size = |bytes: &u16| {
            flows
                .iter()
                .map(|flow| Template::new(flow, *bytes))
                .collect()
        };
        Ok(Self {
            sizes: different.iter().map(of_size).collect::<Result<_, _>>()?,
            order,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The length of every frame without FCS, if there is only one.
    pub(crate) fn only_length(&self) -> Option<usize> {
        match &self.sizes[..] {
            [flows] => flows.first().map(|template| template.bytes().len()),
            _ => None,
        }
    }

    /// The frame with this sequence number, from 1.
    #[inline]
    pub(crate) fn at(&self, sequence: u64) -> &Template {
        let number = sequence.wrapping_sub(1);
        let (turn, size) = match self.order.len() as u64 {
            1 => (number, 0),
            mix => (number / mix, self.order[(number % mix) as usize]),
        };
        let flows = &self.sizes[size];
        &flows[(turn % flows.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::frame::{self, Family, Side, Spread};

    fn frames(sizes: &[u16], flows: u32) -> Frames {
        let first = Flow::first(Side::A, Family::Ipv4, [2; 6], [4; 6]);
        let flows: Vec<_> = frame::flows(first, Spread::Ports, flows).collect();
        Frames::new(&flows, &Mix::custom(sizes).unwrap()).unwrap()
    }

    #[test]
    fn each_flow_sends_the_mix_in_its_order() {
        let frames = frames(&[64, 64, 594, 1518], 2);
        assert_eq!(frames.only_length(), None);
        let lengths = (1..=8).map(|sequence| frames.at(sequence).bytes().len());
        let mix = [60, 60, 590, 1514];
        assert!(lengths.eq(mix.into_iter().chain(mix)));
        assert_eq!(frames.at(1), frames.at(2), "one flow");
        assert_ne!(frames.at(1), frames.at(5), "the next one");
        assert_eq!(frames.at(1), frames.at(9), "and round again");
    }

    #[test]
    fn frames_of_one_size_take_turns_one_by_one() {
        let frames = frames(&[64], 3);
        assert_eq!(frames.only_length(), Some(60));
        assert_ne!(frames.at(1), frames.at(2));
        assert_eq!(frames.at(1), frames.at(4));
    }

    #[test]
    fn without_room_for_the_signature_there_is_no_frame() {
        let first = Flow::first(Side::A, Family::Ipv6, [2; 6], [4; 6]);
        assert!(Frames::new(&[first], &Mix::one(64)).is_err());
        assert!(Frames::default().is_empty());
    }
}
