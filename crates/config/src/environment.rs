//! The environment as data, so that tests and embedders can give their own; and what it says about folders.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::ConfigError;

/// Variables that begin like settings and are none.
pub(crate) const RESERVED: &[&str] = &["FOEHN_STATE_DIR", "FOEHN_CONFIG_DIR", "FOEHN_REAL_MODEL_URL"];

const FOLDER: &str = "foehn";

/// A copy of environment variables. An empty one counts as not set.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

/// The value of a variable is not valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8;

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    pub fn get(&self, name: &str) -> Result<Option<&str>, NotUtf8> {
        match self.get_os(name) {
            None => Ok(None),
            Some(value) => value.to_str().map(Some).ok_or(NotUtf8),
        }
    }

    /// Sessions, trust, caches: `$FOEHN_STATE_DIR`, else `foehn` in `$XDG_STATE_HOME`, else in `~/.local/state`.
    pub fn state_dir(&self) -> Result<PathBuf, ConfigError> {
        self.folder("FOEHN_STATE_DIR", "XDG_STATE_HOME", &[".local", "state"]).ok_or(ConfigError::NoFolder {
            what: "the state",
            variables: "FOEHN_STATE_DIR, XDG_STATE_HOME, HOME",
        })
    }

    /// The user's settings: `$FOEHN_CONFIG_DIR`, else `foehn` in `$XDG_CONFIG_HOME`, else in `~/.config`.
    pub fn config_dir(&self) -> Result<PathBuf, ConfigError> {
        self.folder("FOEHN_CONFIG_DIR", "XDG_CONFIG_HOME", &[".config"]).ok_or(ConfigError::NoFolder {
            what: "the settings",
            variables: "FOEHN_CONFIG_DIR, XDG_CONFIG_HOME, HOME",
        })
    }

    pub fn home(&self) -> Option<&Path> {
        self.get_os("HOME").or_else(|| self.get_os("USERPROFILE")).map(Path::new)
    }

    /// `path` with a leading `~/` replaced.
    pub(crate) fn expand_home(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.home()) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// All that begin with `prefix` and are not empty.
    pub(crate) fn with_prefix<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, Result<&'a str, NotUtf8>)> {
        self.variables
            .range(OsString::from(prefix)..)
            .map_while(|(name, value)| name.to_str().map(|name| (name, value)))
            .take_while(move |(name, _)| name.starts_with(prefix))
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name, value.to_str().ok_or(NotUtf8)))
    }

    fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    fn folder(&self, own: &str, xdg: &str, below_home: &[&str]) -> Option<PathBuf> {
        if let Some(own) = self.get_os(own) {
            return Some(PathBuf::from(own));
        }
        // The XDG rules ask to ignore relative paths.
        let xdg = self.get_os(xdg).map(PathBuf::from).filter(|path| path.is_absolute());
        let base =
            xdg.or_else(|| self.home().map(|home| home.join(below_home.iter().collect::<PathBuf>())))?;
        Some(base.join(FOLDER))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables }
    }
}

/// Names only: values may be secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_follow_the_variables() {
        let home = ("HOME", "/home/me");
        let rows = [
            (vec![home], "/home/me/.local/state/foehn", "/home/me/.config/foehn"),
            (vec![home, ("XDG_STATE_HOME", "/s"), ("XDG_CONFIG_HOME", "/c")], "/s/foehn", "/c/foehn"),
            (vec![home, ("XDG_STATE_HOME", "s")], "/home/me/.local/state/foehn", "/home/me/.config/foehn"),
            (
                vec![home, ("FOEHN_STATE_DIR", "/own"), ("FOEHN_CONFIG_DIR", "")],
                "/own",
                "/home/me/.config/foehn",
            ),
            (vec![("FOEHN_STATE_DIR", "/own"), ("FOEHN_CONFIG_DIR", "/set")], "/own", "/set"),
        ];
        for (variables, state, config) in rows {
            let environment: Environment = variables.iter().copied().collect();
            assert_eq!(environment.state_dir(), Ok(PathBuf::from(state)), "{variables:?}");
            assert_eq!(environment.config_dir(), Ok(PathBuf::from(config)), "{variables:?}");
        }
        assert_eq!(
            Environment::default().state_dir().unwrap_err().to_string(),
            "no folder for the state: set one of FOEHN_STATE_DIR, XDG_STATE_HOME, HOME"
        );
    }
}
