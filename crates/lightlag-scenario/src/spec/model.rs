//! One of several models, by its name or as a table with its parameters.
//!
//! The models and their keys are those that other crates register.

use crate::read::{Errors, FromValue, Key, Omitted, Path, Table, not_one_of, shown};
use lightlag_core::params::Registered;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A choice of models, as a scenario writes it.
pub(crate) trait Chosen: Registered {
    /// Its name in the schema.
    const SCHEMA: &'static str;
    /// The key of the name in a table.
    const KEY: &'static str;
    /// The thing that a name names, after an article: "a model of mobility".
    const WHAT: &'static str;
    /// The model where nothing is said.
    fn usual() -> Self;
    /// Names that stand for something else in the same place.
    fn others() -> Vec<&'static str> {
        Vec::new()
    }
}

/// A model as asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Model<T>(pub T);

impl<T: Chosen> FromValue for Model<T> {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if let Some(name) = value.as_str() {
            let model = named::<T>(name, at, errors)?;
            if let Some(missing) = model.parameters().iter().find(|parameter| parameter.required.is_some()) {
                let example = format!("{{ {} = {name:?}, {} = … }}", T::KEY, missing.key);
                errors.push(at, format!("{name:?} needs {}; write {example}", missing.key));
                return None;
            }
            return Some(Self(model));
        }
        let before = errors.len();
        let example = format!("a name such as {:?}, or a table such as {{ {} = … }}", T::usual().name(), T::KEY);
        if !value.is_object() {
            errors.push(at, format!("{} is not {example}", shown(value)));
            return None;
        }
        let mut table = Table::open(value, at, &example, errors)?;
        let name: String = table.required(T::KEY, &format!("name one of {}", T::NAMES.join(", ")), errors)?;
        let mut model = named::<T>(&name, &Path::Key(at, T::KEY), errors)?;
        settings(&mut model, &mut table, at, errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self(model))
    }
}

fn named<T: Chosen>(name: &str, at: &Path, errors: &mut Errors) -> Option<T> {
    let model = T::named(name);
    if model.is_none() {
        errors.push(at, not_one_of(name, T::WHAT, &[T::NAMES, &T::others()].concat()));
    }
    model
}

/// Reads the keys of a model. What cannot be read leaves an error and the default.
pub(crate) fn settings<T: Registered>(model: &mut T, table: &mut Table, at: &Path, errors: &mut Errors) {
    let before = errors.len();
    for (index, parameter) in model.parameters().iter().enumerate() {
        if let Some(value) = Key(parameter).read(table, at, errors) {
            model.set(index, value);
        }
        if errors.len() == before
            && let Some(reason) = model.check(index)
        {
            errors.push(Path::Key(at, parameter.key), Key(parameter).refused(&model.get(index), reason));
        }
    }
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
        let parameters = self.0.parameters();
        let values = parameters.iter().enumerate().map(|(index, parameter)| (parameter, self.0.get(index)));
        let said: Vec<_> =
            values.filter(|(parameter, value)| !parameter.is_quiet || *value != parameter.default).collect();
        if said.is_empty() {
            return serializer.serialize_str(self.0.name());
        }
        let mut table = json!({ T::KEY: self.0.name() });
        for (parameter, value) in said {
            table[parameter.key] = Key(parameter).written(&value);
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
        for model in models {
            let mut properties = json!({ T::KEY: { "const": model.name() } });
            let mut required = vec![T::KEY];
            for parameter in &model.parameters() {
                properties[parameter.key] = Key(parameter).schema_with_default(generator);
                required.extend(parameter.required.map(|_| parameter.key));
            }
            forms.push(json!({
                "type": "object", "description": model.about(), "properties": properties, "required": required,
                "additionalProperties": false,
            }));
        }
        json_schema!({
            "description": format!("{}, by its name or as a table with its parameters", T::WHAT),
            "anyOf": forms
        })
    }
}
