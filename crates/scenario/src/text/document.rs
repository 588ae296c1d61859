//! The layers of a scenario as one document.

use std::path::{Path, PathBuf};

use bentpipe_units::{Fault, Within};

use super::{FileKind, Node, Origin, ReadFile, ScenarioError, at_file};

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

    /// Where the file is that this text calls `target`; in the current folder, where the text lies in none.
    pub(super) fn path_to(&self, target: &str) -> PathBuf {
        self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).join(target)
    }

    /// The text of the file that this one calls `target`.
    pub(super) fn beside(&self, target: &str, kind: FileKind, files: &ReadFile<'_>) -> Result<Layer, Fault> {
        let file = self.path_to(target);
        let text = files(&file, kind).and_then(|content| kind.text(content));
        let text = text.map_err(|fault| at_file(fault, target))?;
        Ok(Layer { name: file.display().to_string(), text, file: Some(file) })
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
    /// The error of a fault: at the line of its value, or of the nearest table around a value that is missing.
    pub(crate) fn error(&self, mut fault: Fault) -> ScenarioError {
        let mut node = &self.root;
        for key in &fault.path {
            let Some(child) = node.get(key) else { break };
            node = child;
        }
        let Origin { layer, at } = node.origin;
        let layer = &self.layers[layer];
        let line = match fault.at {
            Some(Within::Line(line)) => Some(line),
            Some(Within::Byte(byte)) => at.map(|at| layer.line(at + byte)),
            None => at.map(|at| layer.line(at)),
        };
        // What is wrong within a long text is told of the table that it is in.
        fault.path.truncate(fault.path.len() - usize::from(fault.at.is_some()));
        ScenarioError { line, ..ScenarioError::of(&layer.name, fault) }
    }

    /// The file that `node` was written in.
    pub(crate) fn file_of(&self, node: &Node) -> Option<&Path> {
        self.layers[node.origin.layer].file.as_deref()
    }
}
