//! A choice of one of several models, by its name or as a table with its parameters.
//!
//! The models and their keys are registered by other crates.

use crate::read::{Errors, FromValue, Key, Omitted, Path, TableReader, not_one_of, shown};
use lightlag_core::params::{self, Parameter, Registered};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A choice of one of several models, as written in a scenario.
pub(crate) trait Chosen: Registered {
    /// Name of the choice in the schema.
    const SCHEMA: &'static str;
    /// Key that holds the name in a table.
    const KEY: &'static str;
    /// Kind of model, with an article: "a model of mobility".
    const WHAT: &'static str;
    /// Returns the default model.
    fn usual() -> Self;
    /// Returns other names that the key accepts.
    fn others() -> Vec<&'static str> {
        Vec::new()
    }
}

/// A model, given by name or as a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Model<T>(pub T);

impl<T: Chosen> FromValue for Model<T> {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if let Some(name) = value.as_str() {
            let model = named::<T>(name, path, errors)?;
            if let Some(missing) = model.parameters().iter().find(|parameter| parameter.required.is_some()) {
                let example = format!("{{ {} = {name:?}, {} = … }}", T::KEY, missing.key);
                errors.push(path, format!("{name:?} needs {}; write {example}", missing.key));
                return None;
            }
            return Some(Self(model));
        }
        let before = errors.len();
        let example = format!("a name such as {:?}, or a table such as {{ {} = … }}", T::usual().name(), T::KEY);
        if !value.is_object() {
            errors.push(path, format!("{} is not {example}", shown(value)));
            return None;
        }
        let mut table = TableReader::open(value, path, &example, errors)?;
        let name: String = table.required(T::KEY, &format!("name one of {}", T::NAMES.join(", ")), errors)?;
        let mut model = named::<T>(&name, &Path::Key(path, T::KEY), errors)?;
        settings(&mut model, &mut table, path, errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self(model))
    }
}

fn named<T: Chosen>(name: &str, path: &Path, errors: &mut Errors) -> Option<T> {
    let model = T::named(name);
    if model.is_none() {
        errors.push(path, not_one_of(name, T::WHAT, &[T::NAMES, &T::others()].concat()));
    }
    model
}

/// Reads the keys of a model. A value that cannot be read is reported, and the default remains. Combinations of keys
/// are checked only if all keys could be read.
pub(crate) fn settings<T: Registered>(model: &mut T, table: &mut TableReader, path: &Path, errors: &mut Errors) {
    let before = errors.len();
    for (index, parameter) in model.parameters().iter().enumerate() {
        if let Some(value) = Key(parameter).read(table, path, errors) {
            model.set(index, value);
        }
    }
    for (index, parameter) in model.parameters().iter().enumerate() {
        if errors.len() == before
            && let Some(reason) = model.check(index)
        {
            errors.push(Path::Key(path, parameter.key), Key(parameter).refused(&model.get(index), reason));
        }
    }
}

/// Returns the keys of a model and their values, except for defaults that need not be written.
pub(crate) fn entries<T: Registered>(model: &T) -> Vec<(&'static str, Value)> {
    let parameters = model.parameters();
    let values = parameters.iter().enumerate().map(|(index, parameter)| (parameter, model.get(index)));
    let is_said = |(parameter, value): &(&Parameter, params::Value)| {
        *value != params::Value::Nothing && (!parameter.is_quiet || *value != parameter.default)
    };
    values.filter(is_said).map(|(parameter, value)| (parameter.key, Key(parameter).written(&value))).collect()
}

/// Returns the schema of the table of a model. `word` is the key that holds its name.
pub(crate) fn form<T: Registered>(model: &T, word: &str, generator: &mut SchemaGenerator) -> Value {
    let mut properties = json!({ word: { "const": model.name() } });
    let mut required = vec![word];
    let parameters = model.parameters();
    for parameter in &parameters {
        properties[parameter.key] = Key(parameter).schema_with_default(generator);
        required.extend(parameter.required.map(|_| parameter.key));
    }
    json!({
        "type": "object", "description": model.about(), "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

impl<T: Chosen> Omitted for Model<T> {
    fn omitted() -> Option<Self> {
        Some(Self(T::usual()))
    }
}

impl<T: Chosen> Default for Model<T> {
    fn default() -> Self {
        Self(T::usual())
    }
}

impl<T: Chosen> Serialize for Model<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let said = entries(&self.0);
        if said.is_empty() {
            return serializer.serialize_str(self.0.name());
        }
        let mut table = json!({ T::KEY: self.0.name() });
        for (key, value) in said {
            table[key] = value;
        }
        table.serialize(serializer)
    }
}

impl<T: Chosen> JsonSchema for Model<T> {
    fn schema_name() -> Cow<'static, str> {
        T::SCHEMA.into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let models = T::all();
        // A model with a required parameter has no form that is its name alone.
        let is_whole = |model: &&T| model.parameters().iter().all(|parameter| parameter.required.is_none());
        let names: Vec<&str> = models.iter().filter(is_whole).map(|model| model.name()).collect();
        let mut forms = vec![json!({ "enum": names })];
        forms.extend(models.iter().map(|model| form(model, T::KEY, generator)));
        json_schema!({
            "title": "Model",
            "description": format!("{}, by its name or as a table with its parameters", T::WHAT),
            "anyOf": forms
        })
    }
}
