//! The errors of octets that are no frame, and of values that cannot become one.

use core::fmt;

/// Why octets are no frame of a format, or values cannot become one. Offsets count octets from the start of the format, or
/// of the frame after [`Error::behind`] was given the start of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The octets end before the field does.
    Truncated {
        /// The format, such as `cnm`.
        format: &'static str,
        /// The field or part that is not whole.
        field: &'static str,
        /// Where it begins.
        offset: usize,
        /// The number of octets that it has.
        needs: usize,
        /// The number of octets that are there of it.
        has: usize,
    },
    /// A field has a value that the format does not allow.
    Illegal {
        /// The format.
        format: &'static str,
        /// The field.
        field: &'static str,
        /// Where it begins.
        offset: usize,
        /// Its value.
        found: u64,
        /// The values that are right.
        wanted: &'static str,
    },
    /// A value has more bits than its field.
    TooLarge {
        /// The format.
        format: &'static str,
        /// The field.
        field: &'static str,
        /// Its bits.
        bits: usize,
    },
    /// The buffer is too short for the octets that are to be written.
    NoRoom {
        /// The format.
        format: &'static str,
        /// The number of octets that it takes.
        needs: usize,
        /// The number of octets that the buffer has.
        has: usize,
    },
    /// A checksum does not fit to its data.
    Checksum {
        /// The format.
        format: &'static str,
        /// Where the checksum is.
        offset: usize,
        /// The checksum in the frame.
        found: u32,
        /// The checksum of the data.
        wanted: u32,
    },
}

impl Error {
    /// The same error for a format that begins `octets` behind the start of the frame.
    #[must_use]
    pub fn behind(mut self, octets: usize) -> Self {
        match &mut self {
            Self::Truncated { offset, .. } | Self::Illegal { offset, .. } | Self::Checksum { offset, .. } => {
                *offset = offset.saturating_add(octets);
            }
            Self::TooLarge { .. } | Self::NoRoom { .. } => {}
        }
        self
    }

    /// The format that is wrong.
    #[must_use]
    pub fn format(&self) -> &'static str {
        match *self {
            Self::Truncated { format, .. }
            | Self::Illegal { format, .. }
            | Self::TooLarge { format, .. }
            | Self::NoRoom { format, .. }
            | Self::Checksum { format, .. } => format,
        }
    }
}

impl Error {
    /// The kind of fault, the same for all frames that have it: the part that is cut off, the field, or `checksum`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match *self {
            Self::Truncated { field, .. } | Self::Illegal { field, .. } | Self::TooLarge { field, .. } => field,
            Self::NoRoom { .. } => "packet",
            Self::Checksum { .. } => "checksum",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { format, field, offset, needs, has } => {
                write!(f, "{format}: {field} at octet {offset} is cut off: {has} of {needs} octets are there")
            }
            Self::Illegal { format, field, offset, found, wanted } => {
                write!(f, "{format}: {field} at octet {offset} is {found}, and should be {wanted}")
            }
            Self::TooLarge { format, field, bits } => {
                write!(f, "{format}: {field} has {bits} bits, and the value needs more")
            }
            Self::NoRoom { format, needs, has } => {
                write!(f, "{format}: takes {needs} octets, but the buffer has {has}")
            }
            Self::Checksum { format, offset, found, wanted } => {
                write!(f, "{format}: the checksum at octet {offset} is {found:#06x}, and should be {wanted:#06x}")
            }
        }
    }
}

impl core::error::Error for Error {}
