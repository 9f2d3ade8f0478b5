//! SKELETON

pub fn print_rates() -> bool {
    true
}
