//! What can be wrong with settings: the place, what is wrong there, what to do.

use std::fmt;
use std::path::PathBuf;

use crate::Origin;
use crate::project::Refusal;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("{} cannot be read: {reason}", path.display())]
    Read { path: PathBuf, reason: String },
    #[error("{} is not UTF-8 but {encoding}; save it as UTF-8", path.display())]
    Encoding { path: PathBuf, encoding: String },
    #[error("{place}: {problem}")]
    File { place: Place, problem: String },
    #[error("there are several settings files: {}. Keep one of them", list(paths))]
    SeveralFiles { paths: Vec<PathBuf> },
    #[error("environment variable `{name}`: {problem}")]
    Variable { name: String, problem: String },
    #[error("`{name}`: {problem}")]
    Flag { name: String, problem: String },
    /// A value of the right type that makes no sense.
    #[error("{origin}: `{key}` {problem}")]
    Value { key: String, origin: Origin, problem: String },
    #[error("{}", refused(path, refusals, user_file.as_ref()))]
    Project { path: PathBuf, refusals: Vec<Refusal>, user_file: Option<PathBuf> },
    #[error("`{key}` refers to {target}, which {problem}")]
    Reference { key: String, target: String, problem: String },
    #[error("there is no agent `{name}`; {hint}")]
    UnknownAgent { name: String, hint: String },
    #[error("no folder for {what}: set one of {variables}")]
    NoFolder { what: &'static str, variables: &'static str },
}

/// Where in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: PathBuf,
    /// Line and column, both from 1, where the format tells.
    pub position: Option<(usize, usize)>,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(formatter)?;
        match self.position {
            Some((line, column)) => write!(formatter, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn refused(path: &std::path::Path, refusals: &[Refusal], user_file: Option<&PathBuf>) -> String {
    let mut text = format!("{} came with its folder and may not set:", path.display());
    for refusal in refusals {
        text.push_str(&format!("\n  {refusal}"));
    }
    let folder = path.parent().unwrap_or(path).display();
    text.push_str("\nSet it in your own settings");
    if let Some(user_file) = user_file {
        text.push_str(&format!(" ({})", user_file.display()));
    }
    text.push_str(&format!(", or say there that you trust the folder: trusted_folders = [\"{folder}\"]"));
    text
}
