//! The tools as offered to the model, and their contracts, built once and kept.

use std::collections::HashMap;
use std::sync::Arc;

use foehn_contract::Contract;
use foehn_ports::{ModelRequest, ToolDefinition, Toolbox};
use foehn_protocol::{Entry, ToolSpec};

#[derive(Default)]
pub(crate) struct Tools {
    /// What the request's definitions were made of.
    offered: Vec<Arc<ToolSpec>>,
    contracts: HashMap<String, Arc<Contract>>,
    /// System message and definitions as the journal has them last.
    written: Option<(String, String)>,
    /// Whether the request holds exactly `offered`, and the journal knows.
    in_force: bool,
}

impl Tools {
    /// Goes on from the last instructions of a stored session.
    pub(crate) fn resumed(entries: &[Entry]) -> Self {
        let written = entries.iter().rev().find_map(|entry| match entry {
            Entry::Instructions { system, tools, .. } => Some((system.clone(), tools.clone())),
            _ => None,
        });
        Self { written, ..Self::default() }
    }

    /// Puts the tools offered now into the request; answers with the journal's entry when that says something new.
    pub(crate) fn offer(
        &mut self,
        toolbox: &dyn Toolbox,
        agent: &str,
        request: &mut ModelRequest,
    ) -> Option<Entry> {
        let specs = toolbox.tools();
        let same = specs.len() == self.offered.len()
            && specs.iter().zip(&self.offered).all(|(new, old)| Arc::ptr_eq(new, old) || new == old);
        if same && self.in_force {
            return None;
        }
        request.tools = specs.iter().map(|spec| definition(&self.contract(spec))).collect();
        self.offered = specs;
        self.in_force = true;
        self.instructions(agent, request)
    }

    /// Takes all tools out of the request, until they are offered again.
    pub(crate) fn withdraw(&mut self, agent: &str, request: &mut ModelRequest) -> Option<Entry> {
        request.tools.clear();
        self.in_force = false;
        self.instructions(agent, request)
    }

    fn instructions(&mut self, agent: &str, request: &ModelRequest) -> Option<Entry> {
        let tools = serde_json::to_string(&request.tools).unwrap_or_default();
        if self
            .written
            .as_ref()
            .is_some_and(|(system, written)| *system == request.system && *written == tools)
        {
            return None;
        }
        self.written = Some((request.system.clone(), tools.clone()));
        Some(Entry::Instructions { agent: agent.to_owned(), system: request.system.clone(), tools })
    }

    pub(crate) fn contract(&mut self, spec: &Arc<ToolSpec>) -> Arc<Contract> {
        if let Some(known) = self.contracts.get(&spec.name)
            && (Arc::ptr_eq(known.spec(), spec) || known.spec() == spec)
        {
            return known.clone();
        }
        let contract = Arc::new(Contract::new(spec.clone()));
        self.contracts.insert(spec.name.clone(), contract.clone());
        contract
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.offered.iter().map(|spec| spec.name.as_str())
    }
}

fn definition(contract: &Contract) -> ToolDefinition {
    let definition = contract.definition();
    ToolDefinition {
        name: definition.name.clone(),
        description: definition.description.clone(),
        parameters: definition.parameters.clone(),
    }
}
