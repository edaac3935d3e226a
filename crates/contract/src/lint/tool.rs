//! One tool as the rules look at it: its arguments at every depth, each with what is known about its place.

use foehn_protocol::ToolSpec;
use serde_json::{Map, Value};

use super::words;
use crate::kinds::Kinds;
use crate::place::joined;
use crate::schema::{self, Shape};
use crate::schema_nodes::of_place;

/// Arguments below this depth are not looked at; long before, `deep-nesting` has said what to do.
const DEPTH: usize = 6;

/// A schema that refers to itself several times has more places than anyone reads.
const MOST_ARGUMENTS: usize = 1_000;

/// What stands in a pointer for any item of a list.
pub(super) const ITEM: &str = "*";

/// One place of the arguments where a value goes.
pub(super) struct Argument<'s> {
    /// Pointer into the arguments; `*` is any item of a list.
    pub(super) at: String,
    /// Empty for an item of a list.
    pub(super) name: &'s str,
    pub(super) required: bool,
    pub(super) kinds: Kinds,
    /// How many objects it is in, the arguments themselves not counted.
    pub(super) depth: usize,
    /// Every schema node that says something about it: its own, what it refers to, and its alternatives.
    pub(super) nodes: Vec<&'s Map<String, Value>>,
    /// Whether it is the constant that tells one form of an object from another.
    pub(super) is_tag: bool,
}

/// One form of an object in the arguments.
pub(super) struct Object<'s> {
    pub(super) at: String,
    pub(super) nodes: Vec<&'s Map<String, Value>>,
    pub(super) keys: Vec<&'s str>,
    pub(super) required: Vec<&'s str>,
    /// How many forms may stand at this place.
    pub(super) forms: usize,
}

/// A tool and what surrounds it.
pub(super) struct Tool<'s> {
    pub(super) spec: &'s ToolSpec,
    pub(super) root: &'s Value,
    pub(super) arguments: Vec<Argument<'s>>,
    pub(super) objects: Vec<Object<'s>>,
    /// The tools of the same plugin that come before it.
    pub(super) earlier: Vec<&'s ToolSpec>,
    /// Every other tool of the same plugin.
    pub(super) others: Vec<&'s ToolSpec>,
}

impl<'s> Tool<'s> {
    pub(super) fn new(spec: &'s ToolSpec, all: &[&'s ToolSpec]) -> Self {
        let own = all.iter().position(|other| std::ptr::eq(*other, spec)).unwrap_or(all.len());
        let of_plugin = |other: &&&ToolSpec| other.plugin == spec.plugin && !std::ptr::eq(**other, spec);
        let mut tool = Self {
            spec,
            root: &spec.schema,
            arguments: Vec::new(),
            objects: Vec::new(),
            earlier: all[..own].iter().filter(of_plugin).copied().collect(),
            others: all.iter().filter(of_plugin).copied().collect(),
        };
        tool.walk(&[tool.root], "", 0);
        tool
    }

    /// The arguments that have a name, not the items of lists.
    pub(super) fn named(&self) -> impl Iterator<Item = &Argument<'s>> {
        self.arguments.iter().filter(|argument| !argument.name.is_empty())
    }

    /// All texts that a model reads, with where each stands.
    pub(super) fn texts(&self) -> Vec<(&str, &str)> {
        let mut texts = vec![("", self.spec.description.as_str())];
        for argument in &self.arguments {
            texts.extend(argument.strings("description").map(|text| (argument.at.as_str(), text)));
            texts.extend(argument.strings("title").map(|text| (argument.at.as_str(), text)));
        }
        texts
    }

    fn walk(&mut self, nodes: &[&'s Value], at: &str, depth: usize) {
        if depth > DEPTH || self.arguments.len() > MOST_ARGUMENTS {
            return;
        }
        let shape = Shape::of(self.root, nodes);
        let forms = shape.forms(Kinds::OBJECT).count();
        for form in shape.forms(Kinds::OBJECT) {
            let mut keys: Vec<&str> = Vec::new();
            for key in schema::declared(form) {
                if !keys.contains(&key.as_str()) {
                    keys.push(key);
                }
            }
            for key in &keys {
                let below = joined(at, key);
                let required = schema::required(form, key);
                let nodes = schema::property(form, key);
                self.argument(&nodes, Place { at: below, name: key, required, depth, forms });
            }
            let maps = maps(form);
            if let Some(extra) =
                maps.iter().find_map(|map| map.get("additionalProperties").filter(|extra| extra.is_object()))
            {
                let place = Place { at: format!("{at}/{ITEM}"), name: "", required: false, depth, forms: 1 };
                self.argument(&[extra], place);
            }
            let required = keys.iter().copied().filter(|key| schema::required(form, key)).collect();
            self.objects.push(Object { at: at.to_owned(), nodes: maps, keys, required, forms });
        }
        for form in shape.forms(Kinds::ARRAY) {
            let items = schema::item(form, 0);
            if !items.is_empty() {
                let place = Place { at: format!("{at}/{ITEM}"), name: "", required: false, depth, forms: 1 };
                self.argument(&items, place);
            }
        }
    }

    fn argument(&mut self, nodes: &[&'s Value], place: Place<'s>) {
        let Place { at, name, required, depth, forms } = place;
        let shape = Shape::of(self.root, nodes);
        let all = of_place(&shape, nodes);
        let is_tag =
            forms > 1 && all.iter().any(|node| node.contains_key("const") || node.contains_key("enum"));
        let kinds = shape.kinds();
        let inner = depth + usize::from(kinds.has(Kinds::OBJECT));
        self.arguments.push(Argument {
            at: at.clone(),
            name,
            required,
            kinds,
            depth: inner,
            nodes: all,
            is_tag,
        });
        self.walk(nodes, &at, inner.max(depth + usize::from(name.is_empty())));
    }
}

struct Place<'s> {
    at: String,
    name: &'s str,
    required: bool,
    depth: usize,
    forms: usize,
}

impl<'s> Argument<'s> {
    /// The first value of a keyword on any of its nodes.
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.nodes.iter().find_map(|node| node.get(keyword))
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    pub(super) fn strings(&self, keyword: &str) -> impl Iterator<Item = &'s str> {
        self.nodes.iter().filter_map(move |node| node.get(keyword)?.as_str())
    }

    /// Its description; empty when there is none.
    pub(super) fn description(&self) -> &'s str {
        self.strings("description").next().unwrap_or_default()
    }

    /// The values it lists by `enum` or `const`, those of all alternatives together.
    pub(super) fn options(&self) -> Vec<&'s Value> {
        let mut options = Vec::new();
        for node in &self.nodes {
            options.extend(node.get("const"));
            options.extend(node.get("enum").and_then(Value::as_array).into_iter().flatten());
        }
        options
    }

    pub(super) fn listed(&self) -> bool {
        self.has("enum") || self.has("const")
    }

    /// Whether every kind it takes, besides null, is among these.
    pub(super) fn only(&self, kinds: Kinds) -> bool {
        self.kinds.and(kinds) != Kinds::NONE
            && !Kinds::ALL_BUT_NULL.and(self.kinds).without(kinds).has(Kinds::ALL)
    }

    pub(super) fn is_number(&self) -> bool {
        self.only(Kinds::INTEGER.or(Kinds::NUMBER))
    }

    pub(super) fn words(&self) -> Vec<String> {
        words::of_name(self.name)
    }
}

impl<'s> Object<'s> {
    /// Whether a key that it does not declare is refused.
    pub(super) fn is_closed(&self) -> bool {
        let closes =
            |keyword: &str| self.nodes.iter().any(|node| node.get(keyword) == Some(&Value::Bool(false)));
        closes("additionalProperties") || closes("unevaluatedProperties")
    }

    /// The type of what stands under keys that it does not declare, when it says one.
    pub(super) fn types_the_rest(&self) -> bool {
        self.nodes.iter().any(|node| node.get("additionalProperties").is_some_and(Value::is_object))
    }
}

fn maps<'s>(nodes: &[&'s Value]) -> Vec<&'s Map<String, Value>> {
    nodes.iter().filter_map(|node| node.as_object()).collect()
}
