// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate regs`: what the bits of a MAC's or PHY's registers mean.

mod known;
mod live;
mod pasted;
mod view;

use super::args::RegsArgs;
use super::{document, session};
use crate::exit::Exit;
use crate::output::{Color, Surroundings};
use linerate_model::failure::Failure;
use linerate_model::printable::Printable;
use view::RegisterView;

/// Runs the command. Exit 2 for a name or value that cannot be, 3 where nothing could be read.
pub(super) fn run(args: &RegsArgs) -> Exit {
    let text = answer(args).and_then(|view| text(&view, args));
    session::ended(
        "regs",
        args.json,
        text.and_then(|text| document::print(&text)),
    )
}

fn answer(args: &RegsArgs) -> Result<RegisterView, Failure> {
    let map = args.map.as_deref().map(known::map).transpose()?;
    match (&map, args.words.as_slice()) {
        (None, []) => Err(nothing_asked()),
        (Some(map), []) => Ok(known::registers(map)),
        (None, [interface, names @ ..]) if !pasted::is_pasted(interface) => {
            live::read(interface, names, args.speed, args.device_memory)
        }
        (map, words) => pasted::decode_words(map.as_deref(), words, args.speed),
    }
}

fn text(view: &RegisterView, args: &RegsArgs) -> Result<Printable, Failure> {
    if args.json {
        let document = view.document();
        return document.map_err(|error| Failure::measuring("write the document", error));
    }
    view.missed.iter().for_each(|missed| session::say(missed));
    let look = Surroundings::read().look(Color::Auto, args.ascii);
    Ok(Printable::of(&view.text(look.ascii)))
}

fn nothing_asked() -> Failure {
    Failure::usage(
        "show registers",
        "neither an interface nor a value is given",
    )
    .hint("linerate regs eth0      or      linerate regs --map nxp-enet RCR=0x05ee0264")
}
