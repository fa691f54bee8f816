//! Reads, checks and writes the keys that a model declares, in a table that also has other keys.

use crate::read::{Errors, Key, Path, TableReader};
use lightlag_core::params::{Described, parameters};
use schemars::SchemaGenerator;
use serde_json::{Map, Value};

/// Reads the keys of a model from a table that also has other keys. Keys that are absent have the values of `given`.
pub(crate) fn read<C: Described>(mut given: C, table: &mut TableReader, path: &Path, errors: &mut Errors) -> C {
    let settings = C::settings();
    let before = errors.len();
    for (setting, parameter) in settings.iter().zip(parameters::<C>(C::settings())) {
        if let Some(value) = Key(&parameter).read(table, path, errors) {
            setting.set(&mut given, value);
        }
    }
    if errors.len() == before {
        refuse(&given, path, errors);
    }
    given
}

/// Reports an error for each key of a model that cannot be combined with others.
pub(crate) fn refuse<C: Described>(config: &C, path: &Path, errors: &mut Errors) {
    for (setting, parameter) in C::settings().iter().zip(parameters::<C>(C::settings())) {
        if let Some(reason) = (setting.check)(config) {
            errors.push(Path::Key(path, setting.key), Key(&parameter).refused(&setting.get(config), reason));
        }
    }
}

/// Writes the keys of a model whose values differ from `usual`.
pub(crate) fn write<C: Described>(config: &C, usual: &C, table: &mut Map<String, Value>) {
    for (setting, parameter) in C::settings().iter().zip(parameters::<C>(C::settings())) {
        let value = setting.get(config);
        if value != setting.get(usual) {
            table.insert(setting.key.to_owned(), Key(&parameter).written(&value));
        }
    }
}

/// Adds the schemas of the keys of a model.
pub(crate) fn properties<C: Described>(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
    for parameter in parameters::<C>(C::settings()) {
        properties.insert(parameter.key.to_owned(), Key(&parameter).schema_with_default(generator));
    }
}
