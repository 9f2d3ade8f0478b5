//! Which piece of hardware a machine is, whatever it is called: names move, and a drift over two machines is none.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Keyed hashes of what identifies a machine; no serial number leaves it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Of the product's serial number, which only root can read; null: not known.
    pub serial: Option<String>,
    /// Of /etc/machine-id, which an installation makes anew; null: not known.
    pub machine_id: Option<String>,
}

impl Identity {
    /// Reads that of the machine whose files are below `root`.
    pub fn read(root: &Path) -> Self {
        let hash_of = |path: &str| {
            let text = fs::read_to_string(root.join(path)).ok()?;
            let text = text.trim();
            // What boards without a number of their own say.
            let is_none = text.is_empty()
                || text.eq_ignore_ascii_case("to be filled by o.e.m.")
                || ["none", "not specified", "default string", "0"]
                    .contains(&text.to_lowercase().as_str());
            (!is_none).then(|| keyed_hash(text.as_bytes()))
        };
        Self {
            serial: hash_of("sys/class/dmi/id/product_serial"),
            machine_id: hash_of("etc/machine-id"),
        }
    }

    /// Whether both are known to be different hardware: by the serial where both have one.
    pub fn differs_from(&self, other: &Self) -> bool {
        let differ = |a: &Option<String>, b: &Option<String>| Some(a.as_ref()? != b.as_ref()?);
        differ(&self.serial, &other.serial)
            .or_else(|| differ(&self.machine_id, &other.machine_id))
            .unwrap_or(false)
    }
}

/// The first 16 hexadecimal digits of HMAC-SHA-256 (RFC 2104) under a key of this program's, as
/// machine-id(5) asks for.
fn keyed_hash(text: &[u8]) -> String {
    let key = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(b"nearfar fleet identity").for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(key(0x36)).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(key(0x5c)).chain_update(inner).finalize();
    outer.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf %s SN123 | openssl dgst -sha256 -hmac 'nearfar fleet identity'`
    #[test]
    fn the_hash_is_the_hmac_of_openssl() {
        assert_eq!(keyed_hash(b"SN123"), "fe80a7eaaaadd711");
    }

    #[test]
    fn what_is_not_known_does_not_differ() {
        let of = |serial: Option<&str>, id: &str| Identity {
            serial: serial.map(Into::into),
            machine_id: Some(id.into()),
        };
        assert!(of(Some("a"), "x").differs_from(&of(Some("b"), "x")));
        assert!(!of(Some("a"), "x").differs_from(&of(Some("a"), "installed anew")));
        assert!(of(None, "x").differs_from(&of(Some("a"), "y")));
        assert!(!Identity::default().differs_from(&of(Some("a"), "y")));
    }
}
