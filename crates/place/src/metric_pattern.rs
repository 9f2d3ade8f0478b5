//! What is read in a program's output.

use regex::{Regex, RegexBuilder};

/// A regular expression whose first group is a number.
#[derive(Debug, Clone)]
pub struct MetricPattern(Regex);

/// Why a text is no pattern of a metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is no regular expression.
    #[error("'{pattern}' is no regular expression: {reason}")]
    Syntax {
        /// The text.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It has no group that could be the figure.
    #[error(
        "'{0}' has no group: put what is the figure in parentheses, for example 'Triad: +([0-9.]+)'"
    )]
    NoGroup(String),
}

impl MetricPattern {
    /// Reads a pattern; `^` and `$` are the ends of lines.
    ///
    /// # Errors
    /// When it is no regular expression, or has no group.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let regex = Self::syntax(pattern)?;
        if regex.captures_len() < 2 {
            return Err(PatternError::NoGroup(pattern.into()));
        }
        Ok(Self(regex))
    }

    /// A regular expression of an output, with or without a group.
    pub(crate) fn syntax(pattern: &str) -> Result<Regex, PatternError> {
        RegexBuilder::new(pattern).multi_line(true).build().map_err(|error| {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default();
            PatternError::Syntax { pattern: pattern.into(), reason: last.into() }
        })
    }

    /// The first group of the last match.
    ///
    /// # Errors
    /// What is wrong with the output, for people: no match, or a group that is no number.
    pub fn figure(&self, output: &str) -> Result<f64, String> {
        let group = self.0.captures_iter(output).last().and_then(|found| found.get(1));
        let Some(group) = group else {
            return Err("nothing in its output matches the metric's pattern".into());
        };
        // Some programs group digits: 12,345.6.
        let digits = group.as_str().replace(',', "");
        // Times and rates are not below 0.
        let is_figure = |figure: &f64| figure.is_finite() && *figure >= 0.0;
        let figure = digits.trim().parse().ok().filter(is_figure);
        figure.ok_or_else(|| {
            format!("the metric's pattern found '{}', no number from 0 on", group.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_match_is_the_figure() {
        let pattern = MetricPattern::new(r"^Triad: +([0-9.,]+)").unwrap();
        let output = "Copy:  1.0\nTriad:   12.5 13\nnot Triad: 99\nTriad: 1,250.25\n";
        assert_eq!(pattern.figure(output), Ok(1250.25));
        assert!(pattern.figure("Copy: 1").unwrap_err().contains("nothing"));
        let words = MetricPattern::new(r"took (\w+)").unwrap();
        assert!(words.figure("took long").unwrap_err().contains("'long'"));
        assert!(words.figure("took inf").is_err() && words.figure("took NaN").is_err());
        assert!(MetricPattern::new("(.*)").unwrap().figure("-1").is_err());
        assert_eq!(words.figure("took 1e3 s"), Ok(1000.0));
    }

    #[test]
    fn a_pattern_has_a_group() {
        assert!(matches!(MetricPattern::new("[0-9]+"), Err(PatternError::NoGroup(_))));
        assert!(matches!(MetricPattern::new("(?:a)"), Err(PatternError::NoGroup(_))));
        assert!(matches!(MetricPattern::new(")("), Err(PatternError::Syntax { .. })));
        assert!(matches!(MetricPattern::new("(a"), Err(PatternError::Syntax { .. })));
    }
}
