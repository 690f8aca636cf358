// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate regs`: what the bits of a MAC's or PHY's registers mean.

mod known;
mod live;
mod pasted;
mod told;

use std::io::ErrorKind;

use super::args::RegsArgs;
use super::session;
use crate::error::Failure;
use crate::exit::Exit;
use crate::output::{self, Color, Surroundings};
use told::Told;

/// Runs the command. Exit 2 for a name or value that cannot be, 3 where nothing could be read.
pub(super) fn run(args: &RegsArgs) -> Exit {
    match answer(args) {
        Ok(told) => print(&told, args),
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

fn print(told: &Told, args: &RegsArgs) -> Exit {
    let surroundings = Surroundings::read();
    let look = surroundings.look(Color::Auto, args.ascii);
    let text = if args.json {
        told.document()
    } else {
        Ok(told.text(look.ascii))
    };
    if !args.json {
        told.missed.iter().for_each(|missed| session::say(missed));
    }
    match text.and_then(|text| output::print(&text)) {
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
