//! The JSON Schema of a scenario file.

use bentpipe_apps::ApplicationFactory;
use bentpipe_tcp::control::ControlFactory;
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::slow_start::SlowStartFactory;
use bentpipe_tcp::{Catalogue, Profile, Scheme};
use bentpipe_units::registry::Kind;
use serde_json::{Map, Value, json};

use super::choices::{control_names, names, variants};
use crate::keys::ScenarioFile;

/// The JSON Schema of a scenario file that chooses from `catalogue`, for editors and other languages.
///
/// A file that extends another may leave out what the other says, so no key of a link, a flow or a handover is required.
pub fn schema(catalogue: &Catalogue) -> Value {
    let mut schema = schemars::schema_for!(ScenarioFile).to_value();
    let types = &mut schema["$defs"];
    for app in <dyn ApplicationFactory>::ours().schemes() {
        let mut options = shared(types, app.schema().unwrap_or_default().to_value());
        for (key, option) in options["properties"].as_object_mut().into_iter().flatten() {
            add_option(&mut types["FlowFile"]["properties"][key], app.name(), option.take());
        }
    }
    let direction = types["DirectionFile"]["properties"].clone();
    for (key, property) in direction.as_object().into_iter().flatten() {
        types["LinkFile"]["properties"][key] = property.clone();
    }
    let variants: Vec<_> = variants(catalogue).into_iter().map(|(name, _)| name).collect();
    for (table, key, names) in [
        ("FlowFile", "variant", variants),
        ("FlowFile", "recovery", names::<dyn RecoveryFactory>(catalogue)),
        ("FlowFile", "control", control_names(catalogue)),
        ("TcpFile", "slow_start", names::<dyn SlowStartFactory>(catalogue)),
    ] {
        let property = &mut types[table]["properties"][key];
        property["type"] = "string".into();
        property["enum"] = names.into();
    }
    let variant = &mut types["FlowFile"]["properties"]["variant"];
    let ours = variant["enum"].take();
    variant.as_object_mut().and_then(|variant| variant.remove("enum"));
    variant["anyOf"] = json!([{ "enum": ours }, { "type": "string", "pattern": r"^linux(-[^:\s]+)?:\S+$" }]);
    Profile::ALL.into_iter().for_each(|profile| add_defaults(types, profile));
    catalogue.all::<dyn ControlFactory>().for_each(|scheme| add_options(types, scheme));
    catalogue.all::<dyn RecoveryFactory>().for_each(|scheme| add_options(types, scheme));
    catalogue.all::<dyn SlowStartFactory>().for_each(|scheme| add_options(types, scheme));
    for table in ["LinkFile", "FlowFile", "HandoverFile", "StationFile"] {
        types[table].as_object_mut().and_then(|table| table.remove("required"));
    }
    drop_null(&mut schema);
    schema
}

/// Puts what `profile` has beside the keys of `[tcp]`: `"profiles"`, which validators leave alone.
fn add_defaults(types: &mut Value, profile: Profile) {
    for (key, value) in profile.defaults() {
        let (table, key) = match key.split_once('.') {
            Some(("rto", key)) => ("RtoFile", key),
            Some(("delayed_ack", key)) => ("DelayedAckFile", key),
            Some((_, key)) => ("ReceiveBufferFile", key),
            None => ("TcpFile", key),
        };
        types[table]["properties"][key]["profiles"][profile.name()] = value.into();
    }
}

/// A schema whose own types are put among all.
fn shared(types: &mut Value, mut schema: Value) -> Value {
    let mut own = Map::new();
    if let Some(table) = schema.as_object_mut() {
        table.remove("$schema");
        own.extend(table.remove("$defs").and_then(|own| own.as_object().cloned()).into_iter().flatten());
    }
    own.into_iter().for_each(|(name, one)| types[name] = one);
    schema
}

/// Puts an option of the application `app` beside the keys that every flow has, and says whose it is.
fn add_option(property: &mut Value, app: &str, option: Value) {
    let others = property["description"].as_str().map(|others| format!("{others} "));
    let described = option["description"].as_str().unwrap_or_default();
    let described = format!("{}{app}: {described}", others.unwrap_or_default());
    *property = option;
    property["description"] = described.into();
    property.as_object_mut().and_then(|property| property.remove("default"));
}

/// Puts the options of `scheme` beside the settings, as a table of its name.
fn add_options<K: Kind + ?Sized>(types: &mut Value, scheme: &Scheme<K>) {
    let Some(schema) = scheme.schema() else { return };
    let schema = shared(types, schema.to_value());
    let name = schema["title"].as_str().unwrap_or(scheme.name()).to_owned();
    let property = json!({ "$ref": format!("#/$defs/{name}"), "description": schema["description"] });
    types["TcpFile"]["properties"][scheme.name()] = property;
    types[name] = schema;
}

/// Takes `null` out of a schema: what a Rust `Option` may be, and TOML has no word for.
fn drop_null(schema: &mut Value) {
    if let Value::Object(object) = schema {
        object.retain(|key, value| key != "default" || !value.is_null());
        for key in ["anyOf", "enum", "type"] {
            let Some(Value::Array(choices)) = object.get_mut(key) else { continue };
            choices.retain(|choice| !choice.is_null() && choice["type"] != "null" && choice != "null");
            match (key, &mut choices[..]) {
                ("type", [only]) => object[key] = only.take(),
                ("anyOf", [Value::Object(only)]) => {
                    let only = std::mem::take(only);
                    object.remove(key);
                    object.extend(only);
                }
                _ => {}
            }
        }
        object.values_mut().for_each(drop_null);
    } else if let Value::Array(items) = schema {
        items.iter_mut().for_each(drop_null);
    }
}
