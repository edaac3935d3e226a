//! From the text of a command line to its simple commands.
//!
//! Two parsers were measured on 120 lines (both MIT, both maintained): `brush-parser` 0.4 and `tree-sitter-bash` 0.25. The
//! former was right more often (two here-documents on a line, `<>`), but it brings 55 crates, needs exponential time for
//! unclosed parentheses (0.3 s for 20 of them) and ends the process by a stack overflow on nested input. The latter has
//! linear time (120 KB in 0.2 s, a usual line in 5 to 35 us), no recursion and no panic; where it is unsure it says so.
//! What it is known to read wrongly (words after a redirection, joined lines) is corrected or refused here, and
//! [`lexical`](super::lexical) checks each of its tokens against the text.
//!
//! Only kinds of nodes that are listed are understood. A new one in the grammar is a problem, not a hole.

use tree_sitter::{Node, Parser, Tree};

use super::lexical;
use super::words::{self, Word};

/// Statements within each other are followed so far.
const NESTING: usize = 150;

/// Parts of the shell that decide what later words mean. With a function in their place they no longer do.
const BUILT_IN: &[&str] = &["builtin", "cd", "command", "popd", "pushd"];

/// A command without any structure: assignments, words, redirections.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub assignments: Vec<String>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// Whether it runs in the shell itself, and always: not in a subshell, a branch, a pipeline or a function.
    pub plain: bool,
}

#[derive(Debug)]
pub(super) struct Redirect {
    pub writes: bool,
    pub target: Word,
}

/// What a line consists of.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub commands: Vec<Simple>,
    /// What was not understood, with its place.
    pub problems: Vec<String>,
}

/// Takes a line apart.
pub(super) fn parse(line: &str) -> Parsed {
    let Some(tree) = tree(line) else {
        return Parsed { problems: vec!["the line could not be parsed".to_owned()], ..Parsed::default() };
    };
    let mut walk = Walk { line, parsed: Parsed::default() };
    let root = tree.root_node();
    if root.has_error() {
        let place = first_error(root).unwrap_or(root);
        walk.problem("no valid syntax", place);
    }
    if let Some((what, place)) = lexical::problem(root, line) {
        walk.problem(what, place);
    }
    walk.children(root, Place { plain: true, depth: 0 });
    walk.parsed
}

fn tree(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(line, None)
}

/// The innermost first place where the parser gave up.
fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    let mut node = root;
    loop {
        let mut cursor = node.walk();
        match node.children(&mut cursor).find(Node::has_error) {
            Some(child) => node = child,
            None => return (node.is_error() || node.is_missing()).then_some(node),
        }
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
    }
}

#[derive(Clone, Copy)]
struct Place {
    plain: bool,
    depth: usize,
}

impl Place {
    fn inner(self) -> Self {
        Self { plain: false, depth: self.depth + 1 }
    }
}

struct Walk<'t> {
    line: &'t str,
    parsed: Parsed,
}

impl<'t> Walk<'t> {
    fn problem(&mut self, what: &str, node: Node<'_>) {
        let place = node.start_position();
        // The column is counted in bytes; a person counts characters.
        let start = node.start_byte();
        let column =
            self.line.get(start - place.column..start).map_or(place.column, |text| text.chars().count());
        self.parsed.problems.push(format!("{what} at line {}, column {}", place.row + 1, column + 1));
    }

    fn text(&self, node: Node<'_>) -> &'t str {
        self.line.get(node.byte_range()).unwrap_or_default()
    }

    fn children(&mut self, node: Node<'_>, place: Place) {
        if place.depth > NESTING {
            return self.problem("nested too deeply", node);
        }
        let mut cursor = node.walk();
        let conditional = matches!(node.kind(), "list");
        let mut children = node.children(&mut cursor).enumerate().peekable();
        while let Some((index, child)) = children.next() {
            let is_in_background = children.peek().is_some_and(|(_, next)| next.kind() == "&");
            let plain = place.plain && (!conditional || index == 0) && !is_in_background;
            self.statement(child, Place { plain, ..place });
        }
    }

    fn statement(&mut self, node: Node<'_>, place: Place) {
        let inner = place.inner();
        match node.kind() {
            // A list nests to the left: as deep as it is long.
            "list" | "program" => self.children(node, Place { depth: place.depth + 1, ..place }),
            "pipeline" | "negated_command" | "do_group" | "if_statement" | "elif_clause" | "else_clause"
            | "while_statement" | "subshell" | "case_statement" | "case_item" | "ERROR" => {
                self.children(node, inner)
            }
            "compound_statement" => self.opened_by(node, "{", inner),
            "for_statement" => {
                if let Some(variable) = node.child_by_field_name("variable") {
                    self.push(Simple {
                        assignments: vec![self.text(variable).to_owned()],
                        ..Simple::default()
                    });
                }
                self.opened_by(node, "for", inner);
            }
            "function_definition" => {
                if node.child(0).is_some_and(|first| first.kind() == "function") {
                    self.problem("`function`", node);
                }
                let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
                if BUILT_IN.contains(&name) {
                    self.problem("a function in the place of a part of the shell", node);
                }
                let mut cursor = node.walk();
                for child in node.children(&mut cursor) {
                    if child.kind().ends_with("_redirect") {
                        self.statement(child, inner);
                    }
                }
                if let Some(body) = node.child_by_field_name("body") {
                    self.statement(body, inner);
                }
            }
            "c_style_for_statement" => {
                self.problem("a construct that shells read differently", node);
                self.scan(node, inner);
                if let Some(body) = node.child_by_field_name("body") {
                    self.statement(body, inner);
                }
            }
            "command_substitution" | "process_substitution" => {
                if self.text(node).starts_with('`') && self.text(node).contains('\\') {
                    self.problem("an escape in a backquoted substitution", node);
                }
                self.children(node, inner);
            }
            "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                let mut simple = Simple::default();
                self.redirect(node, &mut simple, inner);
                self.push(simple);
            }
            "redirected_statement" => self.redirected(node, place),
            "command" => {
                let mut simple = Simple { plain: place.plain, ..Simple::default() };
                self.command(node, &mut simple, inner);
                self.push(simple);
            }
            "declaration_command" | "unset_command" => self.declaration(node, inner),
            "variable_assignment" | "variable_assignments" => {
                let mut simple = Simple::default();
                self.assignment(node, &mut simple, inner);
                self.push(simple);
            }
            "test_command" => {
                if node.child(0).is_none_or(|first| first.kind() != "[") || lexical::has_operator(node) {
                    self.problem("a test that shells read differently", node);
                }
                self.scan(node, inner);
                self.push(Simple { words: vec![Word::literal("[")], ..Simple::default() });
            }
            _ if is_word(node) => self.scan(node, inner),
            "comment" | "variable_name" | "heredoc_body" | "heredoc_end" | "heredoc_start"
            | "heredoc_content" => self.scan(node, inner),
            kind if !node.is_named() && lexical::is_plain_token(kind) => {}
            _ => {
                self.problem("a construct that is not understood", node);
                self.scan(node, inner);
            }
        }
    }

    /// Only in this form do all shells read it alike.
    fn opened_by(&mut self, node: Node<'_>, token: &str, place: Place) {
        if node.child(0).is_none_or(|first| first.kind() != token) {
            self.problem("a construct that shells read differently", node);
        }
        self.children(node, place);
    }

    fn redirected(&mut self, node: Node<'_>, place: Place) {
        let mut simple = Simple { plain: place.plain, ..Simple::default() };
        let mut cursor = node.walk();
        let mut body_is_command = true;
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "command" if simple.words.is_empty() => self.command(child, &mut simple, place.inner()),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    let before = simple.words.len();
                    let gap = self.line.get(end..child.start_byte()).unwrap_or_default();
                    if child.kind() == "heredoc_redirect" && lexical::is_dash(gap) {
                        simple.words.push(Word::literal("-"));
                    }
                    self.redirect(child, &mut simple, place.inner());
                    if !body_is_command && simple.words.len() > before {
                        self.problem("words after a redirection", child);
                    }
                }
                // The redirection is that of its last command, although the parser puts it around the whole.
                "list" => {
                    body_is_command = false;
                    self.statement(child, Place { depth: place.depth + 1, ..place });
                }
                _ => {
                    body_is_command = false;
                    self.statement(child, place.inner());
                }
            }
            end = child.end_byte();
        }
        self.push(simple);
    }

    fn command(&mut self, node: Node<'_>, simple: &mut Simple, place: Place) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.assignment(child, simple, place),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    self.redirect(child, simple, place);
                }
                "command_name" => {
                    let mut inner = child.walk();
                    for part in child.children(&mut inner) {
                        self.word(part, simple, place);
                    }
                }
                _ => self.word(child, simple, place),
            }
        }
    }

    fn declaration(&mut self, node: Node<'_>, place: Place) {
        let mut simple = Simple::default();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.assignment(child, &mut simple, place),
                "variable_name" => {
                    simple.assignments.push(self.text(child).to_owned());
                    simple.words.push(Word::literal(self.text(child)));
                }
                kind if !child.is_named() => simple.words.push(Word::literal(kind)),
                _ => self.word(child, &mut simple, place),
            }
        }
        self.push(simple);
    }

    fn assignment(&mut self, node: Node<'_>, simple: &mut Simple, place: Place) {
        if node.kind() == "variable_assignments" {
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                self.assignment(child, simple, place);
            }
            return;
        }
        match node.child_by_field_name("name") {
            Some(name) if name.kind() == "variable_name" => {
                simple.assignments.push(self.text(name).to_owned());
            }
            _ => self.problem("an assignment that shells read differently", node),
        }
        self.scan(node, place);
    }

    /// The first target is the redirection's; further ones are words of the command, as in `echo >f x`.
    fn redirect(&mut self, node: Node<'_>, simple: &mut Simple, place: Place) {
        let mut cursor = node.walk();
        let mut operator = "";
        let mut target_seen = false;
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            let child = cursor.node();
            match child.kind() {
                "file_redirect" => self.redirect(child, simple, place),
                "file_descriptor" | "heredoc_start" | "heredoc_end" => {}
                "heredoc_body" => self.scan(child, place),
                kind if !child.is_named() => {
                    if kind.contains(['<', '>']) && operator.is_empty() {
                        operator = kind;
                    } else if !lexical::is_plain_token(kind) {
                        self.problem("a redirection that is not understood", child);
                    }
                }
                _ if node.kind() == "heredoc_redirect" => match cursor.field_name() {
                    Some("argument") => self.word(child, simple, place),
                    _ => self.statement(child, place),
                },
                _ if node.kind() == "herestring_redirect" => self.scan(child, place),
                _ if target_seen => self.word(child, simple, place),
                _ => {
                    target_seen = true;
                    let target = self.read_word(child, place);
                    let is_descriptor = target.is_literal
                        && target.text.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
                    if !(operator.ends_with('&') && is_descriptor) {
                        simple.redirects.push(Redirect { writes: operator.contains('>'), target });
                    }
                }
            }
            if !cursor.goto_next_sibling() {
                return;
            }
        }
    }

    fn word(&mut self, node: Node<'_>, simple: &mut Simple, place: Place) {
        let word = self.read_word(node, place);
        simple.words.push(word);
    }

    fn read_word(&mut self, node: Node<'_>, place: Place) -> Word {
        self.scan(node, place);
        match words::read(node, self.line) {
            Ok(word) => word,
            Err(what) => {
                self.problem(what, node);
                Word::computed(self.text(node))
            }
        }
    }

    /// Finds the commands that are run to make up a word.
    fn scan(&mut self, node: Node<'_>, place: Place) {
        if place.depth > NESTING {
            return self.problem("nested too deeply", node);
        }
        match node.kind() {
            "command_substitution" | "process_substitution" => return self.statement(node, place),
            "ansi_c_string" | "translated_string" => {
                self.problem("a quote that shells read differently", node)
            }
            "array" => self.problem("an array", node),
            "expansion" => {
                let mut cursor = node.walk();
                let assigns = node.children(&mut cursor).any(|child| matches!(child.kind(), "=" | ":="));
                let name = node.children(&mut cursor).find(|child| child.kind() == "variable_name");
                if let (true, Some(name)) = (assigns, name) {
                    self.push(Simple { assignments: vec![self.text(name).to_owned()], ..Simple::default() });
                }
            }
            _ => {}
        }
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.scan(child, place.inner());
        }
    }

    fn push(&mut self, simple: Simple) {
        self.parsed.commands.push(simple);
    }
}

fn is_word(node: Node<'_>) -> bool {
    words::KINDS.contains(&node.kind())
}
