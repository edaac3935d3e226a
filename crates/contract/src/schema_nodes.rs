//! Everything that a schema says about one place, for those who read a schema instead of checking values against it.

use serde_json::{Map, Value};

use crate::kinds::Kinds;
use crate::schema::Shape;

/// The nodes of a place, its own first: what it refers to and its alternatives say something about it too. Each once.
pub(crate) fn of_place<'s>(shape: &Shape<'s>, own: &[&'s Value]) -> Vec<&'s Map<String, Value>> {
    let mut nodes: Vec<&Map<String, Value>> = Vec::new();
    for node in shape.forms(Kinds::ALL).chain([own]).flatten().filter_map(|node| node.as_object()) {
        if !nodes.iter().any(|known| std::ptr::eq(*known, node)) {
            nodes.push(node);
        }
    }
    nodes
}
