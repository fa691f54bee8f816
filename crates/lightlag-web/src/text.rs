//! The text of a scenario: the positions of its keys, and edits that preserve its comments and its order.

use serde::Serialize;
use serde_json::Value as Json;
use std::ops::Range;
use toml_edit::{Array, ArrayOfTables, Document, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

/// A range in a text, in UTF-16 code units.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct TextRange {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// A step of a path to a value: a key or an index.
#[derive(Clone, PartialEq, Eq, Debug)]
enum PathStep {
    Key(String),
    Index(usize),
}

/// Returns the steps of a path such as `links[1].rate`; `None` if it is invalid. A key in quotes may contain any
/// character.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (number, behind) = inside.split_once(']')?;
            steps.push(PathStep::Index(number.parse().ok()?));
            rest = behind;
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (key, behind) = quoted.split_once('"')?;
            steps.push(PathStep::Key(key.to_owned()));
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(end);
            steps.push(PathStep::Key(key.to_owned()));
            rest = behind;
        }
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
            if rest.is_empty() {
                return None;
            }
        }
    }
    let is_whole = |step: &PathStep| !matches!(step, PathStep::Key(key) if key.is_empty());
    (!steps.is_empty() && steps.iter().all(is_whole)).then_some(steps)
}

/// The positions of the keys in a text.
pub(crate) struct KeyRanges<'a> {
    text: &'a str,
    document: Option<Document<&'a str>>,
}

impl<'a> KeyRanges<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, document: Document::parse(text).ok() }
    }

    /// Returns the range in the text for a path: the value, or the nearest enclosing table if there is no value. A path
    /// such as "line 3, column 5" refers to the rest of that line.
    pub(crate) fn find(&self, path: &str) -> Option<TextRange> {
        if let Some(place) = self.line_and_column(path) {
            return Some(place);
        }
        let document = self.document.as_ref()?;
        let mut range = None;
        let mut item = At::Item(document.as_item());
        for step in steps(path)? {
            let Some((span, next)) = item.step(&step) else { break };
            range = span.or(range);
            item = next;
        }
        Some(self.in_utf16(range?))
    }

    /// Returns the path of a key that refers to a file with code, if there is one.
    pub(crate) fn code(&self) -> Option<String> {
        let document = self.document.as_ref()?;
        code_below(At::Item(document.as_item()), "")
    }

    fn line_and_column(&self, path: &str) -> Option<TextRange> {
        let (line, column) = path.strip_prefix("line ")?.split_once(", column ")?;
        let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
        let start: usize = self.text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
        let rest = self.text.get(start..)?;
        let length = rest.find('\n').unwrap_or(rest.len());
        let before: usize = rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
        Some(self.in_utf16(start + before.min(length)..start + length))
    }

    fn in_utf16(&self, bytes: Range<usize>) -> TextRange {
        let units = |end: usize| self.text.get(..end).unwrap_or(self.text).encode_utf16().count();
        TextRange { from: units(bytes.start), to: units(bytes.end) }
    }
}

/// A part of a document, at any level.
#[derive(Clone, Copy)]
enum At<'a> {
    Item(&'a Item),
    Table(&'a Table),
    Value(&'a Value),
}

impl<'a> At<'a> {
    fn table(self) -> Option<&'a dyn TableLike> {
        match self {
            Self::Item(item) => item.as_table_like(),
            Self::Table(table) => Some(table),
            Self::Value(value) => value.as_inline_table().map(|table| table as &dyn TableLike),
        }
    }

    /// Returns a nested value and its range. The range includes the key if both are on one line.
    fn step(self, step: &PathStep) -> Option<(Option<Range<usize>>, Self)> {
        match step {
            PathStep::Key(key) => {
                let (key, item) = self.table()?.get_key_value(key)?;
                let span = match (key.span(), item.span()) {
                    (Some(key), Some(value)) if item.is_value() => Some(key.start..value.end.max(key.end)),
                    (key, value) => value.or(key),
                };
                Some((span, Self::Item(item)))
            }
            PathStep::Index(index) => match self {
                Self::Item(Item::ArrayOfTables(tables)) => {
                    let table = tables.get(*index)?;
                    Some((table.span(), Self::Table(table)))
                }
                Self::Item(Item::Value(Value::Array(array))) | Self::Value(Value::Array(array)) => {
                    let value = array.get(*index)?;
                    Some((value.span(), Self::Value(value)))
                }
                Self::Item(_) | Self::Table(_) | Self::Value(_) => None,
            },
        }
    }

    fn items(self) -> Vec<Self> {
        match self {
            Self::Item(Item::ArrayOfTables(tables)) => tables.iter().map(Self::Table).collect(),
            Self::Item(Item::Value(Value::Array(array))) | Self::Value(Value::Array(array)) => {
                array.iter().map(Self::Value).collect()
            }
            Self::Item(_) | Self::Table(_) | Self::Value(_) => Vec::new(),
        }
    }
}

fn code_below(node: At<'_>, path: &str) -> Option<String> {
    if let Some(table) = node.table() {
        return table.iter().find_map(|(key, item)| {
            let below = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            if key == "python" || key == "plugin" { Some(below) } else { code_below(At::Item(item), &below) }
        });
    }
    node.items().into_iter().enumerate().find_map(|(index, item)| code_below(item, &format!("{path}[{index}]")))
}

/// Returns the text with another value at a path; null removes the value. Missing tables are created; an index one past
/// the end appends an entry to a list.
///
/// # Errors
/// A message, if the text is not TOML or the path does not exist.
pub(crate) fn edited(text: &str, path: &str, value: Json) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("not TOML: {error}"))?;
    let steps =
        steps(path).ok_or_else(|| format!("{path:?} is not a valid path; write one such as \"links[0].rate\""))?;
    let nowhere = || format!("{path}: the path is not in the text");
    put(Within::Table(document.as_table_mut()), &steps, &value, false).ok_or_else(nowhere)?;
    Ok(document.to_string())
}

/// The part of a document that is to be changed.
enum Within<'a> {
    Table(&'a mut dyn TableLike),
    List(&'a mut Item),
    Array(&'a mut Array),
}

/// Sets the value at the path `steps` in a part of the document. `is_inline` is true if the part is inside braces or
/// brackets, where a table has no header.
fn put(within: Within<'_>, steps: &[PathStep], value: &Json, is_inline: bool) -> Option<()> {
    let (step, rest) = steps.split_first()?;
    match (within, step) {
        (Within::Table(table), PathStep::Key(key)) => put_key(table, key, rest, value, is_inline),
        (Within::List(item), PathStep::Index(index)) => put_entry(item, *index, rest, value),
        (Within::Array(array), PathStep::Index(index)) => put_value(array, *index, rest, value),
        _ => None,
    }
}

fn put_key(table: &mut dyn TableLike, key: &str, rest: &[PathStep], value: &Json, is_inline: bool) -> Option<()> {
    let Some(next) = rest.first() else {
        if value.is_null() {
            table.remove(key);
            return Some(());
        }
        match table.get_mut(key) {
            Some(item) => replace(item, value, is_inline),
            None => {
                table.insert(key, item_of(value, is_inline));
                Some(())
            }
        }?;
        return Some(());
    };
    if table.get(key).is_none_or(Item::is_none) {
        if value.is_null() {
            return Some(());
        }
        let empty = match (next, is_inline) {
            (PathStep::Key(_), false) => {
                let mut table = Table::new();
                // Without its own keys it needs no heading.
                table.set_implicit(true);
                Item::Table(table)
            }
            (PathStep::Key(_), true) => Item::Value(InlineTable::new().into()),
            (PathStep::Index(_), false) if value.is_object() || rest.len() > 1 => {
                Item::ArrayOfTables(ArrayOfTables::new())
            }
            (PathStep::Index(_), _) => Item::Value(Array::new().into()),
        };
        table.insert(key, empty);
    }
    let item = table.get_mut(key)?;
    match next {
        PathStep::Index(_) if item.as_array().is_some() => put(Within::Array(item.as_array_mut()?), rest, value, true),
        PathStep::Index(_) => put(Within::List(item), rest, value, false),
        PathStep::Key(_) => {
            // A value that abbreviates a table is the table's first key, which the schema does not specify: it is
            // removed.
            if item.as_table_like().is_none() {
                *item = Item::Value(InlineTable::new().into());
            }
            let inline = item.is_inline_table();
            put(Within::Table(item.as_table_like_mut()?), rest, value, inline)
        }
    }
}

fn put_entry(item: &mut Item, index: usize, rest: &[PathStep], value: &Json) -> Option<()> {
    let tables = item.as_array_of_tables_mut()?;
    if index > tables.len() {
        return None;
    }
    if rest.is_empty() && value.is_null() {
        if index < tables.len() {
            tables.remove(index);
        }
        return Some(());
    }
    if index == tables.len() {
        tables.push(Table::new());
    }
    let table = tables.get_mut(index)?;
    if rest.is_empty() {
        let Item::Table(new) = item_of(value, false) else { return None };
        let (decor, position) = (table.decor().clone(), table.position());
        *table = new;
        *table.decor_mut() = decor;
        if let Some(position) = position {
            table.set_position(Some(position));
        }
        return Some(());
    }
    // A new value in an entry of a list is written on one line.
    let is_inline = rest.len() == 1 && value.is_object();
    put(Within::Table(table), rest, value, is_inline)
}

fn put_value(array: &mut Array, index: usize, rest: &[PathStep], value: &Json) -> Option<()> {
    if index > array.len() {
        return None;
    }
    if rest.is_empty() {
        if value.is_null() {
            if index < array.len() {
                array.remove(index);
            }
        } else if index == array.len() {
            array.push(value_of(value));
        } else {
            array.replace(index, value_of(value));
        }
        return Some(());
    }
    if index == array.len() {
        array.push(if matches!(rest.first(), Some(PathStep::Key(_))) {
            InlineTable::new().into()
        } else {
            Value::from(Array::new())
        });
    }
    match array.get_mut(index)? {
        Value::InlineTable(table) => put(Within::Table(table), rest, value, true),
        Value::Array(array) => put(Within::Array(array), rest, value, true),
        _ => None,
    }
}

/// Replaces a value, and preserves the comment after it.
fn replace(item: &mut Item, value: &Json, is_inline: bool) -> Option<()> {
    if let Item::Value(old) = &*item {
        let mut new = value_of(value);
        *new.decor_mut() = old.decor().clone();
        *item = Item::Value(new);
        return Some(());
    }
    let mut new = item_of(value, is_inline);
    if let (Item::Table(old), Item::Table(new)) = (&*item, &mut new) {
        *new.decor_mut() = old.decor().clone();
        new.set_position(old.position());
    }
    *item = new;
    Some(())
}

/// Returns an item with this value. Objects become separate tables if possible.
fn item_of(value: &Json, is_inline: bool) -> Item {
    match value {
        Json::Object(entries) if !is_inline => {
            let mut table = Table::new();
            for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
                table.insert(key, item_of(value, true));
            }
            Item::Table(table)
        }
        Json::Array(items) if !is_inline && !items.is_empty() && items.iter().all(Json::is_object) => {
            let tables = items.iter().filter_map(|item| item_of(item, false).into_table().ok());
            Item::ArrayOfTables(tables.collect())
        }
        _ => Item::Value(value_of(value)),
    }
}

fn value_of(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(""),
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().filter(|item| !item.is_null()).map(value_of).collect::<Array>().into(),
        Json::Object(entries) => {
            let mut table = InlineTable::new();
            for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
                table.insert(key, value_of(value));
            }
            table.into()
        }
    }
}

/// Returns a scenario as TOML text.
///
/// # Errors
/// A message, if the value is not an object.
pub(crate) fn written(scenario: Json) -> Result<String, String> {
    let Json::Object(entries) = scenario else { return Err("a scenario is an object".to_owned()) };
    let mut document = DocumentMut::new();
    let is_plain = |value: &Json| match value {
        Json::Object(_) => false,
        Json::Array(items) => items.is_empty() || !items.iter().all(Json::is_object),
        _ => true,
    };
    // Otherwise keys before the first heading would belong to the table before them.
    let (plain, tables): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, value)| is_plain(value));
    for (key, value) in plain.into_iter().chain(tables).filter(|(_, value)| !value.is_null()) {
        document.as_table_mut().insert(&Key::new(key), item_of(value, false));
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "# A pair.\nduration = \"10 s\" # long enough\n\n[[links]] # the only one\nbetween = [\"a\", \"b\"]\nrate = { forward = \"1 Mbit/s\", \
                        backward = \"2 Mbit/s\" }\n\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n";

    fn part(path: &str) -> String {
        let range = KeyRanges::of(TEXT).find(path).unwrap();
        let units: Vec<u16> = TEXT.encode_utf16().collect();
        String::from_utf16(&units[range.from..range.to]).unwrap()
    }

    #[test]
    fn paths_lead_to_settings() {
        assert_eq!(part("links[0].rate.backward"), "backward = \"2 Mbit/s\"");
        assert_eq!(part("links[0].between[1]"), "\"b\"");
        assert_eq!(part("duration"), "duration = \"10 s\"");
        assert!(part("links[0].delay").starts_with("[[links]]"), "a missing key is in its table");
        assert_eq!(part("line 2, column 12"), "\"10 s\" # long enough");
        assert!(KeyRanges::of(TEXT).find("nothing").is_none());
    }

    #[test]
    fn an_edit_keeps_comments() {
        let text = edited(TEXT, "duration", json!("20 s")).unwrap();
        assert_eq!(text, TEXT.replace("10 s", "20 s"));
        let text = edited(&text, "links[0].rate.forward", json!("3 Mbit/s")).unwrap();
        assert!(text.contains("rate = { forward = \"3 Mbit/s\", backward = \"2 Mbit/s\" }"), "{text}");
        let text = edited(&text, "links[0].rate", json!("4 Mbit/s")).unwrap();
        assert!(text.contains("[[links]] # the only one\n") && text.contains("rate = \"4 Mbit/s\"\n"), "{text}");
        let text = edited(&text, "links[0].loss", json!({ "every": 100 })).unwrap();
        assert!(text.contains("rate = \"4 Mbit/s\"\nloss = { every = 100 }\n"), "{text}");
        let text = edited("queue = \"10 packets\" # short\n", "queue", json!({ "packets": 5 })).unwrap();
        assert_eq!(text, "queue = { packets = 5 } # short\n");
    }

    #[test]
    fn edits_create_and_remove_tables() {
        let text = edited(TEXT, "flows[1]", json!({ "from": "b", "to": "a" })).unwrap();
        assert!(text.ends_with("[[flows]]\nfrom = \"b\"\nto = \"a\"\n"), "{text}");
        let text = edited(&text, "defaults.tcp.congestion", json!("bbr")).unwrap();
        assert!(text.contains("[defaults.tcp]\ncongestion = \"bbr\"\n"), "{text}");
        let text = edited(&text, "flows[1]", Json::Null).unwrap();
        let text = edited(&text, "defaults", Json::Null).unwrap();
        assert_eq!(text, TEXT);
        assert!(edited(TEXT, "flows[7].from", json!("x")).is_err());
        assert!(edited(TEXT, "flows[", json!("x")).unwrap_err().contains("is not a valid path"));
    }

    #[test]
    fn code_is_found_at_any_position() {
        let text = "flows = [{ tcp = { congestion = { python = \"x.py\" } } }]\n";
        assert_eq!(KeyRanges::of(text).code().as_deref(), Some("flows[0].tcp.congestion.python"));
        assert_eq!(KeyRanges::of(TEXT).code(), None);
    }

    #[test]
    fn a_scenario_is_written_as_it_reads() {
        let scenario = lightlag_scenario::parse_toml(
            "duration = \"5 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n",
            &[],
        );
        let scenario = scenario.unwrap();
        let text = written(scenario.to_json()).unwrap();
        assert_eq!(lightlag_scenario::parse_toml(&text, &[]).unwrap(), scenario, "{text}");
    }
}
