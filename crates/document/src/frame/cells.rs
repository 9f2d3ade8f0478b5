//! The fields of a row as cells, by serde: a field is a column, an empty text an empty cell.

use serde::de::value::Error;
use serde::ser::{Error as _, Impossible, Serialize, SerializeStruct, Serializer};

use super::{CellValue, ColumnKind};
use crate::csv::Text;

/// Hands out a row's fields, and the cells of its place as what their columns hold.
pub(crate) fn put_row(
    row: &impl Serialize,
    places: &[Text<'static>],
    kinds: &[ColumnKind],
    take: &mut impl FnMut(Option<CellValue<'_>>),
) -> Result<(), Error> {
    row.serialize(Cells { take: &mut *take })?;
    for (cell, kind) in places.iter().zip(kinds) {
        let text = cell.as_str();
        let wrong = || Error::custom(format!("a column of {kind:?} cannot hold {text:?}"));
        take(match kind {
            _ if text.is_empty() => None,
            ColumnKind::Text => Some(CellValue::Text(text)),
            ColumnKind::Integer => Some(CellValue::Integer(text.parse().map_err(|_| wrong())?)),
            ColumnKind::Number => Some(CellValue::Number(text.parse().map_err(|_| wrong())?)),
            ColumnKind::Flag => Some(CellValue::Flag(text.parse().map_err(|_| wrong())?)),
        });
    }
    Ok(())
}

struct Cells<'t, Take> {
    take: &'t mut Take,
}

/// What rows do not hold.
fn unknown<T>(what: &str) -> Result<T, Error> {
    Err(Error::custom(format!("a cell cannot hold {what}")))
}

type No = Impossible<(), Error>;

impl<'t, Take: FnMut(Option<CellValue<'_>>)> Serializer for Cells<'t, Take> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = Cells<'t, Take>;
    type SerializeStructVariant = No;

    /// Texts are not for spreadsheets.
    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        (self.take)(Some(CellValue::Flag(value)));
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        (self.take)(Some(CellValue::Integer(value)));
        Ok(())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        (self.take)(Some(CellValue::Number(value)));
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        (self.take)(Some(text).filter(|text| !text.is_empty()).map(CellValue::Text));
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        (self.take)(None);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(word)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_i8(self, _: i8) -> Result<(), Error> {
        unknown("a number with a sign")
    }

    fn serialize_i16(self, _: i16) -> Result<(), Error> {
        unknown("a number with a sign")
    }

    fn serialize_i32(self, _: i32) -> Result<(), Error> {
        unknown("a number with a sign")
    }

    fn serialize_i64(self, _: i64) -> Result<(), Error> {
        unknown("a number with a sign")
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.serialize_f64(value.into())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Error> {
        unknown("bytes")
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_none()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        unknown("a variant with fields")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<No, Error> {
        unknown("a list")
    }

    fn serialize_tuple(self, _: usize) -> Result<No, Error> {
        unknown("a list")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<No, Error> {
        unknown("a list")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, Error> {
        unknown("a variant with fields")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<No, Error> {
        unknown("a map")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, Error> {
        unknown("a variant with fields")
    }
}

impl<Take: FnMut(Option<CellValue<'_>>)> SerializeStruct for Cells<'_, Take> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(Cells { take: &mut *self.take })
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}
