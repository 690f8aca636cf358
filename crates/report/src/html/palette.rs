// SPDX-License-Identifier: MIT OR Apache-2.0
//! The colours of the light and the dark scheme. A test checks the contrast of each that carries meaning
//! with its backgrounds (WCAG 2.2 §1.4.3).

use super::writer::Html;

/// The custom property, and its colour in the light and the dark scheme.
struct Colour(&'static str, &'static str, &'static str);

const GROUNDS: &[Colour] = &[
    Colour("--page", "#f6f7f9", "#101317"),
    Colour("--card", "#ffffff", "#191d23"),
];

/// Each is legible on all backgrounds.
const INKS: &[Colour] = &[
    Colour("--ink", "#16191d", "#e8eaed"),
    Colour("--soft", "#4c535c", "#b3bac4"),
    Colour("--link", "#0b4fa8", "#8ab4f8"),
    Colour("--bad", "#a8201a", "#ff9a92"),
    Colour("--warn", "#7d4a00", "#f5bd60"),
    Colour("--good", "#17602d", "#86d39b"),
    Colour("--c0", "#0b57b7", "#8ab4f8"),
    Colour("--c1", "#9a4300", "#ffb27a"),
    Colour("--c2", "#1a6a34", "#86d39b"),
    Colour("--c3", "#7527b8", "#d5aefb"),
    Colour("--c4", "#a8201a", "#ff9a92"),
    Colour("--c5", "#006565", "#74d7d7"),
];

/// Lines that only separate.
const RULES: &[Colour] = &[
    Colour("--rule", "#d5d9df", "#353b44"),
    Colour("--band", "#e9edf3", "#232932"),
];

/// The colours as custom properties, dark if the system's scheme is dark; print is light.
pub(super) fn style(html: &mut Html) {
    html.raw(":root{color-scheme:light dark;");
    for colour in all() {
        declare(html, colour.0, colour.1);
    }
    html.raw("}@media screen and (prefers-color-scheme:dark){:root{");
    for colour in all() {
        declare(html, colour.0, colour.2);
    }
    html.raw("}}");
}

fn all() -> impl Iterator<Item = &'static Colour> {
    GROUNDS.iter().chain(INKS).chain(RULES)
}

fn declare(html: &mut Html, name: &'static str, value: &'static str) {
    for part in [name, ":", value, ";"] {
        html.raw(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn the_measure_is_that_of_wcag() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        assert!((contrast("#777777", "#ffffff") - 4.48).abs() < 0.01);
    }

    #[test]
    fn every_ink_can_be_read_on_every_ground() {
        for ink in INKS {
            for ground in GROUNDS {
                for (ink_is, ground_is) in [(ink.1, ground.1), (ink.2, ground.2)] {
                    let ratio = contrast(ink_is, ground_is);
                    assert!(
                        ratio >= 4.5,
                        "{} {ink_is} on {} {ground_is}: {ratio:.2}",
                        ink.0,
                        ground.0
                    );
                }
            }
            let band = [(ink.1, RULES[1].1), (ink.2, RULES[1].2)];
            assert!(
                band.iter().all(|(ink, band)| contrast(ink, band) >= 4.5),
                "{} on a band",
                ink.0
            );
        }
    }
}
