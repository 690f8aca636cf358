// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tokens of a struct as its name and fields.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// A struct with named fields, without those that no document has.
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    /// In Rust.
    pub(crate) name: String,
    /// In a document.
    pub(crate) key: String,
    /// Its type.
    pub(crate) kind: String,
    /// The fields of its struct stand among those of this one.
    pub(crate) flat: bool,
}

/// Reads a struct.
///
/// # Errors
/// It is anything else, has parameters, or an attribute that is not known here.
pub(crate) fn item(item: TokenStream) -> Result<Struct, String> {
    let mut tokens = item.into_iter();
    let is_struct = |token: &TokenTree| token.to_string() == "struct";
    let name = tokens.by_ref().skip_while(|token| !is_struct(token)).nth(1);
    match (name, tokens.next()) {
        (Some(name), Some(TokenTree::Group(body))) if body.delimiter() == Delimiter::Brace => {
            Ok(Struct {
                name: name.to_string(),
                fields: fields(body.stream())?,
            })
        }
        _ => Err("Fields is for structs with named fields and without parameters".to_owned()),
    }
}

fn fields(body: TokenStream) -> Result<Vec<Field>, String> {
    let mut fields = Vec::new();
    for declaration in split(body) {
        fields.extend(field(&declaration)?);
    }
    match fields.iter().filter(|field| field.flat).count() {
        0 | 1 => Ok(fields),
        _ => Err("Fields flattens one field".to_owned()),
    }
}

/// At the commas between fields: those within `<…>` are not.
fn split(body: TokenStream) -> Vec<Vec<TokenTree>> {
    let (mut all, mut last, mut depth) = (Vec::new(), Vec::new(), 0_u32);
    for token in body {
        match token.to_string().as_str() {
            "," if depth == 0 => {
                all.push(std::mem::take(&mut last));
                continue;
            }
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        last.push(token);
    }
    all.push(last);
    all
}

/// `None` for the end of the list, and for a field that is skipped.
fn field(declaration: &[TokenTree]) -> Result<Option<Field>, String> {
    let is_colon = |token: &TokenTree| token.to_string() == ":";
    let Some(colon) = declaration.iter().position(is_colon) else {
        return Ok(None);
    };
    let (before, kind) = declaration.split_at(colon);
    let name = before.last().map(TokenTree::to_string).unwrap_or_default();
    let kind: TokenStream = kind.iter().skip(1).cloned().collect();
    let mut field = Field {
        key: name.trim_start_matches("r#").to_owned(),
        name,
        kind: kind.to_string(),
        flat: false,
    };
    for attribute in before.iter().filter_map(serde) {
        match attribute.split_once(" = ") {
            None if attribute == "skip" => return Ok(None),
            None if attribute == "flatten" => field.flat = true,
            Some(("rename", key)) => key.trim_matches('"').clone_into(&mut field.key),
            _ => return Err(format!("Fields does not know serde({attribute})")),
        }
    }
    Ok(Some(field))
}

/// What is in the parentheses of `[serde(…)]`.
fn serde(token: &TokenTree) -> Option<String> {
    let TokenTree::Group(brackets) = token else {
        return None;
    };
    let mut inner = brackets.stream().into_iter();
    let named = inner.next()?.to_string() == "serde";
    match inner.next()? {
        TokenTree::Group(words) if named => Some(words.stream().to_string()),
        _ => None,
    }
}
