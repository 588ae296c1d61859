//! The layers of a scenario as one document, and the places in it.

use std::marker::PhantomData;
use std::path::PathBuf;

use bentpipe_units::Fault;
use serde::de::{DeserializeOwned, DeserializeSeed};

use super::{Node, Origin, ScenarioError, dotted};
use crate::read::read_by;

/// A text that a document came from.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The file that it is in, or is taken to be in: what it extends lies beside it.
    pub(crate) file: Option<PathBuf>,
}

impl Layer {
    /// A text that lies in no file.
    pub(crate) fn without_file(name: &str, text: &str) -> Layer {
        Layer { name: name.to_owned(), text: text.to_owned(), file: None }
    }

    /// The error that `fault` is at `key`, written at byte `at`.
    pub(crate) fn error(&self, at: Option<usize>, key: String, fault: impl Into<Fault>) -> ScenarioError {
        ScenarioError::new(&self.name, at.map(|at| self.line(at)), key, fault.into())
    }

    /// The line of byte `at`, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        // An error at the very end belongs to the last line that says something.
        let at = at.min(self.text.trim_end().len());
        1 + self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
    }
}

/// What a chain of `extends` and the overrides come to.
#[derive(Debug)]
pub(crate) struct Document {
    /// The text that was asked for, what it extends, and at last the overrides.
    pub(crate) layers: Vec<Layer>,
    pub(crate) root: Node,
}

impl Document {
    /// The place of the value that `path` leads to.
    pub(crate) fn place<'a>(&'a self, path: &[&'a str]) -> Place<'a> {
        Place { document: self, path: path.to_vec() }
    }
}

/// Where a value stands in a document, or would stand.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    document: &'a Document,
    pub(crate) path: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// The place of what `keys` lead to from here.
    pub(crate) fn below(&self, keys: &[&'a str]) -> Place<'a> {
        Place { document: self.document, path: [&self.path, keys].concat() }
    }

    /// What stands here.
    pub(crate) fn node(&self) -> Option<&'a Node> {
        self.path.iter().try_fold(&self.document.root, |node, key| node.get(key))
    }

    /// A `T` from what stands here; the default where nothing does.
    pub(crate) fn read<T: DeserializeOwned + Default>(&self) -> Result<T, ScenarioError> {
        self.node().map_or_else(|| Ok(T::default()), |node| self.read_from(node))
    }

    /// A `T` from `node`, which is as what stands here.
    pub(crate) fn read_from<T: DeserializeOwned>(&self, node: &Node) -> Result<T, ScenarioError> {
        self.read_by(PhantomData::<T>, node)
    }

    /// What `seed` makes of `node`, which is as what stands here.
    pub(crate) fn read_by<'de, S: DeserializeSeed<'de>>(
        &self,
        seed: S,
        node: &'de Node,
    ) -> Result<S::Value, ScenarioError> {
        read_by(seed, node).map_err(|fault| self.error_of(node, fault))
    }

    /// Each entry of the table that stands here: its name, its place, and what stands there.
    pub(crate) fn entries(&self) -> Vec<(&'a str, Place<'a>, &'a Node)> {
        let table = self.node().and_then(Node::table).into_iter().flatten();
        table.map(|(name, node)| (name.as_str(), self.below(&[name]), node)).collect()
    }

    /// The error that `fault` is in the value that `keys` lead to from here, at the line of its nearest ancestor where it is missing.
    pub(crate) fn error(&self, keys: &[&str], fault: impl Into<Fault>) -> ScenarioError {
        let fault = keys.iter().rev().fold(fault.into(), |fault, key| fault.under(*key));
        let begin = self.path.iter().try_fold(&self.document.root, |node, key| node.get(key));
        match begin {
            Some(node) => self.error_of(node, fault),
            None => {
                let above = self.path.split_last().map_or(&[][..], |(_, above)| above);
                let above = Place { document: self.document, path: above.to_vec() };
                above.error(&self.path[above.path.len()..], fault)
            }
        }
    }

    /// The error that `fault` is in a line of the text that what `keys` lead to from here is of.
    pub(crate) fn error_in(&self, keys: &[&'a str], line: usize, fault: impl Into<Fault>) -> ScenarioError {
        let name = self.layer(keys).map_or("", |layer| &layer.name);
        ScenarioError::new(name, Some(line), dotted(&self.path), fault.into())
    }

    /// The text that what `keys` lead to from here was written in.
    pub(crate) fn layer(&self, keys: &[&'a str]) -> Option<&'a Layer> {
        self.below(keys).node().map(|node| &self.document.layers[node.origin.layer])
    }

    /// The error that `fault` is at byte `at` of the text that `keys` lead to from here, which is as what stands here.
    pub(crate) fn error_within(&self, keys: &[&str], at: usize, fault: impl Into<Fault>) -> ScenarioError {
        ScenarioError { key: dotted(&self.path), ..self.error(keys, fault.into().at(at)) }
    }

    /// The error that `fault` is in `node`, which is as what stands here.
    fn error_of(&self, node: &Node, mut fault: Fault) -> ScenarioError {
        let mut at = node;
        for key in &fault.path {
            match at.get(key) {
                Some(child) => at = child,
                None => break,
            }
        }
        let Origin { layer, at } = at.origin;
        let path: Vec<String> =
            self.path.iter().map(|key| key.to_string()).chain(fault.path.drain(..)).collect();
        let at = at.map(|at| at + fault.at.unwrap_or(0));
        self.document.layers[layer].error(at, dotted(&path), fault)
    }
}
