//! What the lint says of the tools that are there, and what they cost.

use std::collections::BTreeMap;

use foehn_tests::World;
use serde_json::Value;

#[test]
fn the_built_in_tools_have_no_finding() {
    let run = World::new().foehn(&["contract", "lint"]).expect_code(0);
    assert_eq!((run.answer().as_str(), run.talk().as_str()), ("no finding in 24 tools\n", ""));
    let len = World::with_plugins(&["len"]).foehn(&["contract", "lint", "--json"]).expect_code(0);
    assert_eq!(len.answer(), "");
}

#[test]
fn a_sloppy_plugin_breaks_every_rule() {
    let world = World::with_plugins(&["sloppy"]);
    let findings = world.foehn(&["contract", "lint", "--json"]).expect_code(1).events();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &findings {
        *counts.entry(finding["rule"].as_str().expect("an id")).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
    insta::assert_snapshot!(counts.join("\n"), @"
    alias-taken 1
    argument-name-invalid 1
    argument-name-vague 1
    argument-repeats-name 1
    argument-undescribed 1
    argument-untyped 1
    arguments-differ-by-case 1
    arguments-numbered 1
    boolean-negated 1
    booleans-exclusive 1
    bounds-empty 1
    capability-above-risk 1
    constant-argument 1
    default-refused 1
    default-unstated 1
    description-essay 1
    description-gives-orders 1
    description-hides-text 1
    description-missing 1
    description-repeats-name 1
    description-short 1
    enum-in-words 1
    enum-near-equal 1
    example-refused 1
    exception-unused 1
    exception-without-reason 1
    format-without-example 1
    forms-ambiguous 1
    id-without-source 1
    identity-argument 1
    naming-mixed 1
    nesting-deep 1
    object-free-form 1
    operation-undescribed 1
    polling-undeclared 1
    reference-remote 1
    required-contradicted 1
    risk-overstated 1
    risk-undeclared 1
    risk-understated 1
    schema-not-enforceable 1
    secret-argument 1
    too-many-arguments 1
    too-many-required 1
    tool-name-generated 1
    tool-name-vague 1
    tool-near-duplicate 1
    types-mixed 1
    unbounded-list 1
    unbounded-number 1
    unbounded-text 1
    unit-missing 1
    unknown-arguments-accepted 1
    ");

    // The SDK and the host refuse such a name before there is a tool to lint.
    let all = world.foehn(&["contract", "explain"]).expect_code(0).answer();
    let rules = all.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let silent: Vec<&str> =
        rules.filter(|rule| !counts.iter().any(|count| count.starts_with(&format!("{rule} ")))).collect();
    assert_eq!(silent, ["tool-name-invalid"]);
}

#[test]
fn findings_are_for_people() {
    let world = World::with_plugins(&["sloppy", "scan"]);
    let report = world.foehn(&["contract", "lint"]).expect_code(1).answer();
    let of = |tool: &str| {
        let mut lines = report.lines().skip_while(|line| !line.starts_with(tool));
        let heading = lines.next().into_iter();
        heading.chain(lines.take_while(|line| line.starts_with(' '))).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(of("delete_note"), @"
    delete_note (sloppy)
      error risk-understated: `delete` is at least destructive, declared is read-only; raise the risk or rename the tool
      error capability-above-risk: it asks for writing files, but is declared read-only; raise the risk or drop the capability
      error exception-without-reason: the exception from `risk-understated` gives no reason; say why it is meant
      warning operation-undescribed: the operation `delete` has no description; say what it does
      warning exception-unused: `tool-name-vague` finds nothing; remove the exception
      error identity-argument /tenant: a model would choose for whom it acts; take the caller from the host, or name whom the call is about
      error secret-argument /password: a secret would pass through the model and the journal; put it into the configuration
    ");
    insta::assert_snapshot!(report.lines().last().unwrap_or_default(), @"22 errors and 31 warnings in 15 tools; `foehn contract explain RULE` says why a rule is there");
    let one = world.foehn(&["contract", "lint", "--plugin", "scan"]).expect_code(0).answer();
    assert_eq!(one, "no finding in 1 tool\n");
    let none = world.foehn(&["contract", "lint", "--plugin", "scam"]).expect_code(1).talk();
    insta::assert_snapshot!(none, @"error: there is no plugin `scam`; there are: scan, sloppy");
}

#[test]
fn a_rule_is_explained() {
    let world = World::with_plugins(&[]);
    insta::assert_snapshot!(world.foehn(&["contract", "explain", "risk-understated"]).expect_code(0).answer(), @r#"
    risk-understated (error)

    The risk is no lower than the name says.
    Rules and approvals go by the risk: a deletion that calls itself read-only runs unasked.

    Bad:
      {
        "name": "delete_note",
        "description": "Delete one stored note for good.",
        "risk": "read_only"
      }

    Good:
      {
        "name": "delete_note",
        "description": "Delete one stored note for good.",
        "risk": "destructive"
      }

    Where it is meant, the author says so beside the tool:
      const LINT_EXCEPTIONS: &'static [LintException] = &[LintException::new("risk-understated", "REASON").at("/ARGUMENT")];
    "#);
    insta::assert_snapshot!(world.foehn(&["contract", "explain", "risk"]).expect_code(2).talk(), @"error: there is no rule `risk`; `foehn contract explain` lists them");
}

/// The shape that SARIF 2.1.0 asks for, as far as this report goes.
#[test]
fn code_scanners_read_the_findings() {
    let run =
        World::with_plugins(&["sloppy"]).foehn(&["contract", "lint", "--format", "sarif"]).expect_code(1);
    let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        (&log["version"], &log["$schema"]),
        (&"2.1.0".into(), &"https://json.schemastore.org/sarif-2.1.0.json".into())
    );
    let [one] = log["runs"].as_array().expect("runs").as_slice() else { panic!("not one run: {log}") };
    let driver = &one["tool"]["driver"];
    assert_eq!(driver["name"], "foehn");
    let rules = driver["rules"].as_array().expect("rules");
    let results = one["results"].as_array().expect("results");
    assert!(!results.is_empty());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(rules[index]["defaultConfiguration"]["level"], result["level"]);
        assert!(matches!(result["level"].as_str(), Some("error" | "warning")), "{result}");
        assert!(result["message"]["text"].is_string(), "{result}");
        let place = &result["locations"][0]["logicalLocations"][0];
        assert!(
            place["fullyQualifiedName"].as_str().is_some_and(|name| name.starts_with("sloppy/")),
            "{result}"
        );
    }
}

#[test]
fn a_budget_is_per_tool_plugin_and_agent() {
    let world = World::new();
    insta::assert_snapshot!(world.foehn(&["contract", "budget"]).expect_code(0).answer(), @"
                      CHARACTERS  TOKENS  SINCE THE SNAPSHOT
    dotnet            824         205
      dotnet          824         205
    file-rw           5182        1190
      create_file     352         79
      delete_file     268         61
      edit_file       1022        230
      find_files      717         172
      list_directory  263         57
      move_file       393         88
      read_file       591         148
      search_files    1162        267
      write_file      414         88
    scan              852         205
      scan            852         205
    shell             683         156
      run_shell       683         156
    agent default     7541        1756
    ");
    let rows = world.foehn(&["contract", "budget", "--json"]).expect_code(0).events();
    let agent = rows.last().expect("rows");
    let sum = |kind: &str, key: &str| {
        rows.iter().filter(|row| row["kind"] == kind).filter_map(|row| row[key].as_u64()).sum::<u64>()
    };
    for key in ["characters", "tokens"] {
        assert_eq!((sum("tool", key), sum("plugin", key)), (sum("agent", key), sum("agent", key)), "{agent}");
    }
}

#[test]
fn a_budget_that_is_exceeded_fails() {
    let world =
        World::with_plugins(&["scan"]).project_config("[contract]\nmax_characters = 500\nmax_tokens = 10\n");
    let run = world.foehn(&["contract", "budget"]).expect_code(1);
    insta::assert_snapshot!(run.talk(), @"
    there is no snapshot to compare with; `foehn contract snapshot` takes one
    the tools of `default` take 852 characters, the limit is 500 (contract.max_characters); shorten descriptions, or enable fewer tools
    the tools of `default` take 205 tokens, the limit is 10 (contract.max_tokens); shorten descriptions, or enable fewer tools
    ");
}

#[test]
fn a_budget_is_that_of_the_agents_tools() {
    let world = World::new().project_config("[agents.reader]\nenabled_tools = [\"read_file\"]\n");
    let rows = world.foehn(&["contract", "budget", "--agent", "reader", "--json"]).expect_code(0).events();
    let names: Vec<_> = rows.iter().map(|row| row["name"].clone()).collect();
    assert_eq!(names, ["file-rw", "read_file", "reader"]);
}
