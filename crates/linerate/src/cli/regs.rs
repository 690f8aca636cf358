// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate regs`: what the bits of a MAC's or PHY's registers mean.

mod known;
mod live;
mod pasted;
mod told;

use std::io::ErrorKind;

use super::args::RegsArgs;
use super::session;
use crate::exit::Exit;
use crate::output::{self, Color, Surroundings};
use linerate_model::failure::Failure;
use told::Told;

/// Runs the command. Exit 2 for a name or value that cannot be, 3 where nothing could be read.
pub(super) fn run(args: &RegsArgs) -> Exit {
    match answer(args).and_then(|told| text(&told, args)) {
        Ok(text) => printed(&text),
        Err(failure) => session::refuse("regs", args.json, &failure),
    }
}

fn answer(args: &RegsArgs) -> Result<Told, Failure> {
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

fn text(told: &Told, args: &RegsArgs) -> Result<String, Failure> {
    if args.json {
        let document = told.document();
        return document.map_err(|error| Failure::measuring("write the document", error));
    }
    told.missed.iter().for_each(|missed| session::say(missed));
    let look = Surroundings::read().look(Color::Auto, args.ascii);
    Ok(told.text(look.ascii))
}

/// To stdout; a reader that went away is a quiet success.
fn printed(text: &str) -> Exit {
    match output::print(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => session::refuse(
            "regs",
            false,
            &Failure::measuring("print the registers", error),
        ),
        _ => Exit::Ok,
    }
}

fn nothing_asked() -> Failure {
    Failure::usage(
        "show registers",
        "neither an interface nor a value is given",
    )
    .hint("linerate regs eth0      or      linerate regs --map nxp-enet RCR=0x05ee0264")
}
