//! What users write in Python: classes whose methods the simulator calls, with the interpreter's lock for the time of a call.

mod application;
mod control;
mod loss;
mod queue;
mod random;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use bentpipe_apps::ApplicationFactory;
use bentpipe_path::{LossFactory, QueueFactory};
use bentpipe_tcp::control::ControlFactory;
use bentpipe_tcp::{Catalogue, Scheme};
use bentpipe_units::registry::{FromOutside, any_of};
use bentpipe_units::tree::Node;
use bentpipe_units::{Fault, Problem, conflict, fault, quoted};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

pub(crate) use application::PyConnection;
pub(crate) use queue::PyQueueView;
pub(crate) use random::PyRandom;

use application::Applications;
use queue::Queues;

/// What a class of Python says of itself: of which kind it is, how an object is made, and which hooks it has of its own.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct OwnScheme {
    #[pyo3(get)]
    kind: String,
    #[pyo3(get)]
    name: String,
    summary: String,
    /// Gives a new object; takes the options as arguments by name. Two of one name and one maker are the same.
    #[pyo3(get)]
    make: Py<PyAny>,
    /// What options it takes; none where they were given already.
    options: Vec<String>,
    hooks: Vec<String>,
}

#[pymethods]
impl OwnScheme {
    #[new]
    fn new(
        kind: String,
        name: String,
        summary: String,
        make: Py<PyAny>,
        options: Vec<String>,
        hooks: Vec<String>,
    ) -> OwnScheme {
        OwnScheme { kind, name, summary, make, options, hooks }
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (String, String, String, Py<PyAny>, Vec<String>, Vec<String>)) {
        let this = slf.get();
        let make = this.make.clone_ref(slf.py());
        let (options, hooks) = (this.options.clone(), this.hooks.clone());
        (slf.get_type(), (this.kind.clone(), this.name.clone(), this.summary.clone(), make, options, hooks))
    }
}

/// What hooks have raised, of the run in each thread. A scenario has one, for several threads may run it at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<HashMap<ThreadId, PyErr>>>);

impl Raised {
    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(thread::current().id()).or_insert(error);
    }

    /// Takes what the run in this thread has raised, if it has.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id())
    }
}

/// Our schemes and these beside them.
pub(crate) fn catalogue(py: Python<'_>, own: &[Py<OwnScheme>], raised: &Raised) -> Result<Catalogue, Fault> {
    own.iter().try_fold(Catalogue::default(), |catalogue, scheme| {
        let maker = Maker { scheme: scheme.clone_ref(py), options: None, raised: raised.clone() };
        match scheme.get().kind.as_str() {
            "control" => catalogue.with(maker.control()),
            "loss" => catalogue.with(maker.scheme::<dyn LossFactory>(|maker| Ok(Arc::new(maker)))),
            "queue" => {
                catalogue.with(maker.scheme::<dyn QueueFactory>(|maker| Ok(Arc::new(Queues::of(maker)?))))
            }
            "application" => catalogue
                .with(maker.scheme::<dyn ApplicationFactory>(|maker| Ok(Arc::new(Applications::of(maker)?)))),
            other => Err(fault!("a control, a loss model, a queue or an application", "{other:?}")),
        }
    })
}

/// Makes objects of a class with the options that were read.
struct Maker {
    scheme: Py<OwnScheme>,
    options: Option<Py<PyDict>>,
    raised: Raised,
}

impl Clone for Maker {
    fn clone(&self) -> Maker {
        Python::attach(|py| Maker {
            scheme: self.scheme.clone_ref(py),
            options: self.options.as_ref().map(|options| options.clone_ref(py)),
            raised: self.raised.clone(),
        })
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme.get().name)
    }
}

impl Maker {
    fn hooks(&self) -> &[String] {
        &self.scheme.get().hooks
    }

    /// Whether the class has this hook of its own, or this switch on.
    fn has(&self, name: &str) -> bool {
        self.hooks().iter().any(|own| own == name)
    }

    /// The hook of an object, where its class has it of its own.
    fn hook(&self, object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
        self.has(name).then(|| object.getattr(name).map(Bound::unbind)).transpose()
    }

    /// The control as one of a catalogue.
    fn control(self) -> Scheme<dyn ControlFactory> {
        let OwnScheme { name, summary, options, .. } = self.scheme.get();
        let scheme = Scheme::new(name.clone(), summary.clone(), Arc::new(self.clone()) as _);
        if options.is_empty() {
            return scheme;
        }
        let keys: Vec<Cow<'static, str>> = options.iter().map(|key| key.clone().into()).collect();
        let read = move |table: &Node| Ok(Arc::new(self.read(table)?) as _);
        scheme.with_options(keys.clone(), move || any_of(&keys), read)
    }

    /// This as one of a catalogue, which `factory` makes a factory of.
    fn scheme<F: FromOutside + ?Sized>(
        self,
        factory: impl Fn(Maker) -> Result<Arc<F>, Fault> + Send + Sync + 'static,
    ) -> Scheme<F> {
        let OwnScheme { name, summary, options, .. } = self.scheme.get();
        Scheme::from_outside(name.clone(), summary.clone(), options.clone(), move |table| {
            factory(self.read(table)?)
        })
    }

    /// This maker with the options in `table`, after one object was made of them: what it says against them is said now.
    fn read(&self, table: &Node) -> Result<Maker, Fault> {
        let table = table.deserialize_map(Options(&self.scheme.get().options))?;
        let text = serde_json::to_string(&table).map_err(|error| Fault::conflict(error.to_string()))?;
        let read = Python::attach(|py| {
            let options = py.import("json")?.call_method1("loads", (text,))?;
            let options = options.cast_into::<PyDict>().map_err(PyErr::from)?;
            self.scheme.get().make.call(py, (), Some(&options))?;
            Ok(options.unbind())
        });
        let options = read.map_err(|error: PyErr| conflict!("expected other options: {error}"))?;
        Ok(Maker { options: Some(options), ..self.clone() })
    }

    /// An attribute of the objects that it makes, if it is of that type.
    fn attribute<T: for<'py> FromPyObjectOwned<'py>>(&self, name: &str) -> Option<T> {
        self.object(|_, object| Ok(object.getattr(name)?.extract::<T>().ok())).ok().flatten()
    }

    /// A new object, and what `ready` makes of it; none where Python raises, which ends the run.
    fn made<T>(&self, ready: impl FnOnce(Python<'_>, Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        self.object(ready).map_err(|error| self.raised.put(error)).ok()
    }

    fn object<T>(&self, ready: impl FnOnce(Python<'_>, Bound<'_, PyAny>) -> PyResult<T>) -> PyResult<T> {
        Python::attach(|py| {
            let options = self.options.as_ref().map(|options| options.bind(py));
            let object = self.scheme.get().make.call(py, (), options)?;
            ready(py, object.into_bound(py))
        })
    }
}

/// What a hook gave, as an error shows it.
fn shown(given: &Bound<'_, PyAny>) -> String {
    given.repr().map(|text| text.to_string()).unwrap_or_default()
}

/// The options of a class by their names; an unknown key is refused at its place.
#[derive(Clone, Copy)]
struct Options<'a>(&'a [String]);

impl<'de> Visitor<'de> for Options<'_> {
    type Value = serde_json::Map<String, serde_json::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
        let mut options = serde_json::Map::new();
        while let Some(key) = table.next_key_seed(self)? {
            options.insert(key, table.next_value()?);
        }
        Ok(options)
    }
}

impl<'de> DeserializeSeed<'de> for Options<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<String, D::Error> {
        let found = String::deserialize(key)?;
        if self.0.contains(&found) {
            return Ok(found);
        }
        let expected = format!("one of the known keys ({})", self.0.join(", "));
        Err(if self.0.is_empty() {
            D::Error::custom(format!("{} cannot stand here", quoted(&found)))
        } else {
            Fault::from(Problem::Name { expected, found }).into_serde()
        })
    }
}
