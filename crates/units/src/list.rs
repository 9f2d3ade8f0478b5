//! Lists of whole numbers in which order and repetition count.

use crate::number::QuantityError;

/// Longer lists are mistakes.
const MOST: usize = 1 << 16;

/// Reads `0,2,2` or `0-3,8`, in the order in which they stand there.
///
/// # Errors
/// When an entry is no number and no range that ascends, or there are more than 65,536.
pub fn parse_numbers(text: &str) -> Result<Vec<u32>, QuantityError> {
    let mut numbers = Vec::new();
    for entry in text.split(',') {
        let wrong = || QuantityError::Entry { entry: entry.into(), list: text.into() };
        let number = |word: &str| {
            let digits =
                Some(word.trim()).filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<u32>().ok()).ok_or_else(wrong)
        };
        let (first, last) = match entry.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(entry)?, number(entry)?),
        };
        if first > last || numbers.len() + (last - first) as usize >= MOST {
            return Err(wrong());
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stand_among_numbers() {
        for (text, numbers) in [
            ("0-3,8", vec![0, 1, 2, 3, 8]),
            ("0,1,2,2", vec![0, 1, 2, 2]),
            ("4, 2", vec![4, 2]),
            ("7-7", vec![7]),
        ] {
            assert_eq!(parse_numbers(text), Ok(numbers));
        }
        for text in ["", "a", "0-", "-3", "3-0", "0,,1", "0-4294967295", "+1", "1.5", "0-1-2"] {
            assert!(parse_numbers(text).is_err(), "{text:?} was read");
        }
    }
}
