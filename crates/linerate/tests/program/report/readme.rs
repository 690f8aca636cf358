// SPDX-License-Identifier: MIT OR Apache-2.0
//! The picture in the README is there, was made by this tool, and says what the README says.

use std::fs;
use std::path::Path;

#[test]
fn the_picture_is_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let pictures: Vec<(&str, &str)> = readme
        .split("![")
        .skip(1)
        .map(|rest| {
            let (says, rest) = rest.split_once("](").unwrap();
            (says, rest.split(')').next().unwrap())
        })
        .collect();
    assert!(!pictures.is_empty(), "no picture in the README");
    for (says, name) in pictures {
        let picture = fs::read_to_string(root.join(name)).unwrap();
        assert!(picture.starts_with("<svg xmlns="), "{name}");
        assert!(picture.len() < 100_000, "{name}: {}", picture.len());
        let title = format!("<title id=\"title\">{says}</title>");
        assert!(picture.contains(&title), "{name}: {title}");
        let command = format!("linerate report /tmp/window -o {name}");
        assert!(readme.contains(&command), "{name}: made by what?");
    }
}
