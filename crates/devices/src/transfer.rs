//! A transfer: copies of the same bytes, again and again, and whether they arrive.

use std::ffi::c_void;
use std::fmt;
use std::rc::Rc;

use nearfar_machine::{Accelerator, HostMemory, TransferDirection};

use crate::content::{Hash, fill_with_pattern, first_difference, invert};
use crate::device_error::{DeviceError, Kind};
use crate::found::NoDevices;
use crate::host_pages::HostPages;
use crate::instruments::{Instruments, Interface};
use crate::{opencl, streams};

/// Words that are filled or compared at a time (1 MiB).
const PIECE: usize = 1 << 17;

/// One copy, or one each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// What the device's own clock says that the copies took, of both ways from the start of the first
    /// to the end of the last; null where it says nothing.
    pub device_ns: Option<u64>,
}

/// Copies between the same two places. Made and used on one thread.
///
/// What is sent differs in every byte from what lies where it goes, before the first copy and
/// again after each [`Transfer::check`]: a copy that is not made, or not to the end, is seen.
pub struct Transfer<'a> {
    /// First, so that the devices let go of the pages first.
    copies: Copies,
    ways: Vec<Way<'a>>,
    /// Whether something was copied since the last look.
    copied: bool,
    /// What went wrong with the device. It may hold pages still: nothing is done after that.
    broken: Option<DeviceError>,
    /// The device, for messages.
    device: String,
}

impl fmt::Debug for Transfer<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a driver's handles are tells nothing.
        out.debug_struct("Transfer").field("device", &self.device).finish_non_exhaustive()
    }
}

/// The copies of one step, by interface.
enum Copies {
    Streams(streams::Copies),
    Opencl(opencl::Copies),
}

/// One way of a transfer: to the device, to the host, to a peer. The device's memory of way n has
/// number n; the peer's has number 1.
enum Way<'a> {
    Out { from: HostPages<'a> },
    In { into: HostPages<'a>, sent: Hash },
    Across { words: usize },
}

/// What an interface needs to know of a way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) toward: Toward,
    pub(crate) bytes: usize,
}

/// Where a way leads, with the host's end of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Toward {
    Device { from: *const c_void },
    Host { into: *mut c_void },
    Peer,
}

impl<'a> Transfer<'a> {
    /// Gets ready to copy `host` to the device, or from it: of both ways the first half goes out
    /// and the second comes in. It starts at a page's begin (4 KiB) and is filled with numbers
    /// that differ; what it holds afterwards is not said. The device's memory is taken and filled, and pinned
    /// pages are locked where they are.
    ///
    /// OpenCL has no call that locks given pages. There, pinned means a buffer over them
    /// (`CL_MEM_USE_HOST_PTR`) that stays mapped at their address, from which drivers that can copy
    /// straight away do: a request, and what became of it the speed alone tells. Where a device goes
    /// by the host's own page tables (Grace Hopper) CUDA's driver locks no page, and has no need to.
    /// Of both ways with pageable memory CUDA's driver can keep the calling thread with the first
    /// copy before it sees the second, so that they overlap in part only.
    ///
    /// # Errors
    ///
    /// Any [`Kind`] but wrong data: no such device, no room, pages that cannot be locked.
    pub fn open(
        accelerator: &Accelerator,
        direction: TransferDirection,
        memory: HostMemory,
        host: &'a mut [f64],
    ) -> Result<Self, DeviceError> {
        let instruments = Instruments::installed();
        instruments.keep_warm(accelerator);
        Self::open_with(instruments, accelerator, direction, memory, host)
    }

    pub(crate) fn open_with(
        instruments: &Instruments,
        accelerator: &Accelerator,
        direction: TransferDirection,
        memory: HostMemory,
        host: &'a mut [f64],
    ) -> Result<Self, DeviceError> {
        let device = described(accelerator);
        let pages = HostPages::new(host);
        let pinned = match memory {
            HostMemory::Pinned => Some((pages.start(), pages.bytes())),
            HostMemory::Pageable => None,
        };
        let ways = match direction {
            TransferDirection::ToDevice => vec![Way::Out { from: pages }],
            TransferDirection::ToHost => vec![Way::In { into: pages, sent: Hash::new() }],
            TransferDirection::BothWays => {
                let half = pages.words().len() / 2;
                let (from, into) = pages.split_at(half);
                vec![Way::Out { from }, Way::In { into, sent: Hash::new() }]
            }
            TransferDirection::ToPeer => {
                return Err(failed(&device, "a copy to a peer has no host memory"));
            }
        };
        let routes: Vec<Route> = ways.iter().map(Way::route).collect();
        if routes.iter().any(|route| route.bytes == 0) {
            return Err(failed(&device, "there is nothing to copy"));
        }
        let copies = match instruments.of(accelerator.backend) {
            Interface::Streams(driver) => {
                let driver = usable(driver, &device)?;
                let context = Rc::new(streams::Context::open(driver, accelerator, &device)?);
                Copies::Streams(streams::Copies::with_host(context, &routes, pinned)?)
            }
            Interface::Opencl(functions) => {
                let functions = usable(functions, &device)?;
                let context = opencl::Context::open(functions, &[(accelerator, &device)])?;
                Copies::Opencl(opencl::Copies::with_host(context, &routes, pinned)?)
            }
        };
        Self::filled(copies, ways, device)
    }

    /// Gets ready to copy this many bytes, in whole words of 8, from one device's memory to
    /// another's.
    ///
    /// CUDA and HIP copy directly where one device reaches the other, and by way of the host's
    /// memory where none does. OpenCL knows buffers and not where they lie: one is copied on the
    /// sender and then moved to the receiver, and the two have no common clock.
    ///
    /// # Errors
    ///
    /// Any [`Kind`] but wrong data and pinning; devices of two interfaces, or of two platforms of
    /// OpenCL, cannot copy to each other.
    pub fn open_peer(
        from: &Accelerator,
        to: &Accelerator,
        bytes: u64,
    ) -> Result<Transfer<'static>, DeviceError> {
        let instruments = Instruments::installed();
        instruments.keep_warm(from);
        instruments.keep_warm(to);
        Self::open_peer_with(instruments, from, to, bytes)
    }

    pub(crate) fn open_peer_with(
        instruments: &Instruments,
        from: &Accelerator,
        to: &Accelerator,
        bytes: u64,
    ) -> Result<Transfer<'static>, DeviceError> {
        let (sender, receiver) = (described(from), described(to));
        let both = format!("{sender} to {receiver}");
        let bytes = usize::try_from(bytes)
            .map_err(|_| DeviceError::new(Kind::NoRoom, format!("{both}: {bytes} bytes")))?;
        if bytes == 0 || bytes % size_of::<u64>() != 0 {
            return Err(failed(&both, &format!("{bytes} bytes are no whole words of 8")));
        }
        if from.backend != to.backend {
            return Err(failed(
                &both,
                "devices of two interfaces cannot copy to each other; take both by one",
            ));
        }
        if from.number == to.number {
            return Err(failed(&both, "a device is no peer of itself"));
        }
        let copies = match instruments.of(from.backend) {
            Interface::Streams(driver) => {
                let driver = usable(driver, &both)?;
                let sender = Rc::new(streams::Context::open(driver, from, &sender)?);
                let receiver = Rc::new(streams::Context::open(driver, to, &receiver)?);
                Copies::Streams(streams::Copies::with_peer(sender, receiver, bytes)?)
            }
            Interface::Opencl(functions) => {
                let functions = usable(functions, &both)?;
                let context =
                    opencl::Context::open(functions, &[(from, &sender), (to, &receiver)])?;
                Copies::Opencl(opencl::Copies::with_peer(context, bytes)?)
            }
        };
        Transfer::filled(copies, vec![Way::Across { words: bytes / size_of::<u64>() }], both)
    }

    /// Sets what is sent, and what lies where it goes.
    fn filled(
        mut copies: Copies,
        mut ways: Vec<Way<'a>>,
        device: String,
    ) -> Result<Self, DeviceError> {
        for (memory, way) in ways.iter_mut().enumerate() {
            match way {
                Way::Out { from } => {
                    copies.fill(memory, from.words().len(), inverted(piece_of(from.words())))?;
                }
                Way::In { into, sent } => {
                    let words = into.words();
                    *sent = copies.fill(memory, words.len(), inverted(piece_of(words)))?;
                }
                Way::Across { words } => {
                    copies.fill(0, *words, fill_with_pattern)?;
                    copies.fill(1, *words, inverted(fill_with_pattern))?;
                }
            }
        }
        Ok(Self { copies, ways, copied: false, broken: None, device })
    }

    /// Copies once (of both ways: once each way, at the same time), and waits for the end.
    ///
    /// # Errors
    ///
    /// The device or its driver failed. The transfer cannot be used any more then.
    pub fn copy(&mut self) -> Result<Copied, DeviceError> {
        self.usable()?;
        self.copied = true;
        let copied = match &mut self.copies {
            Copies::Streams(copies) => copies.run(),
            Copies::Opencl(copies) => copies.run(),
        };
        self.kept(copied.map(|device_ns| Copied { device_ns }))
    }

    /// Whether what arrived is what was sent, every byte of it; what came to a device is read
    /// back. Then sets what lies there to something else again. Right when nothing was copied
    /// since the last look.
    ///
    /// # Errors
    ///
    /// [`Kind::WrongData`] where something else arrived: the transfer can still be used. Others as for
    /// [`Transfer::copy`].
    pub fn check(&mut self) -> Result<(), DeviceError> {
        self.usable()?;
        if !self.copied {
            return Ok(());
        }
        self.copied = false;
        let arrived = self.look();
        let wrong = self.kept(arrived)?;
        wrong.map_or(Ok(()), |how| {
            let text = format!("{}: what arrived is not what was sent: {how}", self.device);
            Err(DeviceError::new(Kind::WrongData, text))
        })
    }

    /// What is wrong with what arrived.
    fn look(&mut self) -> Result<Option<String>, DeviceError> {
        let mut wrong = None;
        for (memory, way) in self.ways.iter_mut().enumerate() {
            let found = match way {
                Way::Out { from } => {
                    let words = from.words();
                    self.copies.compare(memory, words.len(), piece_of(words))?
                }
                Way::In { into, sent } => {
                    let arrived = Hash::of(into.words()) == *sent;
                    invert(into.words_mut());
                    (!arrived).then(|| "the hash of what came to the host is another".into())
                }
                Way::Across { words } => self.copies.compare(1, *words, fill_with_pattern)?,
            };
            wrong = wrong.or(found);
        }
        Ok(wrong)
    }

    fn usable(&self) -> Result<(), DeviceError> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    fn kept<T>(&mut self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        result.inspect_err(|error| self.broken = Some(error.clone()))
    }
}

impl Way<'_> {
    fn route(&self) -> Route {
        match self {
            Self::Out { from } => {
                Route { toward: Toward::Device { from: from.start() }, bytes: from.bytes() }
            }
            Self::In { into, .. } => {
                Route { toward: Toward::Host { into: into.start() }, bytes: into.bytes() }
            }
            Self::Across { words } => {
                Route { toward: Toward::Peer, bytes: words * size_of::<u64>() }
            }
        }
    }
}

impl Copies {
    fn write(&mut self, memory: usize, word: usize, words: &[u64]) -> Result<(), DeviceError> {
        let at = word * size_of::<u64>();
        match self {
            Self::Streams(copies) => copies.write(memory, at, words),
            Self::Opencl(copies) => copies.write(memory, at, words),
        }
    }

    fn read(&mut self, memory: usize, word: usize, words: &mut [u64]) -> Result<(), DeviceError> {
        let at = word * size_of::<u64>();
        match self {
            Self::Streams(copies) => copies.read(memory, at, words),
            Self::Opencl(copies) => copies.read(memory, at, words),
        }
    }

    /// Sets the first `words` words of a device's memory to what is filled into each piece,
    /// which begins at the word that is given. Returns the hash of what was written.
    fn fill(
        &mut self,
        memory: usize,
        words: usize,
        fill: impl Fn(&mut [u64], usize),
    ) -> Result<Hash, DeviceError> {
        let mut hash = Hash::new();
        let mut piece = vec![0; PIECE.min(words)];
        for first in (0..words).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(words - first)];
            fill(piece, first);
            hash.add(piece);
            self.write(memory, first, piece)?;
        }
        Ok(hash)
    }

    /// How a device's memory differs from what is expected of each piece; sets it to that inverted.
    fn compare(
        &mut self,
        memory: usize,
        words: usize,
        expect: impl Fn(&mut [u64], usize),
    ) -> Result<Option<String>, DeviceError> {
        let mut wrong = None;
        let mut expected = vec![0; PIECE.min(words)];
        for first in (0..words).step_by(PIECE) {
            let expected = &mut expected[..PIECE.min(words - first)];
            expect(expected, first);
            let mut inverted = expected.to_vec();
            invert(&mut inverted);
            // A reading that does nothing leaves what nobody expects.
            let mut arrived = inverted.clone();
            self.read(memory, first, &mut arrived)?;
            self.write(memory, first, &inverted)?;
            let differs = first_difference(expected, &arrived);
            wrong = wrong.or(differs.map(|byte| first * size_of::<u64>() + byte));
        }
        let bytes = words * size_of::<u64>();
        Ok(wrong.map(|byte| format!("byte {byte} of {bytes} differs")))
    }
}

/// Fills pieces with these words.
fn piece_of(words: &[u64]) -> impl Fn(&mut [u64], usize) {
    |piece, first| piece.copy_from_slice(&words[first..first + piece.len()])
}

/// Fills pieces with the inverse of what another fills them with.
fn inverted(fill: impl Fn(&mut [u64], usize)) -> impl Fn(&mut [u64], usize) {
    move |piece, first| {
        fill(piece, first);
        invert(piece);
    }
}

/// A device in a message.
pub(crate) fn described(accelerator: &Accelerator) -> String {
    format!("{} ({})", accelerator.id, accelerator.name)
}

pub(crate) fn failed(device: &str, why: &str) -> DeviceError {
    DeviceError::new(Kind::Failed, format!("{device}: {why}"))
}

pub(crate) fn usable<Functions: Copy>(
    functions: &Result<Functions, NoDevices>,
    device: &str,
) -> Result<Functions, DeviceError> {
    functions.as_ref().copied().map_err(|why| failed(device, &why.reason))
}
