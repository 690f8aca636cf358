// SPDX-License-Identifier: MIT OR Apache-2.0
use linerate_model::output::{Forward, ForwardResult, Output};
use proptest::prelude::*;

use super::*;
use crate::term::tests::fixture;

fn page(name: &str) -> String {
    let output = fixture::all().into_iter().find(|(known, _)| *known == name);
    render(&[Subject {
        output: output.unwrap().1,
        ..Subject::default()
    }])
}

/// Start and end tags, with their attributes as written.
fn tags(page: &str) -> Vec<&str> {
    let script = page.find("<script>").unwrap();
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    let parts = [&page[..style.start], &page[style.end..script]];
    parts
        .iter()
        .flat_map(|part| part.split('<').skip(1))
        .map(|tag| tag.split('>').next().unwrap())
        .collect()
}

#[test]
fn what_is_opened_is_closed() {
    for (name, _) in fixture::all() {
        let page = page(name);
        let mut open: Vec<&str> = Vec::new();
        for tag in tags(&page) {
            let word = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap();
            match tag.strip_prefix('/') {
                Some("style") => {}
                Some(end) => assert_eq!(open.pop(), Some(end), "{name}"),
                None if ["!DOCTYPE", "meta", "link"].contains(&word) => {}
                None => open.push(word),
            }
        }
        assert_eq!(open, ["html", "body"], "{name}");
    }
}

#[test]
fn every_picture_has_a_name_and_every_id_is_one() {
    let page = page("check");
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(ids.len() > 5);
    for (at, id) in ids.iter().enumerate() {
        assert!(!ids[..at].contains(id), "{id} twice");
    }
    for tag in tags(&page).iter().filter(|tag| tag.starts_with("svg")) {
        let named = tag
            .split("aria-labelledby=\"")
            .nth(1)
            .map(|rest| rest.split('"').next().unwrap());
        match named {
            Some(id) => assert!(tag.contains("role=\"img\"") && ids.contains(&id), "{tag}"),
            None => assert!(tag.contains("aria-hidden=\"true\""), "{tag}"),
        }
    }
    for table in page.split("<table").skip(1) {
        assert!(table.contains("scope=\"col\""), "a table without heads");
    }
}

#[test]
fn nothing_on_the_page_is_elsewhere() {
    for (name, _) in fixture::all() {
        let page = page(name);
        for tag in tags(&page) {
            for link in [" src=", " action=", " srcset=", "@import", "url(http"] {
                assert!(!tag.contains(link), "{name}: {tag}");
            }
            assert!(
                !tag.contains(" href=\"")
                    || tag.contains("href=\"#")
                    || tag.contains("href=\"data:,\""),
                "{tag}"
            );
        }
    }
}

#[test]
fn the_answer_is_first_and_the_details_are_folded() {
    let page = page("check");
    let headings = page.split("<h2 ").skip(1);
    let headings: Vec<&str> = headings
        .filter_map(|rest| rest.split(['>', '<']).nth(1))
        .collect();
    assert_eq!(headings, ["The answer", "Pictures", "Details"]);
    assert!(page.contains("<details><summary>The numbers</summary>"));
    assert!(!page.contains("<details open"));
    let explained = self::page("explained");
    let fix = explained.find("What to fix").unwrap();
    assert!(explained.find("The answer").unwrap() < fix);
    assert!(fix < explained.find(">Details<").unwrap());
}

#[test]
fn no_line_joins_the_trials_of_a_search() {
    let page = page("sweep");
    let chart = page.split("Loss by offered rate</figcaption>").nth(1);
    let chart = chart.unwrap().split("</figure>").next().unwrap();
    assert!(chart.matches("class=\"mark\"").count() > 3, "{chart}");
    assert!(!chart.contains("class=\"curve\""), "{chart}");
}

#[test]
fn a_device_begins_with_its_rates_by_size() {
    let row = |frame_bytes, irregular: Option<&str>| ForwardResult {
        frame_bytes,
        goal: "ndr".to_owned(),
        irregular: irregular.map(str::to_owned),
        ..ForwardResult::default()
    };
    let output = Output {
        forward: Some(Forward::default()),
        results: vec![row(64, None), row(1518, Some(ForwardResult::UNFINISHED))],
        explained: true,
        ..Output::new("forward", "0.1.0")
    };
    let page = render(&[Subject {
        output,
        ..Subject::default()
    }]);
    let answer = page.split(">The answer</h2>").nth(1).unwrap();
    let first = "<p class=\"headline warn\">not finished: 1 of 2 searches did not end</p><div";
    assert!(answer.starts_with(first), "{answer}");
    let table = answer.split("</table>").next().unwrap();
    assert!(
        table.contains("<td class=\"l\">not finished</td>"),
        "{table}"
    );
}

proptest! {
    #[test]
    fn no_name_becomes_markup(name in "[<>\"'&a-c/= \n\\x00-\\x1f\u{202e}]{1,24}") {
        let mut output = fixture::all().into_iter().find(|(known, _)| *known == "explained").unwrap().1;
        let quiet = tags(&render(&[Subject { output: output.clone(), ..Subject::default() }])).len();
        for host in &mut output.hosts {
            host.hostname = Some(name.clone());
        }
        for test in &mut output.tests {
            test.name.clone_from(&name);
        }
        for finding in &mut output.findings {
            finding.title.clone_from(&name);
            finding.why.clone_from(&name);
        }
        let subject = Subject { output, label: name, ..Subject::default() };
        let page = render(&[subject.clone(), subject]);
        let known = tags(&page);
        prop_assert!(known.len() <= 2 * quiet + 8, "more elements than without the name");
        for tag in known {
            let word = tag.trim_start_matches('/').split(' ').next().unwrap();
            prop_assert!(ELEMENTS.contains(&word), "<{}>", tag);
            prop_assert!(!tag.contains(" on"), "{}", tag);
        }
    }
}

const ELEMENTS: &[&str] = &[
    "!DOCTYPE",
    "a",
    "article",
    "body",
    "caption",
    "circle",
    "clipPath",
    "code",
    "dd",
    "desc",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "g",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "html",
    "li",
    "line",
    "link",
    "main",
    "meta",
    "p",
    "path",
    "pre",
    "rect",
    "section",
    "small",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];
