//! SKELETON

pub fn print_errors() -> bool {
    true
}
