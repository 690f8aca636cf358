// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules made by hand from the tables of the standards.

use super::*;

/// A module's memory: bytes by bus address, page and place.
#[derive(Default)]
struct Made {
    bytes: Vec<(Space, u8, u8)>,
}

impl Made {
    fn with(mut self, space: Space, at: u8, bytes: &[u8]) -> Self {
        self.bytes
            .extend((at..).zip(bytes).map(|(at, byte)| (space, at, *byte)));
        self
    }

    fn words(self, space: Space, at: u8, words: &[u16]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        self.with(space, at, &bytes)
    }

    fn text(self, space: Space, at: u8, text: &str, bytes: usize) -> Self {
        self.with(space, at, format!("{text:bytes$}").as_bytes())
    }

    fn read(&self, stretch: Stretch) -> Part {
        let page = |at: u8| if at < HALF { 0 } else { stretch.page };
        let byte = |at: u8| {
            let space = (stretch.bus_address, page(at));
            let mut written = self.bytes.iter().rev();
            let found = written.find(|(other, place, _)| *other == space && *place == at);
            found.map_or(0, |(.., byte)| *byte)
        };
        let all = (0..stretch.bytes).map(|at| byte(stretch.offset + at));
        (stretch, all.collect())
    }

    fn values(&self) -> Values {
        let (_, first) = self.read(FIRST);
        let parts: Vec<Part> = stretches(&first)
            .iter()
            .map(|one| self.read(*one))
            .collect();
        values(first[0], &parts)
    }
}

fn of<'v>(values: &'v Values, name: &str) -> Option<&'v str> {
    let mut all = values.iter();
    all.find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

const A0: Space = (0x50, 0);
const A2: Space = (0x51, 0);

fn sfp(monitoring: u8) -> Made {
    Made::default()
        .with(A0, 0, &[3, 4, 7])
        .text(A0, 20, "EXAMPLE", 16)
        .text(A0, 40, "SR-10G", 16)
        .words(A0, 60, &[850])
        .with(A0, 92, &[monitoring])
        // Received power: 1000, 10, 794.3 and 15.8 µW.
        .words(A2, 32, &[10_000, 100, 7943, 158])
        // Temperature, voltage, bias, sent, received.
        .words(A2, 96, &[38 * 256 + 128, 32_804, 3199, 5695, 63])
        .with(A2, 112, &[0, 0b0100_0000])
        .with(A2, 116, &[0, 0b0100_0000])
}

#[test]
fn an_sfp_with_too_little_light() {
    let values = sfp(0x68).values();
    for (name, value) in [
        ("Identifier", "0x03 (SFP)"),
        ("Vendor name", "EXAMPLE"),
        ("Vendor PN", "SR-10G"),
        ("Laser wavelength", "850nm"),
        ("Optical diagnostics support", "Yes"),
        ("Laser bias current", "6.398 mA"),
        ("Laser output power", "-2.45 dBm"),
        ("Receiver signal average optical power", "-22.01 dBm"),
        ("Module temperature", "38.50 degrees C"),
        ("Module voltage", "3.2804 V"),
        ("Laser rx power low alarm", "On"),
        ("Laser rx power high alarm", "Off"),
        ("Laser rx power low warning", "On"),
        ("Module temperature high alarm", "Off"),
        ("Laser rx power high alarm threshold", "0.00 dBm"),
        ("Laser rx power low alarm threshold", "-20.00 dBm"),
    ] {
        assert_eq!(of(&values, name), Some(value), "{name}");
    }
    assert_eq!(
        of(&values, "Module voltage high alarm threshold"),
        None,
        "zeros"
    );
    assert_eq!(of(&values, "Vendor SN"), None, "blank");
}

#[test]
fn a_module_without_diagnostics_has_none() {
    let values = sfp(0).values();
    assert_eq!(of(&values, "Optical diagnostics support"), Some("No"));
    assert_eq!(of(&values, "Module temperature"), None);
}

#[test]
fn external_calibration_is_applied() {
    let module = sfp(0x50)
        .with(A2, 56, &[0; 12])
        // Received: 2.0 x raw + 1.0.
        .with(A2, 68, &2.0_f32.to_be_bytes())
        .with(A2, 72, &1.0_f32.to_be_bytes())
        // Bias: 1.5; sent: 1, -695; temperature: 1, -10 °C; voltage: 1.
        .words(A2, 76, &[384, 0])
        .words(A2, 80, &[256, 695_u16.wrapping_neg()])
        .words(A2, 84, &[256, 2560_u16.wrapping_neg()])
        .words(A2, 88, &[256, 0]);
    let values = module.values();
    for (name, value) in [
        ("Laser bias current", "9.597 mA"),
        ("Laser output power", "-3.01 dBm"),
        ("Receiver signal OMA", "-18.96 dBm"),
        ("Module temperature", "28.50 degrees C"),
    ] {
        assert_eq!(of(&values, name), Some(value), "{name}");
    }
}

#[test]
fn a_qsfp_by_lane() {
    let (page_0, page_3) = ((0x50, 0), (0x50, 3));
    let module = Made::default()
        .with(page_0, 0, &[0x11, 7, 0])
        .words(page_0, 22, &[30 * 256, 0, 32_847])
        .words(page_0, 34, &[9522, 9039, 0, 10_000])
        .words(page_0, 42, &[3375; 4])
        .words(page_0, 50, &[9077; 4])
        .text(page_0, 148, "EXAMPLE", 16)
        .words(page_0, 186, &[17_000])
        .with(page_0, 220, &[AVERAGE])
        .words(
            page_3,
            128,
            &[75 * 256, 1280_u16.wrapping_neg(), 70 * 256, 0],
        )
        .words(page_3, 176, &[21_878, 457, 17_378, 912]);
    let values = module.values();
    for (name, value) in [
        ("Identifier", "0x11 (QSFP28)"),
        ("Laser wavelength", "850nm"),
        ("Module temperature", "30.00 degrees C"),
        ("Laser tx bias current (Channel 4)", "6.750 mA"),
        ("Rcvr signal avg optical power (Channel 1)", "-0.21 dBm"),
        ("Rcvr signal avg optical power (Channel 3)", "-inf dBm"),
        ("Module temperature low alarm threshold", "-5.00 degrees C"),
        ("Laser rx power low alarm threshold", "-13.40 dBm"),
    ] {
        assert_eq!(of(&values, name), Some(value), "{name}");
    }
    // Flat memory: page 3 does not exist, and is not asked for.
    assert_eq!(stretches(&[0x11, 7, 4]).len(), 2);
}

const AVERAGE: u8 = 8;

#[test]
fn a_copper_cable_has_no_light() {
    let module = Made::default()
        .with((0x50, 0), 0, &[0x11, 7, 4])
        .with((0x50, 0), 147, &[0xa0])
        .text((0x50, 0), 148, "EXAMPLE", 16);
    let values = module.values();
    assert_eq!(of(&values, "Vendor name"), Some("EXAMPLE"));
    assert_eq!(values.len(), 2, "{values:?}");
}

#[test]
fn a_cmis_module_scales_its_bias() {
    let page = |page| (0x50, page);
    let module = Made::default()
        .with(page(0), 0, &[0x18, 0x50, 0])
        .words(page(0), 14, &[45 * 256, 33_000])
        .text(page(0), 129, "EXAMPLE", 16)
        .with(page(1), 160, &[0b0000_1111])
        .words(page(2), 184, &[10_000, 2000, 9000, 3000])
        .words(page(0x11), 154, &[10_000; 8])
        .words(page(0x11), 170, &[4000; 8])
        .words(
            page(0x11),
            186,
            &[10_000, 10_000, 1, 0, 10_000, 10_000, 10_000, 10_000],
        );
    let values = module.values();
    for (name, value) in [
        ("Identifier", "0x18 (QSFP-DD)"),
        ("Vendor name", "EXAMPLE"),
        ("Module temperature", "45.00 degrees C"),
        ("Laser tx bias current (Channel 8)", "16.000 mA"),
        ("Laser bias current high alarm threshold", "40.000 mA"),
        ("Rcvr signal avg optical power (Channel 3)", "-40.00 dBm"),
        ("Rcvr signal avg optical power (Channel 4)", "-inf dBm"),
    ] {
        assert_eq!(of(&values, name), Some(value), "{name}");
    }
}

#[test]
fn what_was_not_read_is_absent() {
    for first in [[3, 4, 7], [0x11, 0, 0], [0x18, 0, 0], [0xff, 0, 0]] {
        let parts: Vec<Part> = stretches(&first)
            .iter()
            .map(|one| (*one, Vec::new()))
            .collect();
        assert_eq!(values(first[0], &parts).len(), 1, "the identifier alone");
    }
    assert_eq!(stretches(&[]), &[]);
}

#[test]
fn no_flag_that_clears_is_read() {
    for first in [[0x11, 0, 0], [0x18, 0, 0]] {
        for stretch in stretches(&first) {
            let flags = if first[0] == 0x11 { 3..=21 } else { 8..=13 };
            assert!(stretch.page != 0 || !flags.contains(&stretch.offset));
            assert!(stretch.page != 0x11 || stretch.offset >= 154);
            assert!(usize::from(stretch.offset) + usize::from(stretch.bytes) <= 256);
        }
    }
}
