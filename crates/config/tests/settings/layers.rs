//! Which layer wins, and what it tells about itself.

use std::path::Path;

use foehn_config::render::render;
use insta::assert_snapshot;

use crate::{PROJECT, Place, USER, user};

#[test]
fn without_anything_there_are_defaults() {
    let place = Place::new(&[]);
    let loaded = place.load().unwrap();
    let shown: Vec<String> =
        render(&loaded).unwrap().iter().map(|row| format!("{} = {}", row.key, row.value)).collect();
    assert_snapshot!(shown.join("\n"), @r#"
    api_key = -
    base_url = -
    coercion = "lenient"
    contract.max_characters = 8000
    contract.max_tokens = -
    equal_calls_stop = 5
    equal_calls_warn = 3
    log.file = -
    log.level = "warn"
    max_invalid_calls = 2
    max_output_tokens = -
    max_retries = 3
    max_tool_iterations = 30
    model = -
    offline_habits = []
    offline_script = -
    plugins.grace_seconds = 2
    plugins.idle_seconds = 60
    plugins.isolation = "worker"
    plugins.max_parallel = 4
    plugins.trust = "pinned"
    plugins_path = ".plugins"
    provider = "offline"
    sandbox.cpu_seconds = -
    sandbox.file_megabytes = -
    sandbox.memory_megabytes = 2048
    sandbox.open_files = -
    sandbox.processes = 2048
    sandbox.program_megabytes = -
    sandbox.read = []
    sandbox.require = false
    sandbox.write = []
    store.path = -
    streaming = true
    system_message_file = "foehn.md"
    temperature = -
    timeout_seconds = 120
    trusted_folders = []
    undo.shell = false
    working_directory = ""
    "#);
    assert_eq!(loaded.files, Vec::<std::path::PathBuf>::new());
    assert_eq!(loaded.store_path().unwrap(), place.path("home/.local/state/foehn/foehn.db"));
    assert_eq!(loaded.plugins_path(), place.path("project/.plugins"));
    assert_eq!(loaded.working_directory().into_os_string(), place.path("project").into_os_string());
}

#[test]
fn later_layers_win_and_tell() {
    let place = Place::new(&[
        (USER, "model = \"user\"\nmax_retries = 1\nstreaming = false\n[agents.helper.tools.scan]\nlimit = 1\nlong = true\n"),
        (PROJECT, "\nmodel = \"project\"\nmax_retries = 2\ntimeout_seconds = 10\n[plugins.file_rw]\nmax_parallel = 1\n"),
    ])
    .variable("FOEHN_MAX_RETRIES", "3")
    .variable("FOEHN_TIMEOUT_SECONDS", "20")
    .variable("FOEHN_PLUGINS__FILE_RW__ISOLATION", "in_process")
    .variable("FOEHN_AGENTS__CODE_REVIEW__ENABLED_TOOLS", "scan, read_file")
    .variable("FOEHN_AGENTS__HELPER__TOOLS__SCAN__LIMIT", "5")
    .variable("FOEHN_AGENTS__HELPER__TOOLS__SCAN__DENY", "all")
    .variable("FOEHN_SANDBOX__REQUIRE", "true")
    .variable("FOEHN_TEMPERATURE", "0.5")
    .variable("FOEHN_PROVIDER", "")
    .variable("FOEHN_STATE_DIR", "/state")
    .flag("--timeout", "timeout_seconds", "30")
    .flag("--timeout", "timeout_seconds", "40");
    assert_snapshot!(place.check(), @r#"
    agents.code-review.enabled_tools = ["scan", "read_file"]  (environment variable FOEHN_AGENTS__CODE_REVIEW__ENABLED_TOOLS)
    agents.helper.tools.scan.deny = ["all"]  (environment variable FOEHN_AGENTS__HELPER__TOOLS__SCAN__DENY)
    agents.helper.tools.scan.limit = 5  (environment variable FOEHN_AGENTS__HELPER__TOOLS__SCAN__LIMIT)
    agents.helper.tools.scan.long = true  (/home/.config/foehn/foehn.toml:6)
    max_retries = 3  (environment variable FOEHN_MAX_RETRIES)
    model = "project"  (/project/foehn.toml:2)
    plugins.file-rw.isolation = "in_process"  (environment variable FOEHN_PLUGINS__FILE_RW__ISOLATION)
    plugins.file-rw.max_parallel = 1  (/project/foehn.toml:6)
    sandbox.require = true  (environment variable FOEHN_SANDBOX__REQUIRE)
    streaming = false  (/home/.config/foehn/foehn.toml:3)
    temperature = 0.5  (environment variable FOEHN_TEMPERATURE)
    timeout_seconds = 40  (--timeout)
    "#);
    let loaded = place.load().unwrap();
    assert_eq!(loaded.settings.plugins.of("file_rw"), loaded.settings.plugins.of("file-rw"));
    assert_eq!(loaded.settings.plugins.of("file-rw").max_parallel, 1);
    assert_eq!(loaded.files, [place.path(USER), place.path(PROJECT)]);
}

#[test]
fn a_file_that_the_user_names_is_the_users() {
    let mut place = Place::new(&[(PROJECT, "broken"), ("project/mine.toml", "[plugins]\ntrust = 'any'")]);
    place.file = Some("mine.toml");
    assert_snapshot!(place.check(), @r#"plugins.trust = "any"  (/project/mine.toml:2)"#);
    place.file = Some("missing.toml");
    assert_snapshot!(place.check(), @"/project/missing.toml cannot be read: there is no such file");
}

#[test]
fn an_upper_reference_replaces_a_lower_one() {
    let files = [(USER, "model = { file = 'model' }"), (PROJECT, "model = { env = 'MODEL' }")];
    let place = Place::new(&files).variable("MODEL", "devstral");
    let trusted = place.root.path().to_string_lossy().into_owned();
    let place = place.variable("FOEHN_TRUSTED_FOLDERS", &trusted);
    assert_snapshot!(place.check(), @r#"
    model = { env = "MODEL" }  (/project/foehn.toml:1)
    trusted_folders = ["/"]  (environment variable FOEHN_TRUSTED_FOLDERS)
    "#);
    let loaded = place.load().unwrap();
    assert_eq!(loaded.model(&loaded.agent("default").unwrap()), Ok(Some("devstral".to_owned())));
}

/// Each commented setting of the sample is valid, and those that have a default show it.
#[test]
fn the_sample_is_true() {
    let active = |line: &str| {
        let line = line.strip_prefix("# ").unwrap_or(line);
        let is_key = line
            .split_once(" = ")
            .is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        (is_key || line.starts_with('[')).then(|| line.to_owned())
    };
    let content: Vec<String> = foehn_config::SAMPLE.lines().filter_map(active).collect();
    assert_snapshot!(user(&content.join("\n")).replace("/home/.config/foehn/", ""), @r#"
    agents.default.enabled_tools = ["scan", "read_file"]  (foehn.toml:55)
    agents.default.model = "devstral-latest"  (foehn.toml:53)
    agents.default.provider = "mistral"  (foehn.toml:52)
    agents.default.system_message = "Be brief."  (foehn.toml:54)
    agents.default.tools.delete_file.deny = ["*"]  (foehn.toml:64)
    agents.default.tools.dotnet.network = "on"  (foehn.toml:62)
    agents.default.tools.run_shell.allow = ["git status", "cargo"]  (foehn.toml:57)
    agents.default.tools.run_shell.coercion = "strict"  (foehn.toml:59)
    agents.default.tools.run_shell.deny = ["cargo publish"]  (foehn.toml:58)
    agents.default.tools.run_shell.network = "on"  (foehn.toml:60)
    api_key = { env = "MISTRAL_API_KEY" }  (foehn.toml:4)
    base_url = "http://127.0.0.1:8080/v1"  (foehn.toml:3)
    coercion = "lenient"  (foehn.toml:14)
    contract.max_characters = 8000  (foehn.toml:49)
    contract.max_tokens = 2000  (foehn.toml:50)
    equal_calls_stop = 5  (foehn.toml:13)
    equal_calls_warn = 3  (foehn.toml:12)
    log.file = "foehn.log"  (foehn.toml:43)
    log.level = "warn"  (foehn.toml:42)
    max_invalid_calls = 2  (foehn.toml:11)
    max_output_tokens = 8192  (foehn.toml:19)
    max_retries = 3  (foehn.toml:16)
    max_tool_iterations = 30  (foehn.toml:10)
    model = "devstral-latest"  (foehn.toml:2)
    offline_habits = ["numbers_as_strings"]  (foehn.toml:6)
    offline_script = "script.toml"  (foehn.toml:5)
    plugins.grace_seconds = 2  (foehn.toml:25)
    plugins.idle_seconds = 60  (foehn.toml:24)
    plugins.isolation = "worker"  (foehn.toml:23)
    plugins.max_parallel = 4  (foehn.toml:26)
    plugins.shell.disabled = false  (foehn.toml:29)
    plugins.shell.max_parallel = 1  (foehn.toml:30)
    plugins.shell.required = true  (foehn.toml:28)
    plugins.trust = "pinned"  (foehn.toml:22)
    plugins_path = ".plugins"  (foehn.toml:7)
    provider = "offline"  (foehn.toml:1)
    sandbox.cpu_seconds = 60  (foehn.toml:40)
    sandbox.file_megabytes = 100  (foehn.toml:37)
    sandbox.memory_megabytes = 2048  (foehn.toml:35)
    sandbox.open_files = 256  (foehn.toml:38)
    sandbox.processes = 2048  (foehn.toml:39)
    sandbox.program_megabytes = 8192  (foehn.toml:36)
    sandbox.read = ["/data"]  (foehn.toml:33)
    sandbox.require = false  (foehn.toml:32)
    sandbox.write = ["/home/.cargo/registry"]  (foehn.toml:34)
    store.path = "foehn.db"  (foehn.toml:47)
    streaming = true  (foehn.toml:17)
    system_message_file = "foehn.md"  (foehn.toml:9)
    temperature = 0.2  (foehn.toml:18)
    timeout_seconds = 120  (foehn.toml:15)
    trusted_folders = ["/home/work"]  (foehn.toml:20)
    undo.shell = false  (foehn.toml:45)
    working_directory = ""  (foehn.toml:8)
    "#);
    assert_eq!(user(foehn_config::SAMPLE), "");
    assert!(Path::new("src/foehn.sample.toml").exists());
}
