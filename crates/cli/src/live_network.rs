//! The other machine that messages go to, and the adapter through which it is reached.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_machine::Machine;
use nearfar_measure::native::Peer;
use nearfar_network::{Ask, Connection, MessageWay, PeerError, PeerName, Token, adapter_of};
use nearfar_record::{Experiment, Inputs, NetworkInputs};
use nearfar_sys::interface_addresses;

use crate::args::CharacterizeArguments;

/// The same inputs with the peer that was named and the adapter to it, where messages are measured.
///
/// # Errors
/// Where no peer is named, its token cannot be read, it is not there or refuses: no suite has messages, so
/// that they were asked for.
pub fn with_network_here(
    arguments: &CharacterizeArguments,
    inputs: Inputs,
    machine: &Machine,
) -> anyhow::Result<Inputs> {
    if !inputs.experiments.contains(&Experiment::Network) {
        let idle = [
            ("--peer", arguments.peer.is_some()),
            ("--token-file", arguments.token_file.is_some()),
        ];
        if let Some((option, _)) = idle.into_iter().find(|&(_, is_given)| is_given) {
            bail!("{option} is for `--only network`, which is not measured");
        }
        return Ok(Inputs { network: None, ..inputs });
    }
    let Some(peer) = &arguments.peer else {
        bail!(
            "`network` measures messages to another machine: name it by --peer HOST --token-file FILE; \
             `nearfar serve --help` says what runs there"
        );
    };
    let network = reach(peer, &peer_of(arguments, peer)?, machine)?;
    Ok(Inputs { network: Some(network), ..inputs })
}

/// Whom a record's messages go to; `None` where they go nowhere.
///
/// # Errors
/// Where another peer is named than the record's, or its token cannot be read.
pub fn peer(
    arguments: &CharacterizeArguments,
    network: Option<&NetworkInputs>,
) -> anyhow::Result<Option<Peer>> {
    let Some(known) = network.and_then(|it| it.peer.as_ref()) else { return Ok(None) };
    let known: PeerName = known.parse().context("the record's peer")?;
    if let Some(named) = arguments.peer.as_ref().filter(|named| **named != known) {
        bail!(
            "the record's messages go to {known}, not {named}: leave --peer out to go on, or begin a new record"
        );
    }
    peer_of(arguments, &known).map(Some)
}

fn peer_of(arguments: &CharacterizeArguments, name: &PeerName) -> anyhow::Result<Peer> {
    let Some(file) = &arguments.token_file else {
        bail!(
            "messages to {name} need its token: give --token-file FILE, the same as `nearfar serve` has there"
        );
    };
    let token = Token::read(file)?;
    // A name that is not known is told of when it is asked.
    Ok(Peer { addresses: name.addresses().unwrap_or_default(), token })
}

/// Asks the peer for one message, and finds the adapter that it went through.
fn reach(name: &PeerName, peer: &Peer, machine: &Machine) -> anyhow::Result<NetworkInputs> {
    name.addresses().with_context(|| format!("--peer {name}: the name is not known"))?;
    let ask = Ask { way: MessageWay::RoundTrip, message_bytes: 8, total_bytes: 8, seconds: 10 };
    let asked = Connection::open(&peer.addresses, &peer.token, ask).and_then(|mut connection| {
        let mut back = [0; 8];
        connection.round_trip(b"nearfar?", &mut back)?;
        let ends = connection.ends()?;
        let zero_copy = connection.allow_zero_copy().is_ok();
        connection.finish(&back)?;
        Ok((ends, zero_copy))
    });
    let (ends, zero_copy) = asked.map_err(|error| {
        let remedy = match &error {
            PeerError::Unreachable(_) => {
                "; `nearfar serve --listen ADDR --token-file FILE` must run there"
            }
            PeerError::WrongToken | PeerError::NotProven => {
                "; both machines' token files must hold the same"
            }
            _ => "",
        };
        anyhow!("--peer {name}: {error}{remedy}")
    })?;
    let addresses = interface_addresses().unwrap_or_default();
    Ok(NetworkInputs {
        peer: Some(name.to_string()),
        adapter: adapter_of(Path::new("/"), machine, &addresses, ends),
        zero_copy,
    })
}
