//! Where in a JSON value something is, as a JSON pointer that is written only when someone needs to read it.

/// A place on the way down, linked to the one above; costs nothing until it is rendered.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    pub(crate) const ROOT: Place<'static> = Place { parent: None, step: Step::Root };

    pub(crate) fn key(&'a self, key: &'a str) -> Place<'a> {
        Place { parent: Some(self), step: Step::Key(key) }
    }

    pub(crate) fn index(&'a self, index: usize) -> Place<'a> {
        Place { parent: Some(self), step: Step::Index(index) }
    }

    /// The JSON pointer; empty for the whole value.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Place::pointer).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Key(key) => push_key(&mut pointer, key),
            Step::Index(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
        pointer
    }
}

/// Appends one key to a JSON pointer, escaped as RFC 6901 asks.
pub(crate) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The pointer one key further down.
pub(crate) fn joined(pointer: &str, key: &str) -> String {
    let mut longer = pointer.to_owned();
    push_key(&mut longer, key);
    longer
}

/// How a person reads a pointer.
pub(crate) fn in_words(pointer: &str) -> String {
    if pointer.is_empty() { "the arguments".to_owned() } else { format!("`{pointer}`") }
}
