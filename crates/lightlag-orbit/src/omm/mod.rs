//! Orbit mean-elements messages (OMM, CCSDS 502.0-B-3), the format for catalogue numbers of more than five digits. They
//! are written as JSON, CSV, lines of keywords (`kvn`) or XML (`xml`).

mod kvn;
mod xml;

use crate::element_set::{ElementSet, ElementsError, MOST_REVOLUTIONS};
use crate::time::Utc;
use serde_json::{Map, Value};
use sgp4::chrono::{Datelike, NaiveDate, NaiveDateTime};
use std::collections::BTreeMap;

/// Fields for theory, frame and time scale, and their accepted values. Some providers omit these fields.
const USUAL: [(&str, &[&str]); 4] = [
    ("MEAN_ELEMENT_THEORY", &["SGP4", "SGP/SGP4"]),
    ("REF_FRAME", &["TEME"]),
    ("TIME_SYSTEM", &["UTC"]),
    ("CENTER_NAME", &["EARTH"]),
];
/// Maximum catalogue number: nine digits.
const MOST_NUMBER: f64 = 999_999_999.0;

/// The fields of a message as text, and the position of the message in the file.
struct OmmMessage<'a> {
    place: String,
    fields: BTreeMap<&'a str, String>,
}

fn error<T>(location: &str, message: impl Into<String>) -> Result<T, ElementsError> {
    Err(ElementsError { place: location.to_owned(), message: message.into() })
}

/// Reads a JSON file with one message or a list of messages.
///
/// # Errors
/// The first error in the file.
pub fn read_json(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(fault) => return error(&format!("line {}", fault.line()), format!("is not JSON: {fault}")),
    };
    let objects = match &value {
        Value::Array(objects) => objects.as_slice(),
        one => std::slice::from_ref(one),
    };
    let message = |(number, object): (usize, &'_ Value)| -> Result<OmmMessage<'static>, ElementsError> {
        let location = format!("object {number}");
        let Value::Object(fields) = object else {
            return error(&location, "is not an object with the fields of an OMM");
        };
        // Space-Track answers so where it has no elements.
        if let Some(Value::String(answer)) = fields.get("error") {
            return error(&location, format!("is a reply without elements: {answer:?}; download the file again"));
        }
        Ok(OmmMessage { fields: texts(fields), place: location })
    };
    sets((1..).zip(objects).map(message))
}

/// Returns the fields with known names whose values are numbers or texts, all as text.
fn texts(fields: &Map<String, Value>) -> BTreeMap<&'static str, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    FIELDS.into_iter().filter_map(|name| Some((name, text(fields.get(name)?)?))).collect()
}

const FIELDS: [&str; 16] = [
    "OBJECT_NAME",
    "EPOCH",
    "MEAN_MOTION",
    "ECCENTRICITY",
    "INCLINATION",
    "RA_OF_ASC_NODE",
    "ARG_OF_PERICENTER",
    "MEAN_ANOMALY",
    "NORAD_CAT_ID",
    "BSTAR",
    "MEAN_MOTION_DOT",
    "MEAN_MOTION_DDOT",
    "MEAN_ELEMENT_THEORY",
    "REF_FRAME",
    "TIME_SYSTEM",
    "CENTER_NAME",
];

/// Reads a CSV table whose first line contains the names of the fields.
///
/// # Errors
/// The first error in the file.
pub fn read_csv(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    // The reader would count a line that starts with the second half of CR LF as the one before.
    let text = text.replace("\r\n", "\n");
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let names = match reader.headers() {
        Ok(names) => names.clone(),
        Err(fault) => return error("line 1", fault.to_string()),
    };
    let columns: Vec<Option<&'static str>> =
        names.iter().map(|name| FIELDS.into_iter().find(|field| *field == name)).collect();
    for field in FIELDS {
        if columns.iter().filter(|column| **column == Some(field)).count() > 1 {
            return error("line 1", format!("column {field} is duplicated"));
        }
    }
    let message = |row: Result<csv::StringRecord, csv::Error>| {
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                let line = fault.position().map_or(1, csv::Position::line);
                return error(&format!("line {line}"), fault.to_string());
            }
        };
        let location = format!("line {}", row.position().map_or(1, csv::Position::line));
        if row.len() != names.len() {
            return error(
                &location,
                format!("has {} fields, and the first line has {}; write one for each column", row.len(), names.len()),
            );
        }
        let fields = columns.iter().zip(&row).filter(|(_, text)| !text.is_empty());
        Ok(OmmMessage {
            place: location,
            fields: fields.filter_map(|(name, text)| Some(((*name)?, text.to_owned()))).collect(),
        })
    };
    sets(reader.records().map(message))
}

/// Returns true if a line contains the column names of a table of messages.
pub(crate) fn is_csv_header(line: &str) -> bool {
    line.contains(',') && line.split(',').any(|name| FIELDS[1..].contains(&name.trim().trim_matches('"')))
}

/// Reads messages as lines of `KEYWORD = value`.
///
/// # Errors
/// The first error in the file.
pub fn read_kvn(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    sets(kvn::messages(text)?.into_iter().map(Ok))
}

/// Reads XML with one `omm` element per message.
///
/// # Errors
/// The first error in the file.
pub fn read_xml(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    sets(xml::messages(text)?.into_iter().map(Ok))
}

/// Converts messages to element sets.
fn sets<'a>(
    messages: impl Iterator<Item = Result<OmmMessage<'a>, ElementsError>>,
) -> Result<Vec<ElementSet>, ElementsError> {
    let mut known: BTreeMap<u64, String> = BTreeMap::new();
    let mut sets = Vec::new();
    for message in messages {
        let message = message?;
        let elements = message.elements()?;
        if let Some(before) = known.insert(elements.norad_id, message.place.clone()) {
            return error(
                &message.place,
                format!(
                    "NORAD_CAT_ID {} is duplicated (also in {before}); write each satellite once",
                    elements.norad_id
                ),
            );
        }
        sets.push(ElementSet::new(message.place, elements));
    }
    if sets.is_empty() {
        return error(
            "line 1",
            "there are no elements; write OMM as JSON, as a table with a line for each, as keywords, or as XML",
        );
    }
    Ok(sets)
}

impl OmmMessage<'_> {
    fn elements(&self) -> Result<sgp4::Elements, ElementsError> {
        for (field, usual) in USUAL {
            if let Some(text) = self.fields.get(field)
                && !usual.iter().any(|word| word.eq_ignore_ascii_case(text))
            {
                return self.refuse(field, format!("{text:?} is not {}, for which elements are read", usual[0]));
            }
        }
        let number = self.number("NORAD_CAT_ID", None, 0.0, MOST_NUMBER)?;
        if number % 1.0 != 0.0 {
            return self.refuse("NORAD_CAT_ID", format!("{number} is not a whole number"));
        }
        Ok(sgp4::Elements {
            object_name: self.fields.get("OBJECT_NAME").cloned(),
            international_designator: None,
            norad_id: number as u64,
            classification: sgp4::Classification::Unclassified,
            datetime: self.epoch()?,
            mean_motion_dot: self.number("MEAN_MOTION_DOT", Some(0.0), -100.0, 100.0)?,
            mean_motion_ddot: self.number("MEAN_MOTION_DDOT", Some(0.0), -100.0, 100.0)?,
            drag_term: self.number("BSTAR", Some(0.0), -10.0, 10.0)?,
            element_set_number: 0,
            inclination: self.number("INCLINATION", None, 0.0, 180.0)?,
            right_ascension: self.number("RA_OF_ASC_NODE", None, -360.0, 360.0)?,
            eccentricity: self.number("ECCENTRICITY", None, 0.0, 0.999_999_9)?,
            argument_of_perigee: self.number("ARG_OF_PERICENTER", None, -360.0, 360.0)?,
            mean_anomaly: self.number("MEAN_ANOMALY", None, -360.0, 360.0)?,
            mean_motion: self.number("MEAN_MOTION", None, 1e-3, MOST_REVOLUTIONS)?,
            revolution_number: 0,
            ephemeris_type: 0,
        })
    }

    fn refuse<T>(&self, field: &str, message: String) -> Result<T, ElementsError> {
        error(&self.place, format!("{field}: {message}"))
    }

    /// Reads a number within bounds; if the field is missing, uses the default `usual`, if there is one.
    fn number(&self, field: &str, usual: Option<f64>, min: f64, max: f64) -> Result<f64, ElementsError> {
        let Some(text) = self.fields.get(field) else {
            return usual.map_or_else(|| self.refuse(field, "is missing".to_owned()), Ok);
        };
        match text.parse::<f64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(number),
            Ok(number) => self.refuse(field, format!("{number} is not from {min} to {max}")),
            Err(_) => self.refuse(field, format!("{text:?} is not a number")),
        }
    }

    fn epoch(&self) -> Result<NaiveDateTime, ElementsError> {
        let Some(text) = self.fields.get("EPOCH") else { return self.refuse("EPOCH", "is missing".to_owned()) };
        let read = || {
            let utc = text.parse().ok().or_else(|| of_day(text))?;
            let (year, month, day, nanos) = utc.calendar();
            let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
            NaiveDate::from_ymd_opt(year, month, day)?.and_hms_nano_opt(
                (seconds / 3600) as u32,
                (seconds / 60 % 60) as u32,
                (seconds % 60) as u32,
                nanos as u32,
            )
        };
        match read() {
            Some(epoch) => Ok(epoch),
            None => self.refuse("EPOCH", format!("{text:?} is not a time such as \"2026-11-20T12:34:56.789012\"")),
        }
    }
}

/// Reads a time given by the day of the year, such as `2026-324T12:34:56.789` (CCSDS 502.0-B-3 §7.5.10).
fn of_day(text: &str) -> Option<Utc> {
    let (date, time) = text.split_once('T')?;
    let (year, day) = date.split_once('-')?;
    let date = NaiveDate::from_yo_opt(year.parse().ok()?, day.parse().ok().filter(|_| day.len() == 3)?)?;
    format!("{:04}-{:02}-{:02}T{time}", date.year(), date.month(), date.day()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::read;
    use proptest::prelude::*;

    const JSON: &str = r#"[{"OBJECT_NAME": "VANGUARD 1", "OBJECT_ID": "1958-002B", "EPOCH": "2000-06-27T18:50:19.733568",
        "MEAN_MOTION": 10.82419157, "ECCENTRICITY": ".1859667", "INCLINATION": 34.2682, "RA_OF_ASC_NODE": 348.7242,
        "ARG_OF_PERICENTER": 331.7664, "MEAN_ANOMALY": 19.3264, "NORAD_CAT_ID": 123456789, "BSTAR": "0.28098E-4",
        "MEAN_MOTION_DOT": 0.00000023, "MEAN_MOTION_DDOT": 0}]"#;
    const CSV: &str = "OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,\
        MEAN_ANOMALY,EPHEMERIS_TYPE,NORAD_CAT_ID,BSTAR,MEAN_MOTION_DOT,MEAN_MOTION_DDOT\r\n\
        VANGUARD 1,1958-002B,2000-06-27T18:50:19.733568,10.82419157,.1859667,34.2682,348.7242,331.7664,19.3264,0,5,\
        .28098E-4,.00000023,0\r\n";

    #[test]
    fn both_forms_give_the_orbit_of_the_two_lines() {
        let lines = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n\
                     2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667\n";
        let position = |text: &str| {
            let sets = read(text).unwrap();
            let start: Utc = "2000-06-28T00:00:00".parse().unwrap();
            sets[0].satellite(start).unwrap().orbit.position(3_600.0).unwrap()
        };
        let expected = position(lines);
        for text in [JSON, CSV, &JSON[1..JSON.len() - 1]] {
            // The two lines have two more digits of the mean motion.
            assert!(position(text).distance(expected) < 5.0, "{}", position(text).distance(expected));
        }
        assert_eq!(read(JSON).unwrap()[0].number(), 123_456_789);
        assert_eq!(read(CSV).unwrap()[0].name(), "VANGUARD 1");
    }

    const KVN: &str = "CCSDS_OMM_VERS = 3.0\nCOMMENT of a = b\nCREATION_DATE = 2026-01-01T00:00:00\n\nMETA_START\nOBJECT_NAME = VANGUARD 1\n\
        CENTER_NAME = EARTH\nREF_FRAME = TEME\nTIME_SYSTEM = UTC\nMEAN_ELEMENT_THEORY = SGP4\nMETA_STOP\n\
        EPOCH = 2000-179T18:50:19.733568\nMEAN_MOTION = 10.82419157 [rev/day]\nECCENTRICITY = .1859667\n\
        INCLINATION = 34.2682 [deg]\nRA_OF_ASC_NODE=348.7242\nARG_OF_PERICENTER = 331.7664\nMEAN_ANOMALY = 19.3264\n\
        NORAD_CAT_ID = 5\nBSTAR = .28098E-4 [1/ER]\nMEAN_MOTION_DOT = .00000023\nMEAN_MOTION_DDOT = 0\n";
    const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ndm>\n<omm id=\"CCSDS_OMM_VERS\" version=\"2.0\">\n\
        <header><CREATION_DATE/><ORIGINATOR/></header><body><segment><metadata><OBJECT_NAME>A &amp; B</OBJECT_NAME>\
        <CENTER_NAME>EARTH</CENTER_NAME><REF_FRAME>TEME</REF_FRAME><TIME_SYSTEM>UTC</TIME_SYSTEM></metadata>\n<data>\
        <meanElements><EPOCH>2000-06-27T18:50:19.733568</EPOCH><MEAN_MOTION units=\"rev/day\">10.82419157</MEAN_MOTION>\
        <ECCENTRICITY>.1859667</ECCENTRICITY><INCLINATION>34.2682</INCLINATION><RA_OF_ASC_NODE>348.7242</RA_OF_ASC_NODE>\
        <ARG_OF_PERICENTER>331.7664</ARG_OF_PERICENTER><MEAN_ANOMALY>19.3264</MEAN_ANOMALY></meanElements>\n<tleParameters>\
        <NORAD_CAT_ID>5</NORAD_CAT_ID><BSTAR>.28098E-4</BSTAR><MEAN_MOTION_DOT>.00000023</MEAN_MOTION_DOT>\
        <MEAN_MOTION_DDOT>0</MEAN_MOTION_DDOT></tleParameters></data></segment></body></omm>\n</ndm>\n";

    #[test]
    fn keywords_and_xml_give_the_orbit_of_the_table() {
        let position = |text: &str| {
            let start: Utc = "2000-06-28T00:00:00".parse().unwrap();
            read(text).unwrap()[0].satellite(start).unwrap().orbit.position(3_600.0).unwrap()
        };
        for text in
            [KVN.to_owned(), KVN.replace('\n', "\r\n"), KVN.replace("CCSDS_OMM_VERS = 3.0\n", ""), XML.to_owned()]
        {
            assert_eq!(position(&text), position(CSV), "{text}");
        }
        assert_eq!(read(XML).unwrap()[0].name(), "A & B");
        let two = format!("{KVN}\n{}", KVN.replace("= 5\n", "= 6\n"));
        assert_eq!(read(&two).unwrap().iter().map(ElementSet::number).collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn faults_of_keywords_and_xml_are_named() {
        let refused = |text: &str, from: &str, to: &str| read(&text.replace(from, to)).unwrap_err().to_string();
        assert_eq!(
            refused(KVN, "RA_OF_ASC_NODE=", "RA_OF_ASC_NODE "),
            "line 16: \"RA_OF_ASC_NODE 348.7242\" is not KEYWORD = value"
        );
        assert_eq!(refused(KVN, "34.2682", "341"), "line 1: INCLINATION: 341 is not from 0 to 180");
        assert_eq!(
            refused(KVN, "SGP4", "SGP4-XP"),
            "line 1: MEAN_ELEMENT_THEORY: \"SGP4-XP\" is not SGP4, for which elements are read"
        );
        assert_eq!(refused(XML, "34.2682", "steep"), "message 1: INCLINATION: \"steep\" is not a number");
        assert!(refused(XML, "</ndm>", "").contains("ends within an element"), "{}", refused(XML, "</ndm>", ""));
        assert!(refused(XML, "</omm>", "</oem>").contains("is not XML"));
        assert!(refused(XML, "&amp;", "&agr;").contains("&agr;"));
        assert!(
            refused(JSON, "\"OBJECT_ID\"", "\"error\"").starts_with("object 1: is a reply without elements: \"1958")
        );
    }

    #[test]
    fn a_fault_is_reported_with_its_position_and_field() {
        let refused = |text: String| read(&text).unwrap_err().to_string();
        let json = |from: &str, to: &str| refused(JSON.replace(from, to));
        assert_eq!(json("34.2682", "181"), "object 1: INCLINATION: 181 is not from 0 to 180");
        assert_eq!(json(".1859667", "1.2"), "object 1: ECCENTRICITY: 1.2 is not from 0 to 0.9999999");
        assert_eq!(json("10.82419157", "0"), "object 1: MEAN_MOTION: 0 is not from 0.001 to 17");
        assert_eq!(
            json("\"BSTAR\": \"0.28098E-4\"", "\"BSTAR\": \"small\""),
            "object 1: BSTAR: \"small\" is not a number"
        );
        assert_eq!(json("MEAN_ANOMALY", "ANOMALY"), "object 1: MEAN_ANOMALY: is missing");
        assert!(json("2000-06-27T", "27 June ").starts_with("object 1: EPOCH: \"27 June "));
        assert_eq!(
            json("\"MEAN_MOTION_DDOT\": 0", "\"REF_FRAME\": \"GCRF\""),
            "object 1: REF_FRAME: \"GCRF\" is not TEME, for which elements are read"
        );
        assert!(json("}]", "").starts_with("line "));
        assert_eq!(refused("[1]".to_owned()), "object 1: is not an object with the fields of an OMM");
        assert!(refused("[]".to_owned()).starts_with("line 1: there are no elements"));
        let twice = format!("{}, {}]", &JSON[..JSON.len() - 1], &JSON[1..JSON.len() - 1]);
        assert!(refused(twice).starts_with("object 2: NORAD_CAT_ID 123456789 is duplicated (also in object 1)"));
        let csv = |from: &str, to: &str| refused(CSV.replace(from, to));
        assert_eq!(csv("34.2682", "steep"), "line 2: INCLINATION: \"steep\" is not a number");
        assert_eq!(csv("34.2682,", ""), "line 2: has 13 fields, and the first line has 14; write one for each column");
        assert_eq!(csv("OBJECT_ID", "BSTAR"), "line 1: column BSTAR is duplicated");
        assert_eq!(csv(",5,", ",5.5,"), "line 2: NORAD_CAT_ID: 5.5 is not a whole number");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(form in 0_usize..4, cut in 0_usize..900, with in "[ -~\\n]{0,12}") {
            let text = [JSON, CSV, KVN, XML][form];
            let at = cut.min(text.len());
            let _ = read(&format!("{}{with}{}", &text[..at], &text[at..]));
            let _ = read(&text[..at]);
        }
    }
}
