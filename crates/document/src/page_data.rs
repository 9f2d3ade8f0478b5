//! What a page's script draws, as the page holds it.

use std::io::{self, BufWriter, IntoInnerError, Write};

use base64ct::{Base64, Encoding};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::ser::Serializer;

use crate::charts::Chart;
use crate::printable_json::PrintableJson;
use crate::samples::Samples;

/// Bytes that are packed at once: each write to the packer, however short, costs as much as tens of
/// thousands of letters.
const GATHERED: usize = 64 << 10;

/// JSON with every text in it made printable, packed by gzip, in base64: no text of it can end
/// the element that it stands in. Packed fast: harder packing makes a page a twentieth smaller and
/// takes longer than everything else about it.
pub(crate) struct PageData(BufWriter<GzEncoder<Vec<u8>>>);

impl PageData {
    /// The charts alone: samples come behind them.
    ///
    /// # Errors
    /// Where a value has no form in JSON.
    pub fn of_charts(charts: &[Chart]) -> io::Result<Self> {
        let packer = GzEncoder::new(Vec::new(), Compression::new(4));
        let mut data = Self(BufWriter::with_capacity(GATHERED, packer));
        data.0.write_all(b"{\"charts\":")?;
        data.add(charts)?;
        Ok(data)
    }

    /// All of it, with the samples behind the charts' and tables' figures.
    ///
    /// # Errors
    /// Where a value has no form in JSON.
    pub fn with(mut self, samples: &Samples) -> io::Result<String> {
        self.0.write_all(b",\"samples\":")?;
        self.add(samples)?;
        self.0.write_all(b"}")?;
        let packer = self.0.into_inner().map_err(IntoInnerError::into_error)?;
        Ok(Base64::encode_string(&packer.finish()?))
    }

    fn add(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        value.serialize(&mut Serializer::with_formatter(&mut self.0, PrintableJson))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::read::GzDecoder;

    use super::*;
    use crate::charts::{Plot, Spread};

    #[test]
    fn data_cannot_end_its_element() {
        let chart = Chart {
            id: "one",
            section: "pairs",
            title: "<!--",
            alternative: "</script><b>\u{202e}\u{1b}".into(),
            plot: Plot::Spread(Spread::new("", &[])),
        };
        let text = PageData::of_charts(&[chart]).unwrap().with(&Samples::default()).unwrap();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
        assert!(text.chars().all(is_plain), "{text}");
        let bytes = Base64::decode_vec(&text).unwrap();
        let back: serde_json::Value =
            serde_json::from_reader(GzDecoder::new(bytes.as_slice())).unwrap();
        assert_eq!(back["charts"][0]["alternative"], "</script><b>\\u{202e}\\u{1b}");
        assert_eq!(back["samples"]["held"], 0);
    }
}
