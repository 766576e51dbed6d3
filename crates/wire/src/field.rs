//! Fields: where they lie in a format, of which type they are, and the macro that makes a format's packet from their list.
//!
//! A format declares each field once, in `format!`. Its accessors, its setters, its `Repr`, the output of a decoder, the
//! input of an encoder and the reference page follow from that line.

use core::fmt;

/// A MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The address in the lower 48 bits of a number, highest octet first.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        let [_, _, a, b, c, d, e, f] = number.to_be_bytes();
        Self([a, b, c, d, e, f])
    }

    /// The address as a number of 48 bits.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    /// The address is a group's.
    #[must_use]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// How a field's value is read by people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// A decimal number.
    Number,
    /// A decimal number in two's complement.
    Signed,
    /// 0 or 1.
    Flag,
    /// A hexadecimal number of all its digits.
    Hex,
    /// A MAC address.
    Mac,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
}

/// One field of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in Rust and Python, and in the text of a decoder.
    pub name: &'static str,
    /// Its name in the standard.
    pub label: &'static str,
    /// Its first bit, counted from 0 in the order in which bits are written: the highest of each octet first.
    pub first: usize,
    /// The number of its bits, 1 to 128.
    pub bits: usize,
    /// How its value is shown.
    pub show: Show,
    /// The standard reserves it: sent as 0, ignored when it comes.
    pub reserved: bool,
    /// Its value where an encoder is given none.
    pub usual: u128,
    /// As text, the one value that it may have, which is its usual one.
    pub fixed: Option<&'static str>,
    /// Its meaning.
    pub meaning: &'static str,
}

impl Field {
    /// The octet in which it begins.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.first / 8
    }

    /// Octets from the start of the format to the field's end.
    #[must_use]
    pub const fn end(&self) -> usize {
        (self.first + self.bits).div_ceil(8)
    }

    /// Its value in octets that begin with the format, as an unsigned number. Octets that are not there read as 0.
    #[must_use]
    pub fn read(&self, octets: &[u8]) -> u128 {
        read(octets, self.first, self.bits)
    }

    /// Its value in two's complement.
    #[must_use]
    pub fn read_signed(&self, octets: &[u8]) -> i128 {
        let unused = 128 - self.bits;
        ((self.read(octets) << unused) as i128) >> unused
    }

    /// Writes a value. Bits beyond the field's are left out, and so are octets that are not there.
    pub fn write(&self, octets: &mut [u8], value: u128) {
        write(octets, self.first, self.bits, value);
    }

    /// The largest value as an unsigned number.
    #[must_use]
    pub const fn largest(&self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }
}

/// The value of `bits` bits from bit `first` on. Octets that are not there read as 0.
#[inline]
pub(crate) fn read(octets: &[u8], first: usize, bits: usize) -> u128 {
    let (start, end) = (first / 8, (first + bits).div_ceil(8));
    let below = end * 8 - first - bits;
    // At most 16 octets: a field of 128 bits that begins within an octet would have 17, but no format has one.
    let value = (start..end).fold(0u128, |sum, at| sum << 8 | u128::from(octets.get(at).copied().unwrap_or(0)));
    value >> below & (u128::MAX >> (128 - bits))
}

/// Writes the lower `bits` bits of `value` from bit `first` on. Octets that are not there are left out.
#[inline]
pub(crate) fn write(octets: &mut [u8], first: usize, bits: usize, value: u128) {
    let (start, end) = (first / 8, (first + bits).div_ceil(8));
    let below = end * 8 - first - bits;
    let mask = u128::MAX >> (128 - bits);
    let (mut value, mut mask) = ((value & mask) << below, mask << below);
    for at in (start..end).rev() {
        if let Some(octet) = octets.get_mut(at) {
            *octet = *octet & !(mask as u8) | value as u8;
        }
        value >>= 8;
        mask >>= 8;
    }
}

/// A type that a field can have.
pub trait Value: Copy {
    /// How it is shown, unless the format says otherwise.
    const SHOW: Show;
    /// The value with these bits; those that it does not have are left out.
    fn from_bits(bits: u128) -> Self;
    /// Its bits, those of a negative number in two's complement of 128 bits.
    fn to_bits(self) -> u128;
    /// It needs no more than this number of bits.
    #[must_use]
    fn fits(self, bits: usize) -> bool {
        bits >= 128 || self.to_bits() >> bits == 0
    }
}

macro_rules! numbers {
    ($($unsigned:ty, $signed:ty;)*) => { $(
        impl Value for $unsigned {
            const SHOW: Show = Show::Number;
            fn from_bits(bits: u128) -> Self {
                bits as Self
            }
            fn to_bits(self) -> u128 {
                u128::from(self)
            }
        }

        // A signed field has as many bits as its type.
        impl Value for $signed {
            const SHOW: Show = Show::Signed;
            fn from_bits(bits: u128) -> Self {
                bits as $unsigned as Self
            }
            fn to_bits(self) -> u128 {
                i128::from(self) as u128
            }
            fn fits(self, bits: usize) -> bool {
                bits >= Self::BITS as usize
            }
        }
    )* };
}

numbers! { u8, i8; u16, i16; u32, i32; u64, i64; }

impl Value for bool {
    const SHOW: Show = Show::Flag;
    fn from_bits(bits: u128) -> Self {
        bits & 1 == 1
    }
    fn to_bits(self) -> u128 {
        u128::from(self)
    }
}

impl Value for MacAddress {
    const SHOW: Show = Show::Mac;
    fn from_bits(bits: u128) -> Self {
        Self::from_u64(bits as u64)
    }
    fn to_bits(self) -> u128 {
        u128::from(self.to_u64())
    }
}

impl Value for [u8; 3] {
    const SHOW: Show = Show::Hex;
    fn from_bits(bits: u128) -> Self {
        let [_, octets @ ..] = (bits as u32).to_be_bytes();
        octets
    }
    fn to_bits(self) -> u128 {
        let [a, b, c] = self;
        u128::from(u32::from_be_bytes([0, a, b, c]))
    }
}

impl Value for [u8; 4] {
    const SHOW: Show = Show::Ipv4;
    fn from_bits(bits: u128) -> Self {
        (bits as u32).to_be_bytes()
    }
    fn to_bits(self) -> u128 {
        u128::from(u32::from_be_bytes(self))
    }
}

impl Value for [u8; 16] {
    const SHOW: Show = Show::Ipv6;
    fn from_bits(bits: u128) -> Self {
        bits.to_be_bytes()
    }
    fn to_bits(self) -> u128 {
        u128::from_be_bytes(self)
    }
}

/// A format: its name, its fields, and where they are defined.
#[derive(Debug)]
pub struct Format {
    /// Its name, such as `cnm`.
    pub name: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// Standard and clause, RFC and section, paper, or that it is Penstock's own.
    pub source: &'static str,
    /// Octets of its fields.
    pub octets: usize,
    /// Its fields: those of one value, those of a `Repr`, those that are reserved.
    pub fields: &'static [Field],
    /// Of a message or a tag that Wireshark and scapy do not know, all that they need besides the fields.
    pub message: Option<crate::Message>,
    /// Octets of this one, which is at the start of these, with the parts behind the fields that belong to it.
    pub measure: fn(&[u8]) -> Result<usize, crate::Error>,
    /// Whether its values are legal.
    pub legal: fn(&[u8]) -> Result<(), crate::Error>,
}

impl Format {
    /// The field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// That a part is not whole, of which `has` octets are there.
    pub(crate) fn truncated(&self, field: &'static str, offset: usize, needs: usize, has: usize) -> crate::Error {
        crate::Error::Truncated { format: self.name, field, offset, needs, has }
    }

    /// That a field has a value which is not allowed.
    pub(crate) fn illegal(&self, field: &'static str, octets: &[u8], wanted: &'static str) -> crate::Error {
        let known = self.field(field);
        let (label, offset) = known.map_or((field, 0), |known| (known.label, known.offset()));
        let found = known.map_or(0, |known| known.read(octets) as u64);
        crate::Error::Illegal { format: self.name, field: label, offset, found, wanted }
    }

    /// Whether all fields are there; otherwise the first that is not whole.
    pub(crate) fn whole(&self, octets: &[u8]) -> Result<(), crate::Error> {
        if octets.len() >= self.octets {
            return Ok(());
        }
        let cut = self.fields.iter().filter(|field| field.end() > octets.len()).min_by_key(|field| field.first);
        let (label, offset, end) = cut.map_or(("header", 0, self.octets), |f| (f.label, f.offset(), f.end()));
        Err(self.truncated(label, offset, end - offset, octets.len().saturating_sub(offset)))
    }
}

/// Makes a format's `FORMAT`, `Packet` and `Repr` from the list of its fields. A format that is no `message` has two functions
/// beside it: `measure`, the octets of a packet whose fields are whole, and `legal`, whether its values are. A message has them
/// from its declaration.
macro_rules! format {
    (
        $name:literal, $title:literal, $source:literal, $octets:literal octets;
        $(fixed { $( $(#[doc = $fixed_meaning:literal])+ $fixed:ident, $set_fixed:ident: $fixed_type:ty = $fixed_label:literal, $fixed_first:literal..$fixed_end:literal is $value:literal; )* })?
        $( $(#[doc = $meaning:literal])+ $get:ident, $set:ident: $type:ty = $label:literal, $first:literal..$end:literal $(as $show:ident)? $(, usually $usual:expr)?; )*
        $(reserved { $( $(#[doc = $rest_meaning:literal])+ $rest:ident, $set_rest:ident: $rest_type:ty = $rest_label:literal, $rest_first:literal..$rest_end:literal; )* })?
        $(message {
            $abbreviation:literal, $ether_type:expr, $info:literal;
            $(strength $strength:ident in $unit:literal $(times $factor:literal)? $(unless $flag:ident is $none:expr)?;)?
            $(sampled $sampled:ident = $sampled_label:literal, $length:ident in 0..=$most:literal;)?
            $(legal $also:ident;)?
        })?
    ) => {
        /// The format, with each of its fields.
        pub const FORMAT: $crate::Format = $crate::Format {
            name: $name,
            title: $title,
            source: $source,
            octets: $octets,
            fields: &[
                $($( $crate::Field {
                    name: stringify!($fixed),
                    label: $fixed_label,
                    first: $fixed_first,
                    bits: $fixed_end - $fixed_first,
                    show: <$fixed_type as $crate::Value>::SHOW,
                    reserved: false,
                    usual: $value,
                    fixed: Some(stringify!($value)),
                    meaning: concat!($($fixed_meaning),+),
                }, )*)?
                $( $crate::Field {
                    name: stringify!($get),
                    label: $label,
                    first: $first,
                    bits: $end - $first,
                    show: $crate::field::format!(@show $type $(, $show)?),
                    reserved: false,
                    usual: $crate::field::format!(@usual $($usual)?),
                    fixed: None,
                    meaning: concat!($($meaning),+),
                }, )*
                $($( $crate::Field {
                    name: stringify!($rest),
                    label: $rest_label,
                    first: $rest_first,
                    bits: $rest_end - $rest_first,
                    show: $crate::Show::Hex,
                    reserved: true,
                    usual: 0,
                    fixed: None,
                    meaning: concat!($($rest_meaning),+),
                }, )*)?
            ],
            message: $crate::field::format!(@optional $({
                $crate::Message {
                    abbreviation: $abbreviation,
                    ether_type: $ether_type,
                    info: $info,
                    strength: $crate::field::format!(@optional $({
                        $crate::StrengthField {
                            field: stringify!($strength),
                            unit: $unit,
                            factor: $crate::field::format!(@factor $($factor)?),
                            unless: $crate::field::format!(@optional $({ (stringify!($flag), $none) })?),
                        }
                    })?),
                    sampled: $crate::field::format!(@optional $({
                        $crate::Sampled {
                            name: stringify!($sampled),
                            label: $sampled_label,
                            length: stringify!($length),
                            most: $most,
                            range: concat!("0 to ", $most),
                        }
                    })?),
                }
            })?),
            measure: |octets| {
                FORMAT.whole(octets)?;
                $crate::field::format!(@measure octets $($abbreviation)?)
            },
            legal: |octets| $crate::field::format!(@legal octets $({ $abbreviation $($also)? })?),
        };

        $($(
            /// The most octets of a frame that a message holds.
            pub const MSDU_MOST: u16 = $most;
        )?)?

        /// Octets that hold one. Every accessor is safe on any octets.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Packet<T> {
            octets: T,
        }

        impl<T: AsRef<[u8]>> Packet<T> {
            /// The packet at the start of `octets`; behind it others may stand.
            ///
            /// # Errors
            /// [`Error::Truncated`](crate::Error::Truncated) if they end before it does,
            /// [`Error::Illegal`](crate::Error::Illegal) if a length in it cannot be.
            pub fn new_checked(octets: T) -> Result<Self, $crate::Error> {
                let needs = (FORMAT.measure)(octets.as_ref())?;
                let has = octets.as_ref().len();
                if has < needs {
                    return Err(FORMAT.truncated("packet", 0, needs, has));
                }
                Ok(Self { octets })
            }

            /// The octets.
            #[must_use]
            pub fn into_inner(self) -> T {
                self.octets
            }

            $(
                $(#[doc = $meaning])+
                #[must_use]
                #[inline]
                pub fn $get(&self) -> $type {
                    $crate::Value::from_bits($crate::field::read(self.octets.as_ref(), $first, $end - $first))
                }
            )*
            $($(
                $(#[doc = $fixed_meaning])+
                #[must_use]
                #[inline]
                pub fn $fixed(&self) -> $fixed_type {
                    $crate::Value::from_bits($crate::field::read(self.octets.as_ref(), $fixed_first, $fixed_end - $fixed_first))
                }
            )*)?
            $($(
                /// The first octets of a frame of the flow: its EtherType and the octets behind it.
                #[must_use]
                pub fn $sampled(&self) -> &[u8] {
                    let octets = self.octets.as_ref();
                    let end = (Repr::OCTETS + usize::from(self.$length())).min(octets.len());
                    octets.get(Repr::OCTETS..end).unwrap_or_default()
                }
            )?)?
            $($(
                $(#[doc = $rest_meaning])+
                #[must_use]
                #[inline]
                pub fn $rest(&self) -> $rest_type {
                    $crate::Value::from_bits($crate::field::read(self.octets.as_ref(), $rest_first, $rest_end - $rest_first))
                }
            )*)?
        }

        impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
            $(
                #[doc = concat!("Sets ", $label, "; bits that the field does not have are left out.")]
                #[inline]
                pub fn $set(&mut self, value: $type) {
                    $crate::field::write(self.octets.as_mut(), $first, $end - $first, $crate::Value::to_bits(value));
                }
            )*
            $($(
                #[doc = concat!("Sets ", $fixed_label, ", which senders leave ", stringify!($value), ".")]
                #[inline]
                pub fn $set_fixed(&mut self, value: $fixed_type) {
                    $crate::field::write(self.octets.as_mut(), $fixed_first, $fixed_end - $fixed_first, $crate::Value::to_bits(value));
                }
            )*)?
            $($(
                #[doc = concat!("Sets ", $rest_label, ", which senders leave 0.")]
                #[inline]
                pub fn $set_rest(&mut self, value: $rest_type) {
                    $crate::field::write(self.octets.as_mut(), $rest_first, $rest_end - $rest_first, $crate::Value::to_bits(value));
                }
            )*)?
        }

        /// The values of its fields.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Repr {
            $( $(#[doc = $meaning])+ pub $get: $type, )*
        }

        impl Repr {
            /// Octets of the fields.
            pub const OCTETS: usize = $octets;

            /// The values in a packet. Reserved bits are ignored.
            ///
            /// # Errors
            /// [`Error::Illegal`](crate::Error::Illegal) if the format does not allow a value.
            pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, $crate::Error> {
                (FORMAT.legal)(packet.octets.as_ref())?;
                Ok(Self { $( $get: packet.$get() ),* })
            }

            /// Writes the fields to the start of `octets`, reserved bits as 0, and answers how many octets they are.
            ///
            /// # Errors
            /// [`Error::NoRoom`](crate::Error::NoRoom) if they do not fit, [`Error::TooLarge`](crate::Error::TooLarge) if a
            /// value does not fit its field, [`Error::Illegal`](crate::Error::Illegal) if the format does not allow it.
            pub fn emit(&self, octets: &mut [u8]) -> Result<usize, $crate::Error> {
                let has = octets.len();
                let Some(place) = octets.get_mut(..$octets) else {
                    return Err($crate::Error::NoRoom { format: $name, needs: $octets, has });
                };
                $( if !$crate::Value::fits(self.$get, $end - $first) {
                    return Err($crate::Error::TooLarge { format: $name, field: $label, bits: $end - $first });
                } )*
                let mut packet = Packet { octets: [0u8; $octets] };
                $( packet.$set(self.$get); )*
                $($( packet.$set_fixed($value); )*)?
                (FORMAT.legal)(&packet.octets)?;
                place.copy_from_slice(&packet.octets);
                Ok($octets)
            }
        }
    };
    (@optional) => { None };
    (@optional { $value:expr }) => { Some($value) };
    (@usual) => { 0 };
    (@usual $usual:expr) => { $usual as u128 };
    (@factor) => { 1 };
    (@factor $factor:literal) => { $factor };
    (@measure $octets:ident) => { measure($octets) };
    (@measure $octets:ident $message:literal) => { FORMAT.with_sampled($octets) };
    (@legal $octets:ident) => { legal($octets) };
    (@legal $octets:ident { $message:literal }) => { FORMAT.fixed($octets).and(FORMAT.sampled_octets($octets)).map(drop) };
    (@legal $octets:ident { $message:literal $also:ident }) => {{
        FORMAT.fixed($octets).and(FORMAT.sampled_octets($octets))?;
        $also($octets)
    }};
    (@show $type:ty, $show:ident) => { $crate::Show::$show };
    (@show $type:ty) => { <$type as $crate::Value>::SHOW };
}

pub(crate) use format;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_where_the_standard_draws_them() {
        let octets = [0b1010_0110, 0b0110_1100, 0xff];
        assert_eq!(read(&octets, 0, 4), 0b1010);
        assert_eq!(read(&octets, 4, 6), 0b01_1001);
        assert_eq!(read(&octets, 10, 6), 0b10_1100);
        // The octets end within the field: the rest is 0.
        assert_eq!(read(&octets, 16, 16), 0xff00);
        let mut out = [0xff; 3];
        write(&mut out, 4, 6, 0);
        assert_eq!(out, [0xf0, 0x3f, 0xff]);
        write(&mut out, 20, 16, 0x1234);
        assert_eq!(out, [0xf0, 0x3f, 0xf1]);
        write(&mut out, 800, 128, 1);
        assert_eq!(out, [0xf0, 0x3f, 0xf1]);
    }

    #[test]
    fn addresses_are_read_and_shown() {
        let mac = MacAddress::from_u64(0x0200_0000_00aa);
        assert_eq!((mac.to_u64(), mac.is_group()), (0x0200_0000_00aa, false));
        assert_eq!(alloc::format!("{mac}"), "02:00:00:00:00:aa");
        assert!(MacAddress([0x01, 0x80, 0xc2, 0, 0, 1]).is_group());
    }

    #[test]
    fn numbers_that_need_more_bits_do_not_fit() {
        assert!(63u8.fits(6) && !64u8.fits(6));
        assert!((-1i16).fits(16) && i64::MIN.fits(64) && !(-1i16).fits(8));
        assert!([255u8; 16].fits(128));
    }
}
