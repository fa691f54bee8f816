//! Files that list the objects of a web page, in JSON.

use super::files::Files;
use super::{Errors, FromValue, LARGEST, Path, ScenarioError, TableReader, nearest, not_one_of, shortened, shown};
use lightlag_core::{Bytes, Duration};
use lightlag_traffic::page::{MOST_OBJECTS, PageError, WebObject, WebPage};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// Maximum size of a file.
const MOST: u64 = 64 << 20;
/// Default size of a request.
const REQUEST: Bytes = Bytes(300);
/// Types of objects with their urgency. Documents, style sheets and scripts block the display of a page, so browsers
/// request them before images; 3 is the default of RFC 9218 §4.1.
const TYPES: [(&str, u8); 6] = [("document", 0), ("css", 1), ("font", 2), ("script", 2), ("other", 3), ("image", 4)];
/// Lowest urgency (RFC 9218 §4.1).
const LAST: u64 = 7;

/// An object as it is written: its parents are names.
struct Listed {
    object: WebObject,
    host: String,
    after: Option<Vec<String>>,
}

/// Reads a page.
///
/// # Errors
/// The message states why the file cannot be read, or its first error and the number of further ones.
pub fn read_page(files: &Files, file: &str) -> Result<WebPage, String> {
    let (file, _) = files.open(file)?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MOST {
        return Err(format!("is longer than {MOST} bytes"));
    }
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("is not complete JSON: {error}; write it again"))?;
    let mut errors = Errors::default();
    let page = page(&value, &mut errors);
    errors.or(page).map_err(|errors| {
        let more = if errors.len() > 1 { format!(" ({} further errors)", errors.len() - 1) } else { String::new() };
        let ScenarioError { path, message } = &errors[0];
        if path.is_empty() { format!("{message}{more}") } else { format!("{path}: {message}{more}") }
    })
}

fn page(value: &Value, errors: &mut Errors) -> Option<WebPage> {
    let root = Path::Root;
    let mut table = TableReader::open(value, &root, "a table with objects", errors)?;
    let _: Option<String> = table.optional("source", errors);
    let given = table.required_value("objects", "list the objects of the page", errors)?;
    table.finish(errors);
    let path = Path::Key(&root, "objects");
    let Some(items) = given.as_array() else {
        errors.push(path, format!("{} is not a list of objects", shown(given)));
        return None;
    };
    if items.len() > MOST_OBJECTS {
        errors.push(path, format!("{} objects are more than {MOST_OBJECTS}, the maximum of a page", items.len()));
        return None;
    }
    let before = errors.len();
    let read = |(index, item)| object(item, &Path::Index(&path, index), errors);
    let listed: Vec<Option<Listed>> = items.iter().enumerate().map(read).collect();
    let listed: Vec<Listed> = listed.into_iter().flatten().collect();
    if errors.len() > before {
        return None;
    }
    let (objects, hosts) = resolved(listed, &path, errors)?;
    match WebPage::new(objects, hosts) {
        Ok(page) => Some(page),
        Err(error @ (PageError::Empty | PageError::Cycle(_))) => {
            errors.push(path, error.to_string());
            None
        }
    }
}

fn object(value: &Value, path: &Path, errors: &mut Errors) -> Option<Listed> {
    let before = errors.len();
    let mut table = TableReader::open(value, path, "an object such as { \"id\": \"a.css\", \"size\": 8000 }", errors)?;
    let id: Option<String> = table.required("id", "give each object a name of its own", errors);
    let response = table.required_value("size", "specify the size of the response, such as 8000", errors);
    let response = response.and_then(|value| size(value, &Path::Key(path, "size"), errors));
    let request = table.value("request").map(|value| size(value, &Path::Key(path, "request"), errors));
    let server_time: Duration = table.optional("server_time", errors).unwrap_or_default();
    let delay: Duration = table.optional("delay", errors).unwrap_or_default();
    let kind: Option<String> = table.optional("type", errors);
    let mut urgency = 3;
    if let Some(kind) = kind {
        match TYPES.iter().find(|(name, _)| *name == kind) {
            Some((_, usual)) => urgency = *usual,
            None => {
                let names = TYPES.map(|(name, _)| name);
                errors.push(Path::Key(path, "type"), not_one_of(&kind, "a type of object", &names));
            }
        }
    }
    if let Some(given) = table.value("urgency") {
        match given.as_u64().filter(|given| *given <= LAST) {
            Some(given) => urgency = given as u8,
            None => errors.push(
                Path::Key(path, "urgency"),
                format!("{} is not an urgency from 0 (first) to {LAST} (last)", shown(given)),
            ),
        }
    }
    let host: String = table.optional("host", errors).unwrap_or_default();
    let after = table.value("after").map(|given| names(given, &Path::Key(path, "after"), errors));
    table.finish(errors);
    let request = request.unwrap_or(Some(REQUEST))?;
    let object =
        WebObject { id: id?, request, response: response?, server_time, delay, urgency, ..WebObject::default() };
    (errors.len() == before).then_some(Listed { object, host, after })
}

/// Reads a size: a number of bytes, or a string such as "8 kB".
fn size(value: &Value, path: &Path, errors: &mut Errors) -> Option<Bytes> {
    let size = match value.as_u64() {
        Some(bytes) => Bytes(bytes),
        None => Bytes::read(value, path, errors)?,
    };
    if size == Bytes::ZERO || size > LARGEST {
        errors.push(path, format!("{size} is not a size from 1 B to {LARGEST}"));
        return None;
    }
    Some(size)
}

fn names(value: &Value, path: &Path, errors: &mut Errors) -> Vec<String> {
    let Some(items) = value.as_array() else {
        errors.push(path, format!("{} is not a list of ids", shown(value)));
        return Vec::new();
    };
    let read = |(index, item)| String::read(item, &Path::Index(path, index), errors);
    let names: Vec<Option<String>> = items.iter().enumerate().map(read).collect();
    names.into_iter().flatten().collect()
}

/// Replaces the names of parents and hosts by their indices. Objects without `after` wait for the first object.
fn resolved(listed: Vec<Listed>, path: &Path, errors: &mut Errors) -> Option<(Vec<WebObject>, Vec<String>)> {
    let before = errors.len();
    let mut indices: BTreeMap<String, u32> = BTreeMap::new();
    for (index, Listed { object, .. }) in listed.iter().enumerate() {
        if indices.insert(object.id.clone(), index as u32).is_some() {
            let message = format!("{:?} is already the id of another object", shortened(&object.id));
            errors.push(Path::Key(&Path::Index(path, index), "id"), message);
        }
    }
    let (mut hosts, mut objects) = (Vec::new(), Vec::with_capacity(listed.len()));
    for (index, Listed { mut object, host, after }) in listed.into_iter().enumerate() {
        let host = hosts.iter().position(|other| *other == host).unwrap_or_else(|| {
            hosts.push(host);
            hosts.len() - 1
        });
        object.host = host as u32;
        object.after = match after {
            None if index == 0 => Vec::new(),
            None => vec![0],
            Some(names) => {
                let (item, names) = (Path::Index(path, index), names.into_iter().enumerate());
                let key = Path::Key(&item, "after");
                let find = |(at, name): (usize, String)| {
                    let found = indices.get(&name).copied();
                    if found.is_none() {
                        let known: Vec<&str> = indices.keys().map(String::as_str).collect();
                        let guess =
                            nearest(&name, &known).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                        let message = format!("{:?} is not the id of an object{guess}", shortened(&name));
                        errors.push(Path::Index(&key, at), message);
                    }
                    found
                };
                let mut found: Vec<u32> = names.filter_map(find).collect();
                found.sort_unstable();
                found.dedup();
                found
            }
        };
        objects.push(object);
    }
    (errors.len() == before).then_some((objects, hosts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn read(text: &str) -> Result<WebPage, String> {
        let files = Files::Given(Arc::new([("page.json".to_owned(), text.as_bytes().to_vec())].into()));
        read_page(&files, "page.json")
    }

    const PAGE: &str = r#"{"source": "by hand", "objects": [
        {"id": "index", "size": 30000, "type": "document", "server_time": "20 ms"},
        {"id": "style", "size": "8 kB", "request": 400, "type": "css", "delay": "5 ms"},
        {"id": "logo", "size": 5000, "after": ["style", "index"], "type": "image", "host": "cdn"},
        {"id": "beacon", "size": 1, "after": [], "urgency": 7}
    ]}"#;

    #[test]
    fn a_page_has_objects_with_parents_and_hosts() {
        let page = read(PAGE).unwrap();
        let after: Vec<&[u32]> = page.objects().iter().map(|object| &*object.after).collect();
        assert_eq!(after, [&[][..], &[0], &[0, 1], &[]], "without `after` an object waits for the first one");
        assert_eq!(page.objects().iter().map(|object| object.urgency).collect::<Vec<_>>(), [0, 1, 4, 7]);
        assert_eq!((page.hosts(), page.objects()[2].host), (&[String::new(), "cdn".to_owned()][..], 1));
        let style = &page.objects()[1];
        assert_eq!((style.response, style.request, style.delay), (Bytes(8_000), Bytes(400), Duration::from_millis(5)));
        assert_eq!(page.objects()[0].server_time, Duration::from_millis(20));
    }

    #[test]
    fn every_defect_is_one_error() {
        let object =
            |keys: &str| format!("{{\"objects\": [{{\"id\": \"a\", \"size\": 1}}, {{\"id\": \"b\", {keys}}}]}}");
        for (text, message) in [
            (String::new(), "is not complete JSON: EOF"),
            ("[]".to_owned(), "a list is not a table with objects"),
            ("{}".to_owned(), "objects: is missing; list the objects"),
            ("{\"objects\": []}".to_owned(), "objects: lists no object"),
            ("{\"objects\": 3}".to_owned(), "objects: 3 is not a list"),
            (object("\"size\": 0"), "objects[1].size: 0 B is not a size from 1 B"),
            (object("\"size\": -1"), "objects[1].size: "),
            (object("\"request\": 2"), "objects[1].size: is missing"),
            (object("\"size\": 1, \"after\": [\"c\"]"), "objects[1].after[0]: \"c\" is not the id of an object"),
            (object("\"size\": 1, \"after\": \"a\""), "objects[1].after: \"a\" is not a list"),
            (object("\"size\": 1, \"after\": [\"b\"]"), "objects: the objects \"b\" wait for each other"),
            (object("\"size\": 1, \"type\": \"style\""), "objects[1].type: \"style\" is not a type of object"),
            (object("\"size\": 1, \"urgency\": 8"), "objects[1].urgency: 8 is not an urgency"),
            (object("\"size\": 1, \"sise\": 1"), "objects[1].sise: "),
            (object("\"size\": 1, \"id\": \"a\""), "objects[1].id: \"a\" is already the id"),
            (object("\"size\": 1, \"delay\": \"5\""), "objects[1].delay: "),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.starts_with(message) && !error.contains("further errors"), "{text}: {error}");
        }
        let cycle = "{\"objects\": [{\"id\": \"a\", \"size\": 1, \"after\": [\"b\"]}, {\"id\": \"b\", \"size\": 1}]}";
        assert!(read(cycle).unwrap_err().contains("wait for each other"), "no object is first");
    }

    #[test]
    fn a_torn_file_is_one_error_wherever_it_ends() {
        let whole = PAGE.trim_end();
        for end in 0..whole.len() {
            let error = read(&whole[..end]).unwrap_err();
            assert!(error.starts_with("is not complete JSON"), "{end}: {error}");
        }
    }
}
