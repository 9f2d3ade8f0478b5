//! The time of day, as records have it.

/// Now, UTC, RFC 3339, to the second. A clock beyond the year 9999, or before -9999, is at the end of what
/// can be written.
pub fn now_utc() -> String {
    utc(std::time::SystemTime::now())
}

fn utc(time: std::time::SystemTime) -> String {
    let is_after = time > std::time::UNIX_EPOCH;
    let end = if is_after { jiff::Timestamp::MAX } else { jiff::Timestamp::MIN };
    let now = jiff::Timestamp::try_from(time).unwrap_or(end);
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::utc;

    #[test]
    fn clocks_that_are_set_to_anything_give_a_time() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (253_402_207_200, "9999-12-30T22:00:00Z"),
            (400_000_000_000, "9999-12-30T22:00:00Z"),
            (i64::MAX.unsigned_abs(), "9999-12-30T22:00:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), written);
        }
        assert_eq!(utc(UNIX_EPOCH - Duration::from_secs(1)), "1969-12-31T23:59:59Z");
    }
}
