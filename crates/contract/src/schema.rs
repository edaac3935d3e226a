//! Reads a JSON schema as far as coercion needs it: which kinds of value may stand at a place, and what is below it.
//!
//! It does not validate; `jsonschema` does. Where a schema says more than this module understands (`if`, `not`,
//! several object forms that no constant tells apart), it answers "anything", so that nothing is coerced there.

use serde_json::{Map, Value};

use crate::keywords;
use crate::kinds::{Kinds, Range};

/// Deeper schemas and longer chains of `$ref` are left to the validator.
pub(crate) const DEPTH: usize = 32;

/// More alternatives than this at one place are not told apart.
const ALTERNATIVES: usize = 64;

/// Schema nodes that all hold together.
type Alternative<'s> = Vec<&'s Value>;

/// What may stand at one place: one of the alternatives.
pub(crate) struct Shape<'s> {
    alternatives: Vec<Alternative<'s>>,
}

impl<'s> Shape<'s> {
    /// The shape of a place where all of `nodes` hold.
    pub(crate) fn of(root: &'s Value, nodes: &[&'s Value]) -> Self {
        let mut alternatives = vec![Vec::new()];
        for node in nodes {
            alternatives = product(alternatives, expand(root, node, 0));
        }
        Self { alternatives }
    }

    pub(crate) fn kinds(&self) -> Kinds {
        self.alternatives.iter().map(|nodes| kinds(nodes)).fold(Kinds::NONE, Kinds::or)
    }

    /// Every alternative that takes one of these kinds.
    pub(crate) fn forms(&self, wanted: Kinds) -> impl Iterator<Item = &[&'s Value]> {
        self.alternatives.iter().map(Vec::as_slice).filter(move |nodes| kinds(nodes).has(wanted))
    }

    /// The only strings allowed here, when every alternative that takes a string lists them.
    pub(crate) fn listed_strings(&self) -> Option<Vec<&'s str>> {
        let mut listed = Vec::new();
        for nodes in self.alternatives.iter().filter(|nodes| kinds(nodes).has(Kinds::STRING)) {
            let options = nodes.iter().find_map(|node| options(node))?;
            listed.extend(options.into_iter().filter_map(Value::as_str));
        }
        (!listed.is_empty()).then_some(listed)
    }

    /// The ranges an integer may lie in here; `None` when some alternative takes every number.
    pub(crate) fn integer_ranges(&self) -> Option<Vec<Range>> {
        let mut ranges = Vec::new();
        for nodes in &self.alternatives {
            let allowed = kinds(nodes);
            if allowed.has(Kinds::NUMBER) {
                return None;
            }
            if allowed.has(Kinds::INTEGER) {
                ranges.push(
                    nodes.iter().filter_map(|node| Range::of_format(node)).fold(Range::ALL, Range::and),
                );
            }
        }
        Some(ranges)
    }

    /// The one alternative that an object can mean here; `None` when there is none or it cannot be told which. Constants
    /// tell, and where there are none, what a form requires.
    pub(crate) fn object(&self, object: &Map<String, Value>) -> Option<&[&'s Value]> {
        let agrees = |nodes: &[&'s Value]| nodes.iter().all(|node| constants_agree(node, object));
        self.only(Kinds::OBJECT, agrees)
            .or_else(|| self.only(Kinds::OBJECT, |nodes| agrees(nodes) && is_complete(nodes, object)))
    }

    /// The one alternative that an array can mean here.
    pub(crate) fn array(&self) -> Option<&[&'s Value]> {
        self.only(Kinds::ARRAY, |_| false)
    }

    /// The one alternative that a text can mean here.
    pub(crate) fn text(&self) -> Option<&[&'s Value]> {
        self.only(Kinds::STRING, |_| false)
    }

    /// The first default that the place itself declares.
    pub(crate) fn default(&self) -> Option<&'s Value> {
        let [nodes] = self.alternatives.as_slice() else {
            return self
                .alternatives
                .iter()
                .find_map(|nodes| nodes.first())
                .and_then(|node| node.get("default"));
        };
        nodes.iter().find_map(|node| node.get("default"))
    }

    fn only(&self, kind: Kinds, fits: impl Fn(&[&'s Value]) -> bool) -> Option<&[&'s Value]> {
        let of_kind = || self.alternatives.iter().filter(|nodes| kinds(nodes).has(kind));
        let mut candidates = of_kind();
        if let (Some(nodes), None) = (candidates.next(), candidates.next()) {
            return Some(nodes);
        }
        let mut fitting = of_kind().filter(|nodes| fits(nodes));
        match (fitting.next(), fitting.next()) {
            (Some(nodes), None) => Some(nodes),
            _ => None,
        }
    }
}

/// The schema nodes that hold for one property of an object.
pub(crate) fn property<'s>(nodes: &[&'s Value], key: &str) -> Vec<&'s Value> {
    let mut found: Vec<&Value> = nodes.iter().filter_map(|node| node.get("properties")?.get(key)).collect();
    if found.is_empty() {
        found.extend(
            nodes.iter().filter_map(|node| node.get("additionalProperties")).filter(|node| node.is_object()),
        );
    }
    found
}

/// Every property name an object of this form declares.
pub(crate) fn declared<'s>(nodes: &[&'s Value]) -> impl Iterator<Item = &'s String> {
    nodes.iter().filter_map(|node| node.get("properties")?.as_object()).flat_map(Map::keys)
}

/// The property that had another name before, if exactly one says so.
pub(crate) fn renamed<'s>(nodes: &[&'s Value], old: &str) -> Option<&'s str> {
    let properties = nodes.iter().filter_map(|node| node.get("properties")?.as_object()).flatten();
    let mut found = properties
        .filter(|(_, schema)| aliases(schema).any(|alias| alias == old))
        .map(|(name, _)| name.as_str());
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

fn aliases(property: &Value) -> impl Iterator<Item = &str> {
    let listed = property.get(keywords::ALIASES).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn required(nodes: &[&Value], key: &str) -> bool {
    nodes.iter().any(|node| {
        node.get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|name| name.as_str() == Some(key)))
    })
}

/// The schema nodes that hold for one item of an array.
pub(crate) fn item<'s>(nodes: &[&'s Value], index: usize) -> Vec<&'s Value> {
    nodes
        .iter()
        .filter_map(|node| {
            node.get("prefixItems").and_then(|items| items.get(index)).or_else(|| node.get("items"))
        })
        .collect()
}

fn kinds(nodes: &[&Value]) -> Kinds {
    nodes.iter().map(|node| Kinds::allowed_by(node)).fold(Kinds::ALL, Kinds::and)
}

/// The values a node lists by `enum` or `const`.
pub(crate) fn options(node: &Value) -> Option<Vec<&Value>> {
    if let Some(constant) = node.get("const") {
        return Some(vec![constant]);
    }
    node.get("enum").and_then(Value::as_array).map(|options| options.iter().collect())
}

/// Whether every property with listed values that the object has, has one of them: tells tagged forms apart.
fn constants_agree(node: &Value, object: &Map<String, Value>) -> bool {
    let Some(properties) = node.get("properties").and_then(Value::as_object) else { return true };
    properties.iter().all(|(key, schema)| match (options(schema), object.get(key)) {
        (Some(options), Some(value)) => options.contains(&value),
        _ => true,
    })
}

/// Whether an object has all that a form requires, under the present names or old ones.
fn is_complete(nodes: &[&Value], object: &Map<String, Value>) -> bool {
    let required = nodes.iter().filter_map(|node| node.get("required")?.as_array()).flatten();
    required.filter_map(Value::as_str).all(|name| {
        object.contains_key(name)
            || property(nodes, name).iter().any(|schema| aliases(schema).any(|old| object.contains_key(old)))
    })
}

/// Follows `$ref` and `allOf`, and fans out over `anyOf` and `oneOf`.
fn expand<'s>(root: &'s Value, node: &'s Value, depth: usize) -> Vec<Alternative<'s>> {
    let mut alternatives = vec![vec![node]];
    let Value::Object(schema) = node else { return alternatives };
    if depth > DEPTH {
        return alternatives;
    }
    if let Some(target) =
        schema.get("$ref").and_then(Value::as_str).and_then(|reference| resolve(root, reference))
    {
        alternatives = product(alternatives, expand(root, target, depth + 1));
    }
    if let Some(Value::Array(parts)) = schema.get("allOf") {
        for part in parts {
            alternatives = product(alternatives, expand(root, part, depth + 1));
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(keyword) {
            let choices = choices.iter().flat_map(|choice| expand(root, choice, depth + 1)).collect();
            alternatives = product(alternatives, choices);
        }
    }
    alternatives
}

fn product<'s>(left: Vec<Alternative<'s>>, mut right: Vec<Alternative<'s>>) -> Vec<Alternative<'s>> {
    if let ([only], [other]) = (left.as_slice(), right.as_mut_slice()) {
        let mut nodes = only.clone();
        nodes.append(other);
        return vec![nodes];
    }
    if left.len().saturating_mul(right.len()) > ALTERNATIVES {
        return left;
    }
    left.iter()
        .flat_map(|nodes| right.iter().map(|others| nodes.iter().chain(others).copied().collect()))
        .collect()
}

/// A reference inside the same document; anything else is the validator's business.
pub(crate) fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_of_places() {
        let check = |schema: Value, expected: Kinds| {
            assert_eq!(Shape::of(&schema, &[&schema]).kinds(), expected, "{schema}");
        };
        let number = Kinds::INTEGER.or(Kinds::NUMBER);
        check(json!({"type": "integer"}), Kinds::INTEGER);
        check(json!({"type": ["number", "null"]}), number.or(Kinds::NULL));
        check(json!({"enum": ["a", 1]}), Kinds::STRING.or(number));
        check(
            json!({"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "$defs": {"x": {"type": "array"}}}),
            Kinds::ARRAY.or(Kinds::NULL),
        );
        check(json!({"allOf": [{"type": ["string", "integer"]}, {"type": "string"}]}), Kinds::STRING);
        check(json!({}), Kinds::ALL);
        check(json!({"$ref": "#"}), Kinds::ALL);
        check(json!({"$ref": "https://example.com/schema"}), Kinds::ALL);
    }

    #[test]
    fn tagged_objects_are_told_apart() {
        let schema = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "line"}, "to": {"type": "integer"}}},
            {"type": "object", "properties": {"kind": {"const": "text"}, "to": {"type": "string"}}},
        ]});
        let shape = Shape::of(&schema, &[&schema]);
        let chosen = |value: Value| {
            let nodes = shape.object(value.as_object()?)?;
            Some(property(nodes, "to").iter().map(|node| node["type"].to_string()).collect::<String>())
        };
        assert_eq!(chosen(json!({"kind": "text"})).as_deref(), Some("\"string\""));
        assert_eq!(chosen(json!({"to": 1})), None);
    }
}
