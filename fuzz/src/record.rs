//! Records, and what is shown of those that are read.

use nearfar_document::{
    ModelResult, RecordDoctor, ShowChoice, ShownRecord, model_answer, show_answer,
};
use nearfar_machine::TheoreticalMaximum;
use nearfar_model::{ModelChoices, ModelKind, RecordFigures};
use nearfar_record::{FileEnd, Line, ReadError, Record, read_record};

use super::{Outcome, ROOMS, assert_printable, rejected, rejected_words};

/// Records: what is read is written and read again as the same, and every page about it
/// can be made.
pub fn record(input: &[u8]) -> Outcome {
    let record = match read_record(input) {
        Ok(record) => record,
        Err(error) => {
            let outcome = rejected(&error);
            let told = error.to_string();
            let without_place = matches!(
                error,
                ReadError::Empty | ReadError::TornHeader | ReadError::Schema { .. }
            );
            assert!(without_place || told.starts_with("line "), "no line is named: {told}");
            return outcome;
        }
    };
    if let FileEnd::Lines { length } = record.end {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        assert_cut_where_it_says(input, &record, length);
        assert_written_alike(&input[..length], &record);
    }
    show(&record);
    Outcome::Accepted
}

/// The whole lines alone are the same record, and none of them is torn.
fn assert_cut_where_it_says(input: &[u8], record: &Record, length: usize) {
    assert!(length <= input.len() && record.torn == (length < input.len()));
    if record.torn {
        let whole = read_record(&input[..length]);
        let mut expected = record.clone();
        expected.torn = false;
        assert!(whole.is_ok_and(|whole| whole == expected), "the whole lines are another record");
    }
}

/// Each line is written as it was understood; together they are the same record, but for
/// its seals, which are those of the lines as they stood.
fn assert_written_alike(input: &[u8], record: &Record) {
    let mut text = Vec::new();
    for line in input.split_inclusive(|&byte| byte == b'\n') {
        let written =
            serde_json::from_slice::<Line>(line).and_then(|line| serde_json::to_vec(&line));
        match written {
            Ok(line) => text.extend([&line[..], b"\n"].concat()),
            Err(error) => panic!("a line that was read cannot be written: {error}"),
        }
    }
    let again = match read_record(&text[..]) {
        Ok(again) => again,
        Err(error) => panic!("what is written is not read: {error}"),
    };
    let mut expected = record.clone();
    expected.end = again.end.clone();
    expected.torn = again.torn;
    expected.sealing = again.sealing.clone();
    expected.seal = again.seal;
    assert!(again == expected, "what is written is read as another record");
}

/// Makes every page; pages of a hostile record may be odd, but they come.
fn show(record: &Record) {
    let show = ShownRecord::new(record);
    let gamma = TheoreticalMaximum::of_memory(&record.header.machine);
    let doctor = RecordDoctor::new(record, gamma);
    let mut told = vec![show_answer(record, &ShowChoice::default()), doctor.answer()];
    let mut views = vec![serde_json::to_string(&show), serde_json::to_string(&doctor)];
    let figures = RecordFigures::new(record);
    match ModelKind::Classes.fit(&figures, &ModelChoices::default()) {
        Ok(Ok(model)) => {
            told.push(model_answer(record, &model));
            views.push(serde_json::to_string(&ModelResult::of(record, &model)));
        }
        Ok(Err(lack)) => {
            rejected_words(&lack.why);
        }
        Err(error) => {
            rejected(&error);
        }
    }
    for room in ROOMS {
        for told in &told {
            assert_printable(&told.text(room));
        }
    }
    assert!(views.iter().all(Result::is_ok), "a view cannot be put into JSON");
}
