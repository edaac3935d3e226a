//! What is told: figure, bar, and how they stand to each other.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    missing: Vec<Missing>,
}

#[derive(Debug, Serialize)]
struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    /// At most this; none for what is only there to compare with.
    bar: Option<f64>,
}

/// What could not be compared, and how it can.
#[derive(Debug, Serialize)]
struct Missing {
    what: String,
    not_installed: String,
}

impl Table {
    /// A figure with the bar it must not pass.
    pub(crate) fn at_most(&mut self, what: impl Into<String>, figure: f64, unit: &'static str, bar: f64) {
        self.rows.push(Row { what: what.into(), figure, unit, bar: Some(bar) });
    }

    /// A figure to compare with: a floor or a peer.
    pub(crate) fn reference(&mut self, what: impl Into<String>, figure: f64, unit: &'static str) {
        self.rows.push(Row { what: what.into(), figure, unit, bar: None });
    }

    /// A figure that needs a program which is not installed.
    pub(crate) fn missing(&mut self, what: String, install: String) {
        self.missing.push(Missing { what, not_installed: install });
    }

    /// One JSON object a line.
    pub(crate) fn json(&self) -> Result<String> {
        let mut text = String::new();
        for row in &self.rows {
            writeln!(text, "{}", serde_json::to_string(row)?)?;
        }
        for missing in &self.missing {
            writeln!(text, "{}", serde_json::to_string(missing)?)?;
        }
        Ok(text)
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("{:<58} {:>14} {:>14} {:>7}\n", "what", "figure", "bar", "ratio");
        for Row { what, figure, unit, bar } in &self.rows {
            let (bar, ratio, verdict) = match bar {
                Some(bar) => (
                    format!("{bar:.2} {unit}"),
                    if *bar > 0.0 { format!("{:.2}", figure / bar) } else { "-".to_owned() },
                    if figure > bar { "  missed" } else { "" },
                ),
                None => ("-".to_owned(), "-".to_owned(), ""),
            };
            let figure = format!("{figure:.2} {unit}");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{what:<58} {figure:>14} {bar:>14} {ratio:>7}{verdict}");
        }
        for Missing { what, not_installed } in &self.missing {
            let _ = writeln!(text, "{what:<58} not installed: {not_installed}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_figure_bar_and_ratio() {
        let mut table = Table::default();
        table.at_most("start", 6.0, "ms", 4.0);
        table.at_most("step", 0.25, "ms", 0.5);
        table.reference("floor", 1.0, "ms");
        table.missing("find / fd".to_owned(), "cargo install fd-find --locked".to_owned());
        let rows: Vec<_> =
            table.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            rows,
            [
                "what figure bar ratio",
                "start 6.00 ms 4.00 ms 1.50 missed",
                "step 0.25 ms 0.50 ms 0.50",
                "floor 1.00 ms - -",
                "find / fd not installed: cargo install fd-find --locked",
            ]
        );
    }
}
