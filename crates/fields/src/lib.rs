// SPDX-License-Identifier: MIT OR Apache-2.0
//! `#[derive(Fields)]`: reads a struct from a document, each field in its place. In: the tokens of a struct with named fields.
//! Out: its `linerate_model::fields::Fields`, and `serde::Deserialize` by it.
//!
//! What a document lacks keeps its default, what the struct lacks is skipped, and a name that comes twice is an error: as with
//! `Deserialize` and `#[serde(default)]`. That derive keeps every field in a variable of its own until all are read, and
//! compares names in code; here a field is a call and an entry of a table, a tenth of the code.
//!
//! Of serde's attributes of a field it knows `rename = "…"`, `skip`, and `flatten` of one struct that has `Fields`.
#![forbid(unsafe_code)]

mod parse;

use std::fmt::Write as _;

use parse::{Field, Struct};
use proc_macro::TokenStream;

/// Implements `linerate_model::fields::Fields` and `serde::Deserialize`.
#[proc_macro_derive(Fields, attributes(serde))]
pub fn fields(item: TokenStream) -> TokenStream {
    let written = match parse::item(item) {
        Ok(item) => implementations(&item),
        Err(why) => format!("::core::compile_error!({why:?});"),
    };
    // It is Rust: what is parsed here was parsed before.
    written.parse().unwrap_or_default()
}

fn implementations(Struct { name, fields }: &Struct) -> String {
    let (flat, own): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(|field| field.flat);
    let flat = flat.first();
    let (mut names, mut arms) = (String::new(), String::new());
    for (number, Field { name, key, .. }) in own.iter().enumerate() {
        let _ = write!(names, "\\x{:02x}{key}", key.len());
        let _ = write!(
            arms,
            "{number} => ::linerate_model::fields::value(&mut self.{name}, entries), "
        );
    }
    let count = own.len();
    let (more, rest) = match flat {
        None => (
            "None".to_owned(),
            "::linerate_model::fields::skipped(entries)".to_owned(),
        ),
        Some(Field { name, kind, .. }) => (
            format!(
                "<{kind} as ::linerate_model::fields::Fields>::number(name).map(|one| one + {count})"
            ),
            format!("self.{name}.fill(number.wrapping_sub({count}), entries)"),
        ),
    };
    format!(
        "#[automatically_derived]
        impl ::linerate_model::fields::Fields for {name} {{
            fn number(name: &str) -> Option<usize> {{
                match ::linerate_model::fields::position(b\"{names}\", name) {{
                    None => {more},
                    own => own,
                }}
            }}
            fn fill<'de, A: ::serde::de::MapAccess<'de>>(&mut self, number: usize, entries: &mut A)
                -> ::core::result::Result<(), A::Error>
            {{
                match number {{ {arms} _ => {rest} }}
            }}
        }}
        #[automatically_derived]
        impl<'de> ::serde::Deserialize<'de> for {name} {{
            fn deserialize<D: ::serde::Deserializer<'de>>(reader: D) -> ::core::result::Result<Self, D::Error> {{
                ::linerate_model::fields::read(reader)
            }}
        }}"
    )
}
