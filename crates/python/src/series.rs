//! Time series on their way to Python: columns of Arrow, the points of one curve together.

use std::mem;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Float64Array, PrimitiveArray, StringArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use bentpipe_sim::{FLOW_KINDS, LINK_KINDS, Subjects};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Kinds of curves with their units.
type Kinds = Vec<(&'static str, &'static str)>;

/// The flows, the kinds of their curves, the directions of links, their kinds, and the names of phases.
pub(crate) type Described = (Vec<String>, Kinds, Vec<String>, Kinds, Vec<&'static str>);

/// Subject, kind and unit of a curve, its first row and the row behind its last.
type Curve = (String, &'static str, &'static str, usize, usize);

/// Takes points; breaks off the recording when it has no room for more.
pub(crate) type TakePoints = Box<dyn FnMut(Points) -> ControlFlow<()>>;

pub(crate) fn describe(subjects: Subjects) -> Described {
    (subjects.flows, FLOW_KINDS.to_vec(), subjects.links, LINK_KINDS.to_vec(), subjects.phases)
}

/// Puts points together until there are so many rows, and hands them on.
pub(crate) struct Collector {
    subjects: Arc<Subjects>,
    chunks: Vec<bentpipe_sim::Points>,
    rows: usize,
    at_a_time: usize,
    handed_on: bool,
    take: TakePoints,
}

impl Collector {
    pub(crate) fn new(subjects: Subjects, at_a_time: usize, take: TakePoints) -> Collector {
        Collector {
            subjects: Arc::new(subjects),
            chunks: Vec::new(),
            rows: 0,
            at_a_time,
            handed_on: false,
            take,
        }
    }

    pub(crate) fn take(&mut self, points: &bentpipe_sim::Points) -> ControlFlow<()> {
        self.rows += points.curves.len();
        self.chunks.push(points.clone());
        if self.rows < self.at_a_time { ControlFlow::Continue(()) } else { self.hand_on() }
    }

    /// Hands on the rest; a run without a point hands on none, once.
    pub(crate) fn finish(&mut self) {
        if self.rows > 0 || !self.handed_on {
            // The run is over: nobody asks whether there is room for more.
            let _ = self.hand_on();
        }
    }

    fn hand_on(&mut self) -> ControlFlow<()> {
        self.handed_on = true;
        let rows = mem::take(&mut self.rows);
        let chunks = Mutex::new(mem::take(&mut self.chunks));
        (self.take)(Points { subjects: self.subjects.clone(), rows, chunks, sorted: OnceLock::new() })
    }
}

/// Points of time series; they are put in order by the thread that first asks for them.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct Points {
    subjects: Arc<Subjects>,
    rows: usize,
    chunks: Mutex<Vec<bentpipe_sim::Points>>,
    sorted: OnceLock<Result<Sorted, ArrowError>>,
}

/// Points by curve, those of each in the order of their times.
struct Sorted {
    columns: StructArray,
    /// Of each curve that has a point: its number, and the row behind its last.
    ends: Vec<(usize, usize)>,
}

#[pymethods]
impl Points {
    fn __len__(&self) -> usize {
        self.rows
    }

    /// The curves that have a point.
    fn curves(&self, py: Python<'_>) -> PyResult<Vec<Curve>> {
        let sorted = self.sorted(py)?;
        let firsts = std::iter::once(0).chain(sorted.ends.iter().map(|(_, end)| *end));
        let curves = sorted.ends.iter().zip(firsts).map(|((curve, end), first)| {
            let (subject, (kind, unit)) = self.subject_and_kind(*curve);
            (self.name(subject).to_owned(), kind, unit, first, *end)
        });
        Ok(curves.collect())
    }

    /// The Arrow PyCapsule interface: a record batch, not copied.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A request that cannot be met is answered with what there is, as the interface has it.
        drop(requested_schema);
        let data = self.sorted(py)?.columns.to_data();
        let schema = FFI_ArrowSchema::try_from(data.data_type()).map_err(failed)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")?,
        ))
    }
}

impl Points {
    fn sorted(&self, py: Python<'_>) -> PyResult<&Sorted> {
        let sorted = py.detach(|| {
            self.sorted.get_or_init(|| {
                let chunks = mem::take(&mut *self.chunks.lock().unwrap_or_else(PoisonError::into_inner));
                self.sort(chunks)
            })
        });
        sorted.as_ref().map_err(failed)
    }

    /// Sorts by counting; gives back the memory of each chunk when it is done with it.
    fn sort(&self, chunks: Vec<bentpipe_sim::Points>) -> Result<Sorted, ArrowError> {
        let curves =
            self.subjects.flows.len() * FLOW_KINDS.len() + self.subjects.links.len() * LINK_KINDS.len();
        let mut next = vec![0; curves + 1];
        for curve in chunks.iter().flat_map(|chunk| &chunk.curves) {
            next[*curve as usize + 1] += 1;
        }
        for curve in 1..=curves {
            next[curve] += next[curve - 1];
        }
        let (mut times_s, mut values) = (vec![0.0; self.rows], vec![0.0; self.rows]);
        for chunk in chunks {
            for ((curve, time_s), value) in chunk.curves.iter().zip(&chunk.times_s).zip(&chunk.values) {
                let row = &mut next[*curve as usize];
                times_s[*row] = *time_s;
                values[*row] = *value;
                *row += 1;
            }
        }
        // Each place is now the row behind the last of its curve.
        let mut first = 0;
        let ends = next[..curves]
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, end)| *end > mem::replace(&mut first, *end));
        let ends: Vec<_> = ends.collect();
        let columns = self.columns(&ends, times_s, values)?;
        Ok(Sorted { columns, ends })
    }

    fn columns(
        &self,
        ends: &[(usize, usize)],
        times_s: Vec<f64>,
        values: Vec<f64>,
    ) -> Result<StructArray, ArrowError> {
        let kinds: Vec<_> = FLOW_KINDS.iter().chain(&LINK_KINDS).collect();
        let mut units: Vec<&str> = Vec::new();
        for (_, unit) in &kinds {
            if !units.contains(unit) {
                units.push(unit);
            }
        }
        let (mut subject, mut kind, mut unit) = (
            Vec::<i32>::with_capacity(self.rows),
            Vec::<i8>::with_capacity(self.rows),
            Vec::<i8>::with_capacity(self.rows),
        );
        for (curve, end) in ends {
            let (of, what) = self.subject_and_kind(*curve);
            // Kinds and their units are few, subjects fewer than points.
            subject.resize(*end, of as i32);
            kind.resize(*end, kinds.iter().position(|each| **each == what).unwrap_or_default() as i8);
            unit.resize(*end, units.iter().position(|each| *each == what.1).unwrap_or_default() as i8);
        }
        let names = self.subjects.flows.iter().chain(&self.subjects.links);
        let columns: [(&str, ArrayRef); 5] = [
            ("subject", labels::<Int32Type>(subject, StringArray::from_iter_values(names))?),
            (
                "kind",
                labels::<Int8Type>(kind, StringArray::from_iter_values(kinds.iter().map(|(kind, _)| kind)))?,
            ),
            ("unit", labels::<Int8Type>(unit, StringArray::from_iter_values(units))?),
            ("time_s", Arc::new(Float64Array::from(times_s))),
            ("value", Arc::new(Float64Array::from(values))),
        ];
        let field =
            |(name, column): &(&str, ArrayRef)| Field::new(*name, DataType::clone(column.data_type()), false);
        let fields: Fields = columns.iter().map(field).collect();
        StructArray::try_new(fields, columns.into_iter().map(|(_, column)| column).collect(), None)
    }

    /// The number of a curve's subject, and its kind with its unit.
    fn subject_and_kind(&self, curve: usize) -> (usize, (&'static str, &'static str)) {
        let (flows, of_flow, of_link) = (self.subjects.flows.len(), FLOW_KINDS.len(), LINK_KINDS.len());
        match curve.checked_sub(flows * of_flow) {
            None => (curve / of_flow, FLOW_KINDS[curve % of_flow]),
            Some(behind) => (flows + behind / of_link, LINK_KINDS[behind % of_link]),
        }
    }

    fn name(&self, subject: usize) -> &str {
        let flows = &self.subjects.flows;
        flows.get(subject).unwrap_or_else(|| &self.subjects.links[subject - flows.len()])
    }
}

fn labels<K: ArrowDictionaryKeyType>(
    codes: Vec<K::Native>,
    texts: StringArray,
) -> Result<ArrayRef, ArrowError> {
    let codes = PrimitiveArray::<K>::new(codes.into(), None);
    Ok(Arc::new(DictionaryArray::<K>::try_new(codes, Arc::new(texts))?))
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
