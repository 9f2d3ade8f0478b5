//! Frames as Arrow's C streams, which libraries of tables take without a copy.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringViewBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use nearfar_document::{CellValue, ColumnKind, Frame, FrameColumn};
use nearfar_record::Record;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::failed;

/// A table of a record. It is read only: any number of streams can be taken of it.
#[pyclass(frozen, name = "Frame", module = "nearfar")]
pub struct RecordFrame {
    batch: RecordBatch,
}

#[pymethods]
impl RecordFrame {
    /// A stream of one batch. Another schema cannot be had: whoever asks for one casts.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of the columns, in their order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The units of the columns that have one.
    #[getter]
    fn units(&self) -> Vec<(String, String)> {
        let fields = self.batch.schema_ref().fields().iter();
        let units = fields.filter_map(|field| {
            Some((field.name().clone(), field.metadata().get(UNIT)?.to_string()))
        });
        units.collect()
    }
}

/// The key of a column's unit.
const UNIT: &str = "unit";

impl RecordFrame {
    /// Lays a frame out in columns.
    ///
    /// # Errors
    /// Where a cell is not of its column's kind.
    pub fn new(frame: Frame, record: &Record) -> PyResult<Self> {
        Self::laid_out(&frame.columns(), |take| frame.read(record, &mut &mut *take))
    }

    /// The same of cells that are handed out row by row.
    ///
    /// # Errors
    /// Where a cell is not of its column's kind.
    pub fn laid_out<E: Display>(
        columns: &[FrameColumn],
        read: impl FnOnce(&mut dyn FnMut(Option<CellValue<'_>>)) -> Result<(), E>,
    ) -> PyResult<Self> {
        let mut laid: Vec<Laid> = columns.iter().map(|column| Laid::of(column.kind)).collect();
        let mut at = 0;
        let mut wrong = None;
        let mut take = |cell: Option<CellValue<'_>>| {
            if !laid[at].add(cell) {
                wrong = Some(at);
            }
            at = (at + 1) % columns.len();
        };
        read(&mut take).map_err(failed)?;
        if let Some(at) = wrong {
            return Err(failed(format!("the column {} holds what it cannot", columns[at].name)));
        }
        let arrays = columns.iter().zip(laid).map(|(it, laid)| (it.name, laid.finish(), true));
        let batch = RecordBatch::try_from_iter_with_nullable(arrays).map_err(failed)?;
        let mut schema = batch.schema_ref().as_ref().clone();
        let fields = schema.fields.iter().zip(columns).map(|(field, column)| {
            let unit = (!column.unit.is_empty()).then(|| (UNIT.into(), column.unit.into()));
            let metadata: HashMap<String, String> = unit.into_iter().collect();
            field.as_ref().clone().with_metadata(metadata)
        });
        schema.fields = fields.collect();
        let batch = batch.with_schema(Arc::new(schema)).map_err(failed)?;
        Ok(Self { batch })
    }
}

/// A column as it grows. Texts are views, which readers need not copy.
enum Laid {
    Text(StringViewBuilder),
    Integer(UInt64Builder),
    Number(Float64Builder),
    Flag(BooleanBuilder),
}

impl Laid {
    fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text => Self::Text(StringViewBuilder::new()),
            ColumnKind::Integer => Self::Integer(UInt64Builder::new()),
            ColumnKind::Number => Self::Number(Float64Builder::new()),
            ColumnKind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    /// Whether the cell is of the column's kind.
    fn add(&mut self, cell: Option<CellValue<'_>>) -> bool {
        match (self, cell) {
            (Self::Text(column), None) => column.append_null(),
            (Self::Text(column), Some(CellValue::Text(text))) => column.append_value(text),
            (Self::Integer(column), None) => column.append_null(),
            (Self::Integer(column), Some(CellValue::Integer(value))) => column.append_value(value),
            (Self::Number(column), None) => column.append_null(),
            (Self::Number(column), Some(CellValue::Number(value))) => column.append_value(value),
            (Self::Flag(column), None) => column.append_null(),
            (Self::Flag(column), Some(CellValue::Flag(value))) => column.append_value(value),
            _ => return false,
        }
        true
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut column) => Arc::new(column.finish()),
            Self::Integer(mut column) => Arc::new(column.finish()),
            Self::Number(mut column) => Arc::new(column.finish()),
            Self::Flag(mut column) => Arc::new(column.finish()),
        }
    }
}
