// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the measurements of a campaign reach the server: as the campaign's own flags say.

use crate::cli::args::TargetFlags;

/// HOST and the flags that say how it is reached, for a measuring command.
pub(super) fn server_words(target: &TargetFlags, host: &str) -> Vec<String> {
    let bind = target.bind.as_ref().map(|bind| match &bind.device {
        Some(device) => format!("{}%{device}", bind.address),
        None => bind.address.to_string(),
    });
    let token = target.token_file.as_ref();
    let valued = [
        ("-p", target.port.map(|port| port.to_string())),
        ("-B", bind),
        ("--bind-dev", target.bind_dev.clone()),
        (
            "--connect-timeout",
            target.connect_timeout.map(|ms| format!("{ms}ms")),
        ),
        ("--token-file", token.map(|path| path.display().to_string())),
    ];
    let valued = valued
        .into_iter()
        .filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let families = [("-4", target.version4), ("-6", target.version6)];
    let families = families.into_iter().filter(|(_, given)| *given);
    let families = families.map(|(name, _)| name.to_owned());
    let host = [host.to_owned()].into_iter();
    host.chain(valued.flatten()).chain(families).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn the_measurements_reach_the_server_as_the_campaign_does() {
        for words in [
            "h",
            "h -p 5300 -B 192.0.2.1%eth0 -4",
            "h --bind-dev eth0 --connect-timeout 2000ms --token-file /t -6",
        ] {
            let [once, again] = [words, &server_words(&target(words), "h").join(" ")].map(target);
            assert_eq!(format!("{once:?}"), format!("{again:?}"));
        }
    }

    fn target(words: &str) -> TargetFlags {
        let line = format!("linerate tcp {words}");
        match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Command::Tcp(args) => args.server.target,
            other => panic!("{other:?}"),
        }
    }
}
