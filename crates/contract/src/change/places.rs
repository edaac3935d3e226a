//! One place of a schema: what may stand there, gathered from every node that says something about it.

use serde_json::{Map, Value};

use crate::kinds::Kinds;
use crate::schema::Shape;
use crate::schema_nodes::of_place;

pub(super) struct Place<'s> {
    pub(super) root: &'s Value,
    pub(super) shape: Shape<'s>,
    nodes: Vec<&'s Map<String, Value>>,
}

impl<'s> Place<'s> {
    pub(super) fn new(root: &'s Value, nodes: &[&'s Value]) -> Self {
        let shape = Shape::of(root, nodes);
        let nodes = of_place(&shape, nodes);
        Self { root, shape, nodes }
    }

    pub(super) fn kinds(&self) -> Kinds {
        self.shape.kinds()
    }

    /// The values of a keyword on all nodes, in their order.
    pub(super) fn all(&self, keyword: &str) -> Vec<&'s Value> {
        self.nodes.iter().filter_map(|node| node.get(keyword)).collect()
    }

    pub(super) fn text(&self, keyword: &str) -> Option<&'s str> {
        self.all(keyword).into_iter().find_map(Value::as_str)
    }

    /// The strictest number of a keyword.
    pub(super) fn bound(&self, keyword: &str, is_least: bool) -> Option<f64> {
        let numbers = self.all(keyword).into_iter().filter_map(Value::as_f64);
        if is_least { numbers.reduce(f64::max) } else { numbers.reduce(f64::min) }
    }

    /// The only scalars that may stand here; `None` when some form takes others too.
    pub(super) fn options(&self) -> Option<Vec<&'s Value>> {
        let scalars = Kinds::STRING.or(Kinds::INTEGER).or(Kinds::NUMBER).or(Kinds::BOOLEAN);
        let mut options = Vec::new();
        for form in self.shape.forms(scalars) {
            options.extend(form.iter().find_map(|node| crate::schema::options(node))?);
        }
        (!options.is_empty()).then_some(options)
    }
}
