//! Log lines of plugins as events of the host's own `tracing`, with target `plugin.NAME`, so that a filter can name one
//! plugin.
//!
//! A target belongs to a callsite and a callsite is static. The names of plugins are only known at run time, so each
//! plugin gets five callsites (one for each level) the first time it is seen; they live as long as the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use foehn_plugin_sdk::wire::LogLevel;
use tracing::callsite::{Callsite, Identifier, register};
use tracing::field::{FieldSet, Value};
use tracing::level_filters::LevelFilter;
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, dispatcher};

const FIELDS: &[&str] = &["message", "source", "fields", "tool", "agent", "session", "call"];

/// One line. An empty field is left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line<'a> {
    pub message: &'a str,
    /// Where in the plugin it comes from.
    pub source: &'a str,
    /// Further fields, as JSON.
    pub fields: &'a str,
    pub tool: &'a str,
    pub agent: &'a str,
    pub session: &'a str,
    pub call: &'a str,
}

#[derive(Debug)]
pub(crate) struct PluginLog {
    sites: [&'static Site; 5],
}

const LEVELS: [(LogLevel, Level); 5] = [
    (LogLevel::Error, Level::ERROR),
    (LogLevel::Warn, Level::WARN),
    (LogLevel::Info, Level::INFO),
    (LogLevel::Debug, Level::DEBUG),
    (LogLevel::Trace, Level::TRACE),
];

impl PluginLog {
    pub(crate) fn of(plugin: &str) -> &'static Self {
        static LOGS: Mutex<BTreeMap<String, &'static PluginLog>> = Mutex::new(BTreeMap::new());
        let mut logs = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = logs.get(plugin) {
            return log;
        }
        let target: &'static str = Box::leak(format!("plugin.{plugin}").into_boxed_str());
        let log: &'static Self =
            Box::leak(Box::new(Self { sites: LEVELS.map(|(_, level)| Site::leak(target, level)) }));
        logs.insert(plugin.to_owned(), log);
        log
    }

    /// The most talkative level that somebody listens to, so that a plugin need not send the others.
    pub(crate) fn level(&self) -> LogLevel {
        let most = LevelFilter::current();
        LEVELS
            .iter()
            .zip(self.sites)
            .rev()
            .filter(|((_, level), _)| *level <= most)
            .find(|(_, site)| site.enabled())
            .map_or(LogLevel::Error, |((level, _), _)| *level)
    }

    pub(crate) fn write(&self, level: LogLevel, line: Line<'_>) {
        let site = LEVELS.iter().zip(self.sites).find(|((known, _), _)| *known == level);
        if let Some((_, site)) = site.filter(|(_, site)| site.enabled()) {
            site.write(line);
        }
    }
}

#[derive(Debug)]
struct Site {
    target: &'static str,
    level: Level,
    metadata: OnceLock<Metadata<'static>>,
}

impl Site {
    fn leak(target: &'static str, level: Level) -> &'static Self {
        let site: &'static Self = Box::leak(Box::new(Self { target, level, metadata: OnceLock::new() }));
        site.fill();
        register(site);
        site
    }

    /// The metadata names its own callsite, so it can only be made once that has its place.
    fn fill(&'static self) -> &'static Metadata<'static> {
        self.metadata.get_or_init(|| {
            let fields = FieldSet::new(FIELDS, Identifier(self));
            Metadata::new("plugin log", self.target, self.level, None, None, None, fields, Kind::EVENT)
        })
    }

    fn enabled(&'static self) -> bool {
        self.level <= LevelFilter::current()
            && dispatcher::get_default(|dispatch| dispatch.enabled(self.fill()))
    }

    fn write(&'static self, line: Line<'_>) {
        let metadata = self.fill();
        let texts = [line.message, line.source, line.fields, line.tool, line.agent, line.session, line.call];
        let values = texts.each_ref().map(|text| (!text.is_empty()).then_some(text as &dyn Value));
        Event::dispatch(metadata, &metadata.fields().value_set_all(&values));
    }
}

impl Callsite for Site {
    /// Not kept: whether a line is wanted is asked each time, plugins' lines are few.
    fn set_interest(&self, _: Interest) {}

    fn metadata(&self) -> &Metadata<'_> {
        // Filled before the site is registered, and never taken back.
        self.metadata.get().unwrap_or_else(|| unfilled())
    }
}

/// Stands in for a callsite that nobody can reach yet.
fn unfilled() -> &'static Metadata<'static> {
    struct Nowhere;
    impl Callsite for Nowhere {
        fn set_interest(&self, _: Interest) {}
        fn metadata(&self) -> &Metadata<'_> {
            &METADATA
        }
    }
    static NOWHERE: Nowhere = Nowhere;
    static METADATA: Metadata<'static> = Metadata::new(
        "unused",
        "plugin",
        Level::TRACE,
        None,
        None,
        None,
        FieldSet::new(&[], Identifier(&NOWHERE)),
        Kind::EVENT,
    );
    &METADATA
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::subscriber::{Subscriber, with_default};

    use super::*;

    /// Keeps the lines of one target that are at least informative.
    struct Keep(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Keep {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "plugin.loud" && *metadata.level() <= Level::INFO
        }
        fn event(&self, event: &Event<'_>) {
            let mut line = format!("{} {}", event.metadata().level(), event.metadata().target());
            event.record(&mut Write(&mut line));
            self.0.lock().unwrap().push(line);
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    struct Write<'a>(&'a mut String);

    impl Visit for Write<'_> {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0.push_str(&format!(" {field}={value:?}"));
        }
    }

    #[test]
    fn a_filter_can_name_one_plugin() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (loud, quiet) = (PluginLog::of("loud"), PluginLog::of("quiet"));
        let line = Line { message: "text", call: "c1", agent: "default", ..Line::default() };
        let levels = with_default(Keep(Arc::clone(&lines)), || {
            for level in [LogLevel::Error, LogLevel::Info, LogLevel::Debug] {
                loud.write(level, line);
                quiet.write(level, line);
            }
            (loud.level(), quiet.level())
        });
        assert_eq!(levels, (LogLevel::Info, LogLevel::Error));
        let expected = "plugin.loud message=\"text\" agent=\"default\" call=\"c1\"";
        assert_eq!(*lines.lock().unwrap(), [format!("ERROR {expected}"), format!("INFO {expected}")]);
        assert!(std::ptr::eq(loud, PluginLog::of("loud")));
    }
}
