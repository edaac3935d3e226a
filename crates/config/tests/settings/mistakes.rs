//! What is wrong is named with its place.

use insta::assert_snapshot;

use crate::{PROJECT, Place, USER, user};

#[test]
fn mistakes_name_file_line_column_and_the_nearest_key() {
    let rows = [
        "provider = \"offline\"\nmodle = \"x\"\n",
        "[agents.a]\nmax_tool_iteration = 3\n",
        "max_retries = \"x\"\n",
        "model = \"unclosed\nprovider = \"offline\"\n",
        "streaming = true\nstreaming = false\n",
        "[log]\n[log]\n",
        "[plugins]\ntrsut = \"any\"\n",
        "[plugins]\ntrust = \"pined\"\n",
        "[plugins.scan]\nidle = 3\n",
        "[sandbox]\nzzz = 1\n",
        "[agents.Alpha_B]\nmodel = \"x\"\n",
        "max_retries = -1\n",
        "api_key = 123456\n",
        "model = { evn = \"X\" }\n",
        "model = { env = \"X\", file = \"y\" }\n",
        "= 3",
    ];
    let errors: Vec<String> = rows.iter().map(|row| user(row)).collect();
    assert_snapshot!(errors.join("\n"), @r#"
    /home/.config/foehn/foehn.toml:2:1: unknown key `modle`; did you mean `model`?
    /home/.config/foehn/foehn.toml:2:1: unknown key `max_tool_iteration`; did you mean `max_tool_iterations`?
    /home/.config/foehn/foehn.toml:1:15: invalid type: string "x", expected a whole number
    /home/.config/foehn/foehn.toml:1:18: invalid basic string, expected `"`
    /home/.config/foehn/foehn.toml:2:1: duplicate key
    /home/.config/foehn/foehn.toml:2:2: duplicate key
    /home/.config/foehn/foehn.toml:2:9: unknown key `trsut`; did you mean `trust`?
    /home/.config/foehn/foehn.toml:2:9: unknown value `pined`; did you mean `pinned`?
    /home/.config/foehn/foehn.toml:2:1: unknown key `idle`; did you mean `idle_seconds`?
    /home/.config/foehn/foehn.toml:2:1: unknown key `zzz`; known here: `require`, `read`, `write`, `memory_megabytes`, `program_megabytes`, `file_megabytes`, `open_files`, `processes`, `cpu_seconds`
    /home/.config/foehn/foehn.toml:1:9: `Alpha_B` is no name for an agent: it takes a lower-case letter, then lower-case letters, digits and `-`
    /home/.config/foehn/foehn.toml:1:15: invalid value: integer `-1`, expected a whole number
    /home/.config/foehn/foehn.toml:1:11: invalid type: number, expected a string, { env = "NAME" } or { file = "path" }
    /home/.config/foehn/foehn.toml:1:9: unknown key `evn`; known here: `env`, `file`
    /home/.config/foehn/foehn.toml:1:9: a reference is either { env = .. } or { file = .. }, not both
    /home/.config/foehn/foehn.toml:1:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    "#);
}

#[test]
fn json_and_yaml_are_read_as_strictly() {
    let rows = [
        ("foehn.json", "{\"model\": \"x\", \"log\": {\"level\": \"info\"}, \"max_retries\": null}"),
        ("foehn.json", "{\n  \"modle\": \"x\"}"),
        ("foehn.json", "{\"model\": \"x\",\n  \"model\": \"y\"}"),
        ("foehn.json", "{\"agents\": {\"a\": {\"tools\": {\"t\": {\"x\": 1, \"x\": 2}}}}}"),
        ("foehn.json", "{\"model\": "),
        ("foehn.json", "[]"),
        (
            "foehn.yaml",
            "model: x\nlog:\n  level: info\nagents:\n  a:\n    system_message: |\n      * one & two\n",
        ),
        ("foehn.yml", "log:\n  levle: info\n"),
        ("foehn.yaml", "model: x\nmodel: y\n"),
        ("foehn.yaml", "a: &a [1]\nb: [*a, *a]\n"),
        ("foehn.yaml", "# nothing\n"),
        ("foehn.yaml", "log: [\n"),
        ("foehn.json", ""),
    ];
    let results: Vec<String> = rows
        .iter()
        .map(|(name, content)| Place::new(&[(&format!("project/{name}"), content)]).check())
        .collect();
    assert_snapshot!(results.join("\n--\n"), @r#"
    /project/foehn.json:1:60: invalid type: null, expected a whole number
    --
    /project/foehn.json:2:9: unknown key `modle`; did you mean `model`?
    --
    /project/foehn.json:2:9: duplicate key `model`
    --
    /project/foehn.json:1:45: duplicate key `x`
    --
    /project/foehn.json:1:10: EOF while parsing a value
    --
    /project/foehn.json: invalid type: sequence, expected a table
    --
    agents.a.system_message = "* one & two\n"  (/project/foehn.yaml)
    log.level = "info"  (/project/foehn.yaml)
    model = "x"  (/project/foehn.yaml)
    --
    /project/foehn.yml: `log`: unknown key `levle`; did you mean `level`?
    --
    /project/foehn.yaml: String("model"): duplicated key in mapping at byte 16 line 2 column 8
    --
    /project/foehn.yaml: the alias `*a` is not read: write the value out
    --

    --
    /project/foehn.yaml: while parsing a node, did not find expected node content at byte 7 line 2 column 1
    --
    "#);
}

#[test]
fn an_encoding_is_named_and_a_mark_is_ignored() {
    let utf16 = |mark: &[u8], little: bool| {
        let units = "model = \"x\"".encode_utf16();
        let bytes = units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() });
        mark.iter().copied().chain(bytes).collect::<Vec<u8>>()
    };
    let rows: [Vec<u8>; 7] = [
        b"\xef\xbb\xbfmodel = \"x\"\r\n[log]\r\nlevel = \"info\"\r\n".to_vec(),
        utf16(b"\xff\xfe", true),
        utf16(b"\xfe\xff", false),
        utf16(b"", true),
        utf16(b"", false),
        b"model = \"x\"\n# \xe4\n".to_vec(),
        b"\xef\xbb\xbf \r\n".to_vec(),
    ];
    let results: Vec<String> = rows
        .iter()
        .map(|bytes| {
            let place = Place::new(&[]);
            place.write(PROJECT, bytes);
            place.check()
        })
        .collect();
    assert_snapshot!(results.join("\n--\n"), @r#"
    log.level = "info"  (/project/foehn.toml:3)
    model = "x"  (/project/foehn.toml:1)
    --
    /project/foehn.toml is not UTF-8 but UTF-16 (little endian); save it as UTF-8
    --
    /project/foehn.toml is not UTF-8 but UTF-16 (big endian); save it as UTF-8
    --
    /project/foehn.toml is not UTF-8 but UTF-16 (little endian); save it as UTF-8
    --
    /project/foehn.toml is not UTF-8 but UTF-16 (big endian); save it as UTF-8
    --
    /project/foehn.toml is not UTF-8 but another encoding (line 2); save it as UTF-8
    --
    "#);
}

#[test]
fn a_folder_has_one_settings_file() {
    let place = Place::new(&[(PROJECT, ""), ("project/foehn.yaml", "")]);
    assert_snapshot!(place.check(), @"there are several settings files: /project/foehn.toml, /project/foehn.yaml. Keep one of them");
    let place = Place::new(&[(USER, ""), ("home/.config/foehn/foehn.json", "{}")]);
    assert_snapshot!(place.check(), @"there are several settings files: /home/.config/foehn/foehn.toml, /home/.config/foehn/foehn.json. Keep one of them");
}

#[test]
fn variables_and_flags_are_named_when_they_are_wrong() {
    let rows = [
        Place::new(&[]).variable("FOEHN_MODLE", "x"),
        Place::new(&[]).variable("FOEHN_PLUGINS__TRSUT", "any"),
        Place::new(&[]).variable("FOEHN_PLUGINS__TRUST", "all"),
        Place::new(&[]).variable("FOEHN_TIMEOUT_SECONDS", "soon"),
        Place::new(&[]).variable("FOEHN_MAX_RETRIES", "-1"),
        Place::new(&[]).variable("FOEHN_LOG____LEVEL", "info"),
        Place::new(&[]).variable("FOEHN_LOG", "info"),
        Place::new(&[]).variable("FOEHN_TIMEOUT_SECONDS", "0"),
        Place::new(&[]).variable("FOEHN_TEMPERATURE", "NaN"),
        Place::new(&[]).variable("FOEHN_BASE_URL", "localhost:80"),
        Place::new(&[]).flag("--trust", "plugins.trust", "pinnde"),
        Place::new(&[(USER, "max_tool_iterations = 0")]),
        Place::new(&[(USER, "equal_calls_warn = 1")]),
        Place::new(&[(USER, "[agents.a]\nequal_calls_stop = 0")]),
        Place::new(&[(USER, "[agents.a.tools.scan]\ncoercion = 'strickt'")]),
        Place::new(&[(USER, "[agents.a]\n\nbase_url = 'ftp://x'")]),
    ];
    let errors: Vec<String> = rows.iter().map(Place::check).collect();
    assert_snapshot!(errors.join("\n"), @r#"
    environment variable `FOEHN_MODLE`: unknown key `modle`; did you mean `MODEL`?
    environment variable `FOEHN_PLUGINS__TRSUT`: unknown key `trsut`; did you mean `TRUST`?
    environment variable `FOEHN_PLUGINS__TRUST`: unknown value `all`; known here: `pinned`, `prompt`, `any`
    environment variable `FOEHN_TIMEOUT_SECONDS`: invalid type: string "soon", expected an integer
    environment variable `FOEHN_MAX_RETRIES`: invalid type: string "-1", expected an integer
    environment variable `FOEHN_LOG____LEVEL`: its name has an empty part
    environment variable `FOEHN_LOG`: invalid type: string "info", expected a table
    environment variable FOEHN_TIMEOUT_SECONDS: `timeout_seconds` is 0; it has to be at least 1
    environment variable FOEHN_TEMPERATURE: `temperature` has to be from 0 to 2
    environment variable FOEHN_BASE_URL: `base_url` has to begin with `http://` or `https://`
    `--trust`: unknown value `pinnde`; did you mean `pinned`?
    /home/.config/foehn/foehn.toml:1: `max_tool_iterations` is 0; it has to be at least 1
    /home/.config/foehn/foehn.toml:1: `equal_calls_warn` has to be at least 2: a single call equals no other
    /home/.config/foehn/foehn.toml:2: `agents.a.equal_calls_stop` has to be at least 2: a single call equals no other
    /home/.config/foehn/foehn.toml:2:12: unknown value `strickt`; did you mean `strict`?
    /home/.config/foehn/foehn.toml:3: `agents.a.base_url` has to begin with `http://` or `https://`
    "#);
}
