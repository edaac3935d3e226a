//! Rows of files, variables and flags, and what comes of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod layers;
mod mistakes;
mod project;
mod secrets;

use foehn_config::render::render;
use foehn_config::{Flag, Loaded, Origin, Request, load};

/// A home with the user's settings and a project, both from `(path, content)`.
struct Place {
    root: tempfile::TempDir,
    environment: Vec<(String, String)>,
    flags: Vec<Flag>,
    file: Option<&'static str>,
}

const USER: &str = "home/.config/foehn/foehn.toml";
const PROJECT: &str = "project/foehn.toml";

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = Self { root, environment: Vec::new(), flags: Vec::new(), file: None };
        for (path, content) in files {
            place.write(path, content.as_bytes());
        }
        let home = place.path("home").to_string_lossy().into_owned();
        place.variable("HOME", &home)
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().join(path)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flag(mut self, name: &str, key: &str, value: &str) -> Self {
        self.flags.push(Flag { name: name.to_owned(), key: key.to_owned(), value: value.to_owned() });
        self
    }

    fn load(&self) -> Result<Loaded, String> {
        let request = Request {
            folder: self.path("project"),
            environment: self.environment.iter().cloned().collect(),
            file: self.file.map(Into::into),
            flags: self.flags.clone(),
        };
        load(request).map_err(|error| self.short(&error.to_string()))
    }

    /// What differs from the defaults, or the error.
    fn check(&self) -> String {
        match self.load() {
            Err(error) => error,
            Ok(loaded) => render(&loaded)
                .unwrap()
                .into_iter()
                .filter(|row| row.origin != Origin::Default)
                .map(|row| self.short(&format!("{} = {}  ({})", row.key, row.value, row.origin)))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }

    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.path().display()), "/")
            .replace(&*self.root.path().to_string_lossy(), "/")
    }
}

fn user(content: &str) -> String {
    Place::new(&[(USER, content)]).check()
}

fn project(content: &str) -> String {
    Place::new(&[(PROJECT, content)]).check()
}
