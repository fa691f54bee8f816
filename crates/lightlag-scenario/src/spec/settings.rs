//! The keys of one model that declares them, among others of a table.

use crate::read::{Errors, Key, Path, Table};
use lightlag_core::params::{Described, parameters};
use schemars::SchemaGenerator;
use serde_json::{Map, Value};

/// Reads the keys of a model from a table that has others, too; `given` is the model where nothing is said.
pub(crate) fn read<C: Described>(mut given: C, table: &mut Table, at: &Path, errors: &mut Errors) -> C {
    let settings = C::settings();
    let before = errors.len();
    for (setting, parameter) in settings.iter().zip(parameters::<C>(C::settings())) {
        if let Some(value) = Key(&parameter).read(table, at, errors) {
            setting.set(&mut given, value);
        }
    }
    if errors.len() == before {
        refuse(&given, at, errors);
    }
    given
}

/// Refuses the keys of a model that do not go with one another.
pub(crate) fn refuse<C: Described>(of: &C, at: &Path, errors: &mut Errors) {
    for (setting, parameter) in C::settings().iter().zip(parameters::<C>(C::settings())) {
        if let Some(reason) = (setting.check)(of) {
            errors.push(Path::Key(at, setting.key), Key(&parameter).refused(&setting.get(of), reason));
        }
    }
}

/// Writes the keys of a model that are not as in `usual`.
pub(crate) fn write<C: Described>(of: &C, usual: &C, table: &mut Map<String, Value>) {
    for (setting, parameter) in C::settings().iter().zip(parameters::<C>(C::settings())) {
        let value = setting.get(of);
        if value != setting.get(usual) {
            table.insert(setting.key.to_owned(), Key(&parameter).written(&value));
        }
    }
}

/// Adds the schema of these keys.
pub(crate) fn properties<C: Described>(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
    for parameter in parameters::<C>(C::settings()) {
        properties.insert(parameter.key.to_owned(), Key(&parameter).schema_with_default(generator));
    }
}
