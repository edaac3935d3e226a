//! Fills in what the schema says is used when an argument is left out, so that the person who approves a call and the
//! journal see what will really run.

use serde_json::Value;

use crate::place::joined;
use crate::schema::{self, Shape};

/// Adds missing properties that have a default other than null, at any depth; answers with the pointers of what was
/// added, parents first. Properties the schema requires are never filled: leaving one out is a mistake to tell.
pub(crate) fn fill(root: &Value, value: &mut Value) -> Vec<String> {
    let mut filled = Vec::new();
    place(root, &[root], value, "", 0, &mut filled);
    filled
}

/// Takes out again what [`fill`] added.
pub(crate) fn take_out(value: &mut Value, filled: &[String]) {
    for pointer in filled.iter().rev() {
        let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
        let key = key.replace("~1", "/").replace("~0", "~");
        if let Some(Value::Object(object)) = value.pointer_mut(parent) {
            object.remove(&key);
        }
    }
}

fn place(
    root: &Value,
    nodes: &[&Value],
    value: &mut Value,
    pointer: &str,
    depth: usize,
    filled: &mut Vec<String>,
) {
    if depth > schema::DEPTH {
        return;
    }
    match value {
        Value::Object(object) => {
            let shape = Shape::of(root, nodes);
            let Some(form) = shape.object(object) else { return };
            for key in schema::declared(form) {
                if object.contains_key(key) || schema::required(form, key) {
                    continue;
                }
                let default = Shape::of(root, &schema::property(form, key)).default();
                if let Some(default) = default.filter(|default| !default.is_null()) {
                    object.insert(key.clone(), default.clone());
                    filled.push(joined(pointer, key));
                }
            }
            for (key, child) in object.iter_mut().filter(|(_, child)| child.is_object() || child.is_array()) {
                let nodes = schema::property(form, key);
                place(root, &nodes, child, &joined(pointer, key), depth + 1, filled);
            }
        }
        Value::Array(items) => {
            let shape = Shape::of(root, nodes);
            let Some(form) = shape.array() else { return };
            for (index, child) in items.iter_mut().enumerate().filter(|(_, child)| child.is_object()) {
                let nodes = schema::item(form, index);
                place(root, &nodes, child, &format!("{pointer}/{index}"), depth + 1, filled);
            }
        }
        _ => {}
    }
}
