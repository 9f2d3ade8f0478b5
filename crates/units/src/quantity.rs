//! Numbers whose type names what they count. JSON and people get them in the unit that is usual for them, with
//! which a field's name ends: `_gb_per_s`, `_ns`.

use std::ops::{Div, Mul};

use serde::{Serialize, Serializer};

/// What a number counts, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// 1e9 bytes a second.
    #[serde(rename = "GB/s")]
    GbPerS,
    /// 1e9 floating-point operations a second.
    #[serde(rename = "GFLOP/s")]
    GflopPerS,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Ns,
    /// Microseconds: times between machines.
    #[serde(rename = "us")]
    Us,
    /// Seconds.
    #[serde(rename = "s")]
    S,
    /// A second: how often in one.
    #[serde(rename = "1/s")]
    PerS,
    /// A ratio.
    #[serde(rename = "1")]
    One,
}

impl Unit {
    /// As it is written behind a number; nothing for a ratio.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GbPerS => "GB/s",
            Self::GflopPerS => "GFLOP/s",
            Self::Ns => "ns",
            Self::Us => "us",
            Self::S => "s",
            Self::PerS => "1/s",
            Self::One => "",
        }
    }
}

/// A number of one unit.
pub trait Quantity: Copy + From<f64> {
    /// In what it is shown.
    const UNIT: Unit;

    /// As it is shown.
    fn in_unit(self) -> f64;
}

macro_rules! quantity {
    ($(#[$about:meta])* $name:ident, $unit:ident, |$value:ident| $shown:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            const UNIT: Unit = Unit::$unit;

            fn in_unit(self) -> f64 {
                let $value = self.0;
                $shown
            }
        }

        impl From<f64> for $name {
            fn from(value: f64) -> Self {
                Self(value)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_f64(self.in_unit())
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                f64::json_schema(generator)
            }
        }

        /// How many times as much.
        impl Div for $name {
            type Output = f64;

            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;

            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }
    };
}

quantity!(
    /// Bytes a second. Which bytes are counted (useful, traffic) is said by the name of the field.
    BytesPerSecond, GbPerS, |it| it / 1e9
);
quantity!(
    /// Floating-point operations a second.
    FlopsPerSecond, GflopPerS, |it| it / 1e9
);
quantity!(
    /// A time in ns.
    Nanoseconds, Ns, |it| it
);
quantity!(
    /// A time in seconds.
    Seconds, S, |it| it
);
quantity!(
    /// How often in a second.
    PerSecond, PerS, |it| it
);
quantity!(
    /// How many times as much, or which part.
    Ratio, One, |it| it
);

/// A figure in bytes/s that a result holds as a plain number, in GB/s.
///
/// # Errors
/// What the serializer fails with.
pub fn serialize_gb_per_s<S: Serializer>(
    bytes_per_s: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    BytesPerSecond(*bytes_per_s).serialize(serializer)
}
