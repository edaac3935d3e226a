//! From simple commands to operations.

use super::effects::{self, Effect};
use super::parse::{Simple, parse};
use super::places::{self, Places};
use super::words::Word;
use super::written::{self, path_in};
use super::{
    DEPTH, Found, UNKNOWN, Understood, WRITE_INSIDE, WRITE_OUTSIDE, git, options, scripts, tools, variables,
    wrappers,
};

/// As many words of a command are its operation.
const WORDS: usize = 4;
/// A longer word is no name of anything.
const WORD_CHARACTERS: usize = 60;
/// A line of so many operations is not read on: nobody would, and it has to be asked about.
const OPERATIONS: usize = 200;

/// Words of the shell's own. As the name of a program they are an error, or the beginning of what was not understood.
const RESERVED: &[&str] = &[
    "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "until", "while", "{", "}",
];

/// Where a program may lie and still be meant by its name alone.
const SYSTEM_FOLDERS: &[&str] =
    &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];

pub(super) struct Commands {
    places: Places,
    understood: Understood,
    /// What only changes the shell; counts when there is nothing else.
    quiet: Option<Found>,
    /// Some input comes from outside of the workspace.
    reads_outside: bool,
}

impl Commands {
    pub(super) fn new(places: Places) -> Self {
        Self { places, understood: Understood::default(), quiet: None, reads_outside: false }
    }

    pub(super) fn line(&mut self, line: &str, depth: usize) {
        if depth > DEPTH {
            return self.unknown("commands within commands, too deep");
        }
        let parsed = parse(line);
        // One is enough to be asked about, and the others often follow from it.
        if let Some(problem) = parsed.problems.into_iter().next() {
            self.unknown(problem);
        }
        for simple in parsed.commands {
            self.simple(&simple, depth);
        }
    }

    pub(super) fn finish(mut self) -> Understood {
        if self.understood.found.is_empty() {
            let nothing = || Found { name: ":".to_owned(), effect: Effect::ReadOnly, target: None };
            self.understood.found.push(self.quiet.unwrap_or_else(nothing));
        }
        if self.reads_outside {
            for found in self.understood.found.iter_mut().filter(|found| found.effect == Effect::ReadOnly) {
                found.effect = Effect::Other;
            }
        }
        self.understood
    }

    fn simple(&mut self, simple: &Simple, depth: usize) {
        for name in &simple.assignments {
            self.assigned(name);
        }
        for redirect in &simple.redirects {
            if redirect.writes {
                self.written(&redirect.target);
            } else if !self.is_read_inside(&redirect.target.text, &redirect.target) {
                self.reads_outside = true;
            }
        }
        if !simple.words.is_empty() {
            self.command(&simple.words, simple.plain, depth);
        }
    }

    fn assigned(&mut self, name: &str) {
        if variables::change_what_runs(name) {
            self.unknown(format!("`{name}` can change what runs"));
        }
    }

    /// The target of a redirection.
    fn written(&mut self, target: &Word) {
        if !target.is_literal {
            return self.unknown(format!("output to a file that is worked out at run time: {}", target.text));
        }
        if let Some(path) = self.places.outside(&target.text, target.is_home) {
            self.writes_outside(path);
        } else if !target.text.starts_with("/dev/") {
            self.add(WRITE_INSIDE, Effect::Write, Some(target.text.clone()));
            self.written_in_git(&target.text);
        }
    }

    fn writes_outside(&mut self, path: std::path::PathBuf) {
        self.add(WRITE_OUTSIDE, Effect::Write, Some(path.display().to_string()));
        if !self.understood.outside.contains(&path) {
            self.understood.outside.push(path);
        }
    }

    fn command(&mut self, words: &[Word], plain: bool, depth: usize) {
        let Some((first, arguments)) = words.split_first() else { return };
        if depth > DEPTH {
            return self.unknown("commands within commands, too deep");
        }
        let is_named = first.is_literal && !first.is_pattern && is_sayable(&first.text);
        if !is_named {
            return self.unknown(format!("a program whose name is not known: {}", first.text));
        }
        let (folder, base) =
            first.text.rsplit_once('/').map_or(("", first.text.as_str()), |(folder, base)| {
                (if folder.is_empty() { "/" } else { folder }, base)
            });
        let mut program = base.to_lowercase();
        if RESERVED.contains(&program.as_str()) {
            return self.unknown(format!("`{program}` where a command should stand"));
        }
        let given = arguments;
        let mut arguments = arguments.to_vec();
        // The parts of git are programs of their own, in a folder of its own.
        if let Some(part) = program.strip_prefix("git-").filter(|part| tools::is_part_of_git(part)) {
            arguments.insert(0, Word::literal(part));
            program = "git".to_owned();
        }
        let arguments = arguments.as_slice();
        let folder = places::clean(folder.as_ref());
        let is_system = SYSTEM_FOLDERS.iter().any(|known| folder.as_os_str() == *known);
        let is_elsewhere = (!folder.as_os_str().is_empty() && !is_system)
            || first.is_home
            || (base != first.text && folder.as_os_str().is_empty());
        if is_elsewhere {
            let mut name = vec![self.place_of(first)];
            name.extend(leading(given));
            self.add(&limited(&name), Effect::Other, None);
            // A script is known by its path alone; what is called as a known program counts as that one too.
            if !is_known(&program) {
                return;
            }
        }
        match wrappers::unwrap(&program, arguments) {
            Some(inner) => self.wrapper(&program, arguments, inner, depth),
            None => self.operation(&program, arguments, plain, depth),
        }
    }

    fn wrapper(&mut self, program: &str, arguments: &[Word], inner: wrappers::Unwrapped, depth: usize) {
        if let Some(problem) = inner.problem {
            self.unknown(format!("{program}: {problem}"));
        }
        if inner.is_named {
            let name = [&[program.to_owned()][..], &leading(arguments)].concat();
            self.add(&limited(&name), effects::of_program(program), None);
        }
        for name in &inner.assignments {
            self.assigned(name);
        }
        let outer = self.places.clone();
        let moves = wrappers::moves(program, arguments);
        if moves {
            self.places.lose();
        }
        self.command(&inner.command, false, depth + 1);
        for line in &inner.lines {
            self.line(line, depth + 1);
        }
        // Where another process goes does not move the shell.
        if moves || !inner.lines.is_empty() {
            self.places = outer;
        }
        if wrappers::runs_in_the_shell(program) {
            self.places.lose();
        }
    }

    fn operation(&mut self, program: &str, arguments: &[Word], plain: bool, depth: usize) {
        if matches!(program, "cd" | "pushd" | "popd") {
            self.enter(arguments, plain);
        }
        if matches!(program, "read" | "unset" | "getopts" | "export" | "readonly") {
            for word in arguments {
                self.assigned(&word.text);
            }
        }
        if effects::QUIET.contains(&program) {
            let found = Found { name: program.to_owned(), effect: Effect::ReadOnly, target: None };
            self.quiet.get_or_insert(found);
            return;
        }
        let (words, mut effect) = match tools::tool(program) {
            Some(tool) => {
                let (words, problem) = tool.words(arguments);
                if let Some(problem) = problem {
                    self.unknown(format!("{program}: {problem}"));
                }
                let effect = tool.effect(&words);
                (words, effect)
            }
            None => (arguments.to_vec(), effects::of_program(program)),
        };
        if program == "printf"
            && let [option, rest @ ..] = arguments
            && let Some(attached) = option.text.strip_prefix("-v")
        {
            self.assigned(if attached.is_empty() {
                rest.first().map_or("", |word| &word.text)
            } else {
                attached
            });
        }
        let subcommand = words.first().map_or("", |word| word.text.as_str());
        match options::effect(program, subcommand, arguments) {
            Some(Effect::Unknown) => {
                self.unknown(format!("{program}: an option that can run other programs"))
            }
            Some(more) => effect = effect.max(more),
            None => {}
        }
        if (program, subcommand) == ("git", "config") {
            match git::config(words.get(1..).unwrap_or_default()) {
                Effect::Unknown => self.unknown("git: a setting that can name a program to run"),
                known => effect = known,
            }
        }
        if options::may_be_hidden(program, subcommand, arguments) {
            self.unknown(format!("{program}: a word that may be an option which runs other programs"));
        }
        if program == "command" || tools::tells_version(program, arguments) {
            // It looks a name up, or it would be a wrapper.
            effect = Effect::ReadOnly;
        }
        let sets_the_clock = |word: &Word| word.text.starts_with(|letter: char| letter.is_ascii_digit());
        if program == "date" && arguments.iter().any(sets_the_clock) {
            effect = effect.max(Effect::Other);
        }
        if let Some(problem) = scripts::problem(program, arguments) {
            self.unknown(format!("{program}: {problem}"));
        }
        if effect == Effect::ReadOnly && !written::paths(program, subcommand, arguments).is_empty() {
            effect = Effect::Write;
        }
        if effect == Effect::ReadOnly && !self.reads_inside(program, arguments) {
            effect = Effect::Other;
        }
        self.hosts(arguments);
        self.writes(program, subcommand, arguments);
        let name = [&[program.to_owned()][..], &leading(&words)].concat();
        self.add(&limited(&name), effect, None);
        if program == "find" {
            self.run_by_find(arguments, depth);
        }
    }

    /// What `find -exec` runs is asked about as unknown; a rule against it sees it all the same.
    fn run_by_find(&mut self, arguments: &[Word], depth: usize) {
        let runs = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        for part in arguments.split(runs).skip(1) {
            let mut command: Vec<Word> =
                part.iter().take_while(|word| !matches!(word.text.as_str(), ";" | "+")).cloned().collect();
            for word in command.iter_mut().filter(|word| word.text.contains("{}")) {
                word.is_literal = false;
            }
            self.command(&command, false, depth + 1);
        }
    }

    fn enter(&mut self, arguments: &[Word], plain: bool) {
        match arguments {
            [folder] if folder.exact().is_some_and(|text| !text.starts_with('-')) => {
                self.places.enter(&folder.text, plain);
            }
            _ => self.places.lose(),
        }
    }

    fn reads_inside(&self, program: &str, arguments: &[Word]) -> bool {
        let only_prints =
            matches!(program, "basename" | "dirname" | "echo" | "printf" | "expr" | "sleep" | "seq");
        only_prints
            || self.places.are_inside()
                && arguments.iter().all(|word| self.is_read_inside(path_in(&word.text), word))
    }

    fn is_read_inside(&self, path: &str, word: &Word) -> bool {
        word.is_literal && self.places.outside(path, word.is_home).is_none()
    }

    /// Adds what a program is known to write outside, or to where it could be run.
    fn writes(&mut self, program: &str, subcommand: &str, arguments: &[Word]) {
        for (path, word) in written::paths(program, subcommand, arguments) {
            if !word.is_literal {
                continue;
            }
            if let Some(path) = self.places.outside(path, word.is_home) {
                self.writes_outside(path);
            } else if written::brings(program) {
                self.written_in_git(path);
            }
        }
    }

    /// What git keeps says which programs it runs.
    fn written_in_git(&mut self, path: &str) {
        if self.places.is_in_git(path) {
            self.unknown(format!("a file of git itself, which can change what runs: {path}"));
        }
    }

    fn hosts(&mut self, arguments: &[Word]) {
        for word in arguments {
            let Some((scheme, rest)) = word.text.split_once("://") else { continue };
            let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            let is_plain =
                |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_graphic());
            if scheme != "file" && is_plain(host) && !self.understood.hosts.iter().any(|known| known == host)
            {
                self.understood.hosts.push(host.to_owned());
            }
        }
    }

    /// A path as rules name it: below the workspace from `./` on, else as it was written.
    fn place_of(&self, word: &Word) -> String {
        let inside = if word.is_home { None } else { self.places.relative(&word.text) };
        inside.map_or_else(|| word.text.clone(), |path| format!("./{}", path.display()))
    }

    fn unknown(&mut self, why: impl Into<String>) {
        self.push(Found::unknown(why));
    }

    fn add(&mut self, name: &str, effect: Effect, target: Option<String>) {
        // No program can be called like an operation that means something else.
        let is_ours = matches!(name.split(' ').next(), Some("write" | UNKNOWN)) && target.is_none();
        if is_ours {
            return self.unknown(format!("a program that is called like an operation: {name}"));
        }
        self.push(Found { name: name.to_owned(), effect, target });
    }

    fn push(&mut self, found: Found) {
        let all = &mut self.understood.found;
        if all.len() == OPERATIONS {
            all.push(Found::unknown("more commands than are looked at"));
        } else if all.len() < OPERATIONS && !all.contains(&found) {
            all.push(found);
        }
    }
}

fn is_known(program: &str) -> bool {
    effects::of_program(program) != Effect::Other
        || tools::tool(program).is_some()
        || effects::is_interpreter(program)
        || wrappers::unwrap(program, &[Word::literal("x")]).is_some()
        || wrappers::unwrap(program, &[]).is_some()
}

/// The first words of a command that are known and can stand in a rule.
fn leading(words: &[Word]) -> Vec<String> {
    words.iter().map_while(Word::exact).take_while(|text| is_sayable(text)).map(str::to_owned).collect()
}

/// Whether a text can be a word of a rule, and be shown as one: no blank, nothing that a shell reads as more than a word.
fn is_sayable(text: &str) -> bool {
    let is_plain = |letter: char| {
        !letter.is_whitespace()
            && !letter.is_control()
            && !"|&;<>()$`\"'\\".contains(letter)
            && is_visible(letter)
    };
    (1..=WORD_CHARACTERS).contains(&text.chars().count()) && text.chars().all(is_plain)
}

/// Not one of those that are not seen, or turn the direction of what is.
fn is_visible(letter: char) -> bool {
    !matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn limited(words: &[String]) -> String {
    words.iter().take(WORDS).cloned().collect::<Vec<_>>().join(" ")
}
