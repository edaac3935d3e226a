//! Whether an argument leads out of the workspace, whatever part of it a program takes for a path.

use std::path::{Component, Path, PathBuf};

/// What stands between the parts of one argument.
const SEPARATORS: [char; 5] = [';', ',', '=', ':', '|'];

/// The folder that arguments are relative to, and the folder that they must stay in.
#[derive(Debug)]
pub(super) struct Place {
    /// The working folder, relative to the workspace.
    pub(super) directory: PathBuf,
    /// The workspace, in each spelling it is known by.
    pub(super) roots: Vec<PathBuf>,
}

impl Place {
    /// Every part of an argument that could be taken for a path stays in the workspace. `real` follows the links of a path
    /// inside; its answer is `None` when they lead out.
    pub(super) fn holds(
        &self,
        argument: &str,
        real: &impl Fn(&Path) -> Option<PathBuf>,
    ) -> Result<(), String> {
        // The value of a one-letter option may follow without anything in between.
        let short = argument.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let attached = short.and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
        let parts = argument.split(SEPARATORS);
        let mut candidates = std::iter::once(argument).chain(attached).chain(parts).map(str::trim);
        match candidates.find(|candidate| self.follow(candidate, real).is_none()) {
            Some(candidate) if candidate.starts_with("//") => {
                Err(format!("`{candidate}` leads out of the workspace; addresses are not taken either"))
            }
            Some(candidate) => Err(format!("`{candidate}` leads out of the workspace")),
            None => Ok(()),
        }
    }

    fn follow(&self, text: &str, real: &impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
        if text == "~" || text.starts_with("~/") {
            return None;
        }
        let path = Path::new(text);
        let mut place = self.directory.clone();
        let relative = if path.is_absolute() {
            place.clear();
            self.roots.iter().find_map(|root| path.strip_prefix(root).ok())?
        } else {
            path
        };
        for component in relative.components() {
            match component {
                Component::Normal(name) => place.push(name),
                // The system goes up from where a link leads, not from where it stands.
                Component::ParentDir => {
                    place = real(&place)?;
                    if !place.pop() {
                        return None;
                    }
                }
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        real(&place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(argument: &str, expected: Option<&str>) {
        let place = Place { directory: "app".into(), roots: vec!["/ws".into()] };
        // `app/out` is a link that leads out, `app/up` one to the workspace itself.
        let real = |path: &Path| match path.strip_prefix("app/up") {
            Ok(below) => Some(below.to_owned()),
            Err(_) => (!path.starts_with("app/out")).then(|| path.to_owned()),
        };
        let expected = expected.map(|part| format!("`{part}` leads out of the workspace"));
        assert_eq!(place.holds(argument, &real).err(), expected, "{argument}");
    }

    #[test]
    fn any_part_may_be_a_path() {
        for inside in ["x", "../x", "/ws/x", "up/x", "a/../../x", "-o../x", "--out=../x", "a=b;c:d|e", "-ö"]
        {
            check(inside, None);
        }
        for (argument, part) in [
            ("../../x", "../../x"),
            ("/ws-evil/x", "/ws-evil/x"),
            ("/tmp/x", "/tmp/x"),
            ("out/x", "out/x"),
            ("up/../x", "up/../x"),
            ("-o/tmp/x", "/tmp/x"),
            ("-ö/tmp/x", "/tmp/x"),
            ("--out=/tmp/x", "/tmp/x"),
            ("name=a;path=/etc", "/etc"),
            ("--out=~/x", "~/x"),
        ] {
            check(argument, Some(part));
        }
    }
}
