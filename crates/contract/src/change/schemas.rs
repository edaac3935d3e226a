//! Two schemas of arguments against each other: does the newer one accept every call that the older one accepted?

use serde_json::Value;

use super::Changes;
use super::places::Place;
use crate::keywords;
use crate::kinds::Kinds;
use crate::place::joined;
use crate::schema;

/// Schemas that refer to themselves end here.
const DEPTH: usize = 6;

/// Bounds below, and bounds above.
const LEAST: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const GREATEST: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/// What narrows a value in a way that cannot be compared, only seen to have changed.
const OPAQUE: &[&str] = &[
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "uniqueItems",
];

const KINDS: &[(Kinds, &str)] = &[
    (Kinds::BOOLEAN, "booleans"),
    (Kinds::INTEGER, "whole numbers"),
    (Kinds::NUMBER, "numbers with a fraction"),
    (Kinds::STRING, "text"),
    (Kinds::ARRAY, "lists"),
    (Kinds::OBJECT, "objects"),
];

/// Where a value stands.
#[derive(Clone, Copy)]
struct At<'a> {
    pointer: &'a str,
    required: bool,
    depth: usize,
}

impl Changes<'_> {
    pub(super) fn schemas(&mut self, old: &Value, new: &Value) {
        let at = At { pointer: "", required: true, depth: 0 };
        self.place(&Place::new(old, &[old]), &Place::new(new, &[new]), at);
    }

    fn place(&mut self, old: &Place<'_>, new: &Place<'_>, at: At<'_>) {
        if at.depth > DEPTH {
            return;
        }
        if !at.pointer.is_empty() && old.text("description") != new.text("description") {
            self.safe(at.pointer, "its description changed; the same values are accepted");
        }
        self.kinds(old, new, at);
        self.options(old, new, at.pointer);
        self.bounds(old, new, at.pointer);
        self.default(old, new, at.pointer);
        self.objects(old, new, at);
        self.items(old, new, at);
    }

    fn kinds(&mut self, old: &Place<'_>, new: &Place<'_>, at: At<'_>) {
        let lost = old.kinds().without(new.kinds());
        let gained = new.kinds().without(old.kinds());
        for (kind, words) in KINDS {
            if lost.has(*kind) {
                self.breaking(at.pointer, format!("it no longer takes {words}"));
            }
            if gained.has(*kind) {
                self.safe(at.pointer, format!("it now also takes {words}"));
            }
        }
        if lost.has(Kinds::NULL) && at.required {
            self.breaking(at.pointer, "it no longer takes null");
        } else if lost.has(Kinds::NULL) {
            self.safe(at.pointer, "it no longer takes null; that is read as left out");
        }
        if gained.has(Kinds::NULL) {
            self.safe(at.pointer, "it now also takes null");
        }
    }

    fn options(&mut self, old: &Place<'_>, new: &Place<'_>, at: &str) {
        match (old.options(), new.options()) {
            (None, Some(options)) if old.kinds().and(new.kinds()) != Kinds::NONE && !options.is_empty() => {
                self.breaking(at, format!("only {} are accepted now", listed(&options)));
            }
            (Some(_), None) => self.safe(at, "it is no longer limited to listed values"),
            (Some(old), Some(new)) => {
                let gone: Vec<&Value> = old.iter().copied().filter(|option| !new.contains(option)).collect();
                let more: Vec<&Value> = new.iter().copied().filter(|option| !old.contains(option)).collect();
                if !gone.is_empty() {
                    self.breaking(at, format!("no longer accepted: {}", listed(&gone)));
                }
                if !more.is_empty() {
                    self.safe(at, format!("now also accepted: {}", listed(&more)));
                }
            }
            _ => {}
        }
    }

    fn bounds(&mut self, old: &Place<'_>, new: &Place<'_>, at: &str) {
        let bounds = LEAST
            .iter()
            .map(|keyword| (keyword, true))
            .chain(GREATEST.iter().map(|keyword| (keyword, false)));
        for (keyword, is_least) in bounds {
            let (before, after) = (old.bound(keyword, is_least), new.bound(keyword, is_least));
            let is_tighter = match (before, after) {
                (_, None) if before == after => continue,
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(before), Some(after)) if before == after => continue,
                (Some(before), Some(after)) => (after > before) == is_least,
            };
            let told =
                |bound: Option<f64>| bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
            let change = format!("`{keyword}` changed from {} to {}", told(before), told(after));
            if is_tighter {
                self.breaking(at, format!("{change}; values that were accepted are refused"));
            } else {
                self.safe(at, format!("{change}; more values are accepted"));
            }
        }
        for keyword in OPAQUE {
            let (before, after) = (old.all(keyword), new.all(keyword));
            if before != after && after.is_empty() {
                self.safe(at, format!("`{keyword}` is gone; more values are accepted"));
            } else if before != after {
                self.breaking(
                    at,
                    format!("`{keyword}` changed; whether all values are still accepted cannot be told"),
                );
            }
        }
        self.format(old, new, at);
    }

    /// Formats of integers are the ranges of their types; those of texts are patterns.
    fn format(&mut self, old: &Place<'_>, new: &Place<'_>, at: &str) {
        if let (Some(before), Some(after)) = (old.shape.integer_ranges(), new.shape.integer_ranges()) {
            let fits = |value: i128| after.iter().any(|range| range.contains(value));
            let in_reach = |bound: i128, least: bool| match (
                least,
                old.bound("minimum", true),
                old.bound("maximum", false),
            ) {
                (true, Some(minimum), _) => bound.max(minimum as i128),
                (false, _, Some(maximum)) => bound.min(maximum as i128),
                _ => bound,
            };
            let shrunk = before
                .iter()
                .any(|range| !fits(in_reach(range.from, true)) || !fits(in_reach(range.to, false)));
            if shrunk && !after.is_empty() {
                self.breaking(at, "its integer type became smaller; values that were accepted are refused");
            }
        }
        if !old.kinds().and(new.kinds()).has(Kinds::STRING) {
            return;
        }
        match (old.text("format"), new.text("format")) {
            (before, after) if before == after => {}
            (_, None) => self.safe(at, "it no longer has to be of a format"),
            (_, Some(after)) => self.breaking(at, format!("it has to be of the format `{after}` now")),
        }
    }

    fn default(&mut self, old: &Place<'_>, new: &Place<'_>, at: &str) {
        let stated =
            |place: &Place<'_>| place.all("default").into_iter().find(|default| !default.is_null()).cloned();
        match (stated(old), stated(new)) {
            (Some(before), Some(after)) if before != after => {
                self.breaking(at, format!("its default changed from {before} to {after}; calls that leave it out do something else"));
            }
            (Some(before), None) => self.breaking(
                at,
                format!("its default {before} is gone; calls that leave it out may do something else"),
            ),
            (None, Some(after)) => self.safe(at, format!("its default {after} is now stated")),
            _ => {}
        }
    }

    fn items(&mut self, old: &Place<'_>, new: &Place<'_>, at: At<'_>) {
        let form = |place: &Place<'_>| place.shape.array().map(<[&Value]>::len).is_some();
        if !old.kinds().and(new.kinds()).has(Kinds::ARRAY)
            || old.kinds() == Kinds::ALL
            || new.kinds() == Kinds::ALL
        {
            return;
        }
        if !form(old) || !form(new) {
            return self.incomparable(old, new, at.pointer);
        }
        let below = format!("{}/*", at.pointer);
        let (before, after) = (items(old), items(new));
        let at = At { pointer: &below, required: true, depth: at.depth + 1 };
        match (before.is_empty(), after.is_empty()) {
            (true, true) => {}
            (true, false) => self.breaking(&below, "its items have a type now; any item was accepted"),
            (false, true) => self.safe(&below, "any item is accepted now"),
            (false, false) => self.place(&Place::new(old.root, &before), &Place::new(new.root, &after), at),
        }
    }

    fn objects(&mut self, old: &Place<'_>, new: &Place<'_>, at: At<'_>) {
        if !old.kinds().and(new.kinds()).has(Kinds::OBJECT) || old.kinds() == Kinds::ALL {
            return;
        }
        if new.kinds() == Kinds::ALL {
            return self.safe(at.pointer, "any value is accepted now");
        }
        let before: Vec<&[&Value]> = old.shape.forms(Kinds::OBJECT).collect();
        let after: Vec<&[&Value]> = new.shape.forms(Kinds::OBJECT).collect();
        if let ([before], [after]) = (before.as_slice(), after.as_slice()) {
            return self.form((old.root, before), (new.root, after), at);
        }
        for form in &before {
            let tags = tags(form);
            let same = after.iter().find(|other| !tags.is_empty() && self::tags(other) == tags);
            let only =
                if let ([only], true) = (after.as_slice(), same.is_none()) { Some(only) } else { same };
            match only {
                Some(other) => self.form((old.root, form), (new.root, other), at),
                None if tags.is_empty() => return self.incomparable(old, new, at.pointer),
                None => self.breaking(at.pointer, format!("the form with {} is gone", told(&tags))),
            }
        }
        for form in &after {
            let tags = tags(form);
            if !tags.is_empty() && !before.iter().any(|other| self::tags(other) == tags) {
                self.safe(at.pointer, format!("the form with {} is new", told(&tags)));
            }
        }
    }

    /// Several forms that nothing tells apart: they are the same, or they are not.
    fn incomparable(&mut self, old: &Place<'_>, new: &Place<'_>, at: &str) {
        let alternatives = |place: &Place<'_>| {
            (
                place.all("anyOf").into_iter().cloned().collect::<Vec<_>>(),
                place.all("oneOf").into_iter().cloned().collect::<Vec<_>>(),
            )
        };
        if alternatives(old) != alternatives(new) {
            self.breaking(
                at,
                "its alternatives changed; whether all values are still accepted cannot be told",
            );
        }
    }

    fn form(
        &mut self,
        (old_root, old): (&Value, &[&Value]),
        (new_root, new): (&Value, &[&Value]),
        at: At<'_>,
    ) {
        let names = |form: &[&Value]| {
            let mut names: Vec<String> = Vec::new();
            for name in schema::declared(form) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            names
        };
        let (before, after) = (names(old), names(new));
        let is_closed = |form: &[&Value]| {
            form.iter().any(|node| node.get("additionalProperties") == Some(&Value::Bool(false)))
        };
        let mut known: Vec<&str> = Vec::new();
        for name in &before {
            let below = joined(at.pointer, name);
            let successor = after.iter().find(|new| *new == name);
            let renamed = successor
                .is_none()
                .then(|| after.iter().find(|key| aliases(new, key).contains(name)))
                .flatten();
            let Some(key) = successor.or(renamed) else {
                let because = if is_closed(new) {
                    "calls that give it are refused"
                } else {
                    "what calls give for it is ignored"
                };
                self.breaking(&below, format!("it is gone; {because}"));
                continue;
            };
            if renamed.is_some() {
                self.safe(&below, format!("renamed to `{key}`; the old name is an alias and still works"));
            }
            known.push(key);
            for alias in aliases(old, name) {
                if alias != *key && !aliases(new, key).contains(&alias) {
                    self.breaking(
                        &below,
                        format!("its alias `{alias}` is gone; calls that use it are refused"),
                    );
                }
            }
            let (was, is) = (schema::required(old, name), schema::required(new, key));
            if !was && is {
                self.breaking(&below, "it is required now; calls without it are refused");
            } else if was && !is {
                self.safe(&below, "it may be left out now");
            }
            let at = At { pointer: &below, required: is, depth: at.depth + 1 };
            let (old_nodes, new_nodes) = (schema::property(old, name), schema::property(new, key));
            self.place(&Place::new(old_root, &old_nodes), &Place::new(new_root, &new_nodes), at);
        }
        for name in after.iter().filter(|name| !known.contains(&name.as_str())) {
            let below = joined(at.pointer, name);
            if schema::required(new, name) {
                self.breaking(&below, "it is new and required; calls without it are refused");
            } else if !is_closed(old) {
                self.breaking(&below, "it is new, and was accepted and ignored before, whatever it was");
            } else {
                self.safe(&below, "it is new and may be left out");
            }
        }
        match (is_closed(old), is_closed(new)) {
            (false, true) => self.breaking(at.pointer, "keys that are not declared are refused now"),
            (true, false) => self.safe(at.pointer, "keys that are not declared are accepted now"),
            _ => {}
        }
    }
}

fn items<'s>(place: &Place<'s>) -> Vec<&'s Value> {
    place.shape.array().map(|nodes| schema::item(nodes, 0)).unwrap_or_default()
}

/// The constants that tell a form from others.
fn tags<'s>(form: &[&'s Value]) -> Vec<(String, &'s Value)> {
    let mut tags: Vec<(String, &Value)> = Vec::new();
    for name in schema::declared(form) {
        let constant = schema::property(form, name).into_iter().find_map(|node| {
            match schema::options(node)?.as_slice() {
                [only] => Some(*only),
                _ => None,
            }
        });
        if let Some(constant) = constant.filter(|_| !tags.iter().any(|(known, _)| known == name)) {
            tags.push((name.clone(), constant));
        }
    }
    tags.sort_by(|left, right| left.0.cmp(&right.0));
    tags
}

fn told(tags: &[(String, &Value)]) -> String {
    tags.iter().map(|(name, value)| format!("`{name}` = {value}")).collect::<Vec<_>>().join(" and ")
}

fn aliases(form: &[&Value], name: &str) -> Vec<String> {
    let lists =
        schema::property(form, name).into_iter().filter_map(|node| node.get(keywords::ALIASES)?.as_array());
    lists.flatten().filter_map(|alias| alias.as_str().map(str::to_owned)).collect()
}

fn listed(options: &[&Value]) -> String {
    options.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
