//! How much memory the host and its workers hold, seen from outside.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

/// Bytes of all processes below this one. Pages that several share count once where the kernel tells the share of each
/// process, and in each where it does not.
pub(crate) fn of_descendants() -> Result<u64> {
    Ok(descendants()?.into_iter().map(of_process).sum())
}

/// The most that any one of these processes ever held, shared pages included.
pub(crate) fn highest_of_descendants() -> Result<u64> {
    let highest = |process| field(&file(process, "status"), "VmHWM:");
    Ok(descendants()?.into_iter().filter_map(highest).max().unwrap_or(0))
}

fn descendants() -> Result<Vec<u32>> {
    let parents = parents()?;
    let own = std::process::id();
    let descends = |mut process: u32| {
        while let Some(&parent) = parents.get(&process) {
            if parent == own {
                return true;
            }
            process = parent;
        }
        false
    };
    Ok(parents.keys().copied().filter(|process| descends(*process)).collect())
}

/// A process that ended meanwhile holds nothing.
fn of_process(process: u32) -> u64 {
    field(&file(process, "smaps_rollup"), "Pss:")
        .or_else(|| field(&file(process, "status"), "VmRSS:"))
        .unwrap_or(0)
}

fn file(process: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default()
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// Each process with its parent.
fn parents() -> Result<BTreeMap<u32, u32>> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").context("memory is read from /proc, which is not here")?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // The name in parentheses may hold anything, so fields are counted from its end.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent =
            stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(1)?.parse().ok());
        parents.extend(parent.map(|parent| (process, parent)));
    }
    Ok(parents)
}
