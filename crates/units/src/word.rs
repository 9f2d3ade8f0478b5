//! Enumerations whose variants are words: what serde calls a variant in records is what arguments and
//! messages call it, said once.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Gives such enumerations `as_str` and [`Display`](std::fmt::Display).
#[macro_export]
macro_rules! words {
    ($($name:ty),+ $(,)?) => {$(
        impl $name {
            /// The word for it in records, arguments and messages.
            pub fn as_str(self) -> &'static str {
                $crate::words_of::<Self>()[self as usize]
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.as_str())
            }
        }
    )+};
}

/// The words of such an enumeration, in the order of its variants.
pub fn words_of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut words: &'static [&'static str] = &[];
    // It says what its words are when it asks for one, and gets none.
    T::deserialize(Asked(&mut words)).ok();
    words
}

/// The variant with this word.
pub fn from_word<T: for<'de> Deserialize<'de>>(word: &str) -> Option<T> {
    let word: StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

struct Asked<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = words;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom(""))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Named {
        OneWay,
        #[serde(rename = "lf")]
        FastLoad,
    }
    crate::words!(Named);

    #[test]
    fn words_are_those_of_serde() {
        assert_eq!((Named::OneWay.as_str(), Named::FastLoad.as_str()), ("one_way", "lf"));
        assert_eq!(format!("{:>4}", Named::FastLoad), "  lf");
        assert_eq!(from_word("one_way"), Some(Named::OneWay));
        assert_eq!(from_word::<Named>("OneWay"), None);
        assert_eq!(words_of::<u32>(), [""; 0]);
    }
}
