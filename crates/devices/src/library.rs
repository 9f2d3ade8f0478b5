//! Shared libraries that are loaded at run time, and tables of the C functions in them.

use std::error::Error;
use std::ffi::c_char;

use libloading::Library;

use crate::found::NoDevices;

/// Loads the first of these libraries that is there.
pub(crate) fn load(names: &[&str]) -> Result<Library, NoDevices> {
    if cfg!(target_feature = "crt-static") {
        return Err(NoDevices::absent(
            "this program is linked statically and can load no driver; use one that is linked \
             dynamically",
        ));
    }
    // Of several that cannot be loaded one that is there says more than one that is not.
    let mut told: Option<NoDevices> = None;
    for name in names {
        // SAFETY: what runs is the initialisation of an installed driver. It is never unloaded
        // (its users keep it for as long as the process lives), so nothing of it runs at the end.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) => {
                let why = refusal(name, &error);
                told = match told {
                    Some(first) if first.is_broken || !why.is_broken => Some(first),
                    _ => Some(why),
                };
            }
        }
    }
    Err(told.unwrap_or_else(|| NoDevices::absent("no library was named")))
}

/// Why a library cannot be loaded. What the system says is the error's source; a library that the
/// driver needs and that is not there is named itself.
fn refusal(name: &str, error: &libloading::Error) -> NoDevices {
    let reason = error.source().map_or_else(|| error.to_string(), |source| source.to_string());
    let is_absent = reason.contains(name) && reason.contains("No such file");
    NoDevices { reason, is_broken: !is_absent }
}

/// Finds a function in a library.
///
/// # Safety
///
/// The type is the one that the interface's header declares for the symbol.
pub(crate) unsafe fn symbol_of<Function: Copy>(
    library: &Library,
    symbol: &str,
) -> Result<Function, String> {
    // SAFETY: by the caller.
    let found = unsafe { library.get::<Function>(symbol.as_bytes()) };
    found.map(|found| *found).map_err(|_| format!("it has no function {symbol}"))
}

/// A table of C functions: name, symbol, arguments, result.
macro_rules! function_table {
    ($(#[$about:meta])* $table:ident {
        $($name:ident = $symbol:literal($($argument:ty),* $(,)?) -> $result:ty;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $table {
            /// Finds all of them.
            pub(crate) fn find(library: &libloading::Library) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        type Function = unsafe extern "C" fn($($argument),*) -> $result;
                        // SAFETY: the type is the one that the interface's header declares for
                        // the symbol.
                        unsafe { $crate::library::symbol_of::<Function>(library, $symbol) }?
                    },)*
                })
            }
        }
    };
}
pub(crate) use function_table;

/// What a C function wrote into a buffer, up to its first NUL, without blanks around it.
pub(crate) fn text_of(written: &[c_char]) -> String {
    let bytes: Vec<u8> = written
        .iter()
        .map(|&byte| u8::from_ne_bytes(byte.to_ne_bytes()))
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).trim().to_string()
}

/// C functions that do nothing and answer a code, for tables in tests.
#[cfg(test)]
pub(crate) trait Answering {
    fn answering<const CODE: i32>() -> Self;
}

#[cfg(test)]
macro_rules! answering {
    ($($argument:ident)*) => {
        impl<$($argument),*> Answering for unsafe extern "C" fn($($argument),*) -> i32 {
            fn answering<const CODE: i32>() -> Self {
                unsafe extern "C" fn answer<const CODE: i32, $($argument),*>(
                    $(_: $argument),*
                ) -> i32 {
                    CODE
                }
                answer::<CODE, $($argument),*>
            }
        }
    };
}
#[cfg(test)]
mod answering {
    use super::Answering;

    answering!(A);
    answering!(A B);
    answering!(A B C);
    answering!(A B C D);
    answering!(A B C D E);
    answering!(A B C D E F);
    answering!(A B C D E F G H I);
}
