//! A library's description of its scheme, in the layout of C: `penstock_scheme` of the header.

use core::ffi::c_char;
use core::ptr;

use super::abi::{Functions, VERSION};

/// A parameter (`penstock_parameter`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: *const c_char,
    /// Its unit: 0 octets, 1 threshold, 2 time, 3 rate, 4 count, 5 real, 6 choice, 7 switch.
    pub unit: u64,
    /// The value of a scenario without this key.
    pub standard: u64,
    /// The least legal value.
    pub minimum: u64,
    /// The largest legal value.
    pub maximum: u64,
    /// The words of a choice, separated by `|`.
    pub words: *const c_char,
    /// Standard and clause, or paper and equation.
    pub source: *const c_char,
    /// Its effect.
    pub description: *const c_char,
    /// A limit besides the range: `at least NAME`, `at most line`, or null.
    pub bound: *const c_char,
    /// Where alone it has an effect: `NAME = WORD | WORD`, or null for everywhere.
    pub when: *const c_char,
}

/// A value of a profile (`penstock_setting`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The name of the parameter.
    pub parameter: *const c_char,
    /// Its value, as in [`Parameter::standard`].
    pub value: u64,
}

/// A named set of values (`penstock_profile`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// Its name.
    pub name: *const c_char,
    /// Where the values come from.
    pub description: *const c_char,
    /// The values that differ from the standard ones.
    pub settings: *const Setting,
    /// How many there are.
    pub setting_count: u64,
}

/// A recorded variable (`penstock_variable`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: *const c_char,
    /// Its meaning.
    pub description: *const c_char,
}

/// A scheme (`penstock_scheme`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The version of the interface.
    pub version: u32,
    /// Octets of this structure.
    pub size: u32,
    /// The name.
    pub name: *const c_char,
    /// The full name.
    pub title: *const c_char,
    /// Where it is defined.
    pub source: *const c_char,
    /// How it works.
    pub description: *const c_char,
    /// The parameters.
    pub parameters: *const Parameter,
    /// The profiles.
    pub profiles: *const Profile,
    /// Variables of congestion points.
    pub cp_variables: *const Variable,
    /// Variables of reaction points.
    pub rp_variables: *const Variable,
    /// Variables of signals.
    pub signal_variables: *const Variable,
    /// The threshold at which the queue is to be held.
    pub set_point: *const c_char,
    /// The word that points get.
    pub user: u64,
    /// How many parameters there are.
    pub parameter_count: u32,
    /// And variables of congestion points.
    pub cp_variable_count: u32,
    /// Of reaction points.
    pub rp_variable_count: u32,
    /// Of signals.
    pub signal_variable_count: u32,
    /// Of profiles.
    pub profile_count: u32,
    /// Memory of a congestion point, a notification point and a reaction point, octets.
    pub memory: [u32; 3],
    /// Bits of `PENSTOCK_ACKNOWLEDGES` and its neighbours.
    pub properties: u32,
    /// Bits of `PENSTOCK_ACTION_MARKS` and its neighbours.
    pub actions: u32,
    /// Octets of a tag.
    pub tag_octets: u16,
    /// Octets of an echo.
    pub echo_octets: u16,
    /// Octets of a signal.
    pub signal_octets: u16,
    /// Zero.
    pub reserved: [u8; 2],
    /// The functions.
    pub functions: Functions,
}

impl Default for Description {
    /// A scheme without name and functions.
    fn default() -> Self {
        let (text, variables) = (ptr::null(), ptr::null());
        Self {
            version: VERSION,
            size: size_of::<Self>() as u32,
            name: text,
            title: text,
            source: text,
            description: text,
            parameters: ptr::null(),
            profiles: ptr::null(),
            cp_variables: variables,
            rp_variables: variables,
            signal_variables: variables,
            set_point: text,
            user: 0,
            parameter_count: 0,
            cp_variable_count: 0,
            rp_variable_count: 0,
            signal_variable_count: 0,
            profile_count: 0,
            memory: [0; 3],
            properties: 0,
            actions: 0,
            tag_octets: 0,
            echo_octets: 0,
            signal_octets: 0,
            reserved: [0; 2],
            functions: Functions::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::mem::{offset_of, size_of};

    use super::super::abi::{Ack, Call, Echo, Frame, Limits, Place, Queue, Ramp, Release, Setup, Signal, Tag};

    use super::*;

    /// The numbers of `PENSTOCK_CHECK` in the header.
    #[test]
    fn the_layout_is_that_of_the_header() {
        assert_eq!((size_of::<Tag>(), offset_of!(Tag, label), offset_of!(Tag, marked)), (40, 32, 33));
        assert_eq!((size_of::<Echo>(), offset_of!(Echo, marked)), (40, 32));
        assert_eq!((size_of::<Signal>(), offset_of!(Signal, octets), offset_of!(Signal, kind)), (40, 32, 34));
        assert_eq!((size_of::<Frame<'_>>(), offset_of!(Frame<'_>, tag), offset_of!(Frame<'_>, flow)), (40, 16, 24));
        assert_eq!((offset_of!(Frame<'_>, octets), offset_of!(Frame<'_>, weight)), (28, 30));
        assert_eq!((offset_of!(Frame<'_>, last), offset_of!(Frame<'_>, dropped)), (32, 34));
        assert_eq!((size_of::<Queue>(), offset_of!(Queue, frames), offset_of!(Queue, paused)), (32, 24, 28));
        assert_eq!((size_of::<Place>(), offset_of!(Place, phase)), (32, 24));
        assert_eq!((size_of::<Ramp>(), offset_of!(Ramp, p_max)), (24, 16));
        assert_eq!((size_of::<Release>(), offset_of!(Release, octets), offset_of!(Release, last)), (16, 12, 14));
        assert_eq!((size_of::<Ack>(), offset_of!(Ack, echo)), (64, 24));
        assert_eq!((size_of::<Limits>(), offset_of!(Limits, timeout)), (32, 16));
        assert_eq!((offset_of!(Limits, limiting), offset_of!(Limits, gap)), (24, 26));
        assert_eq!((size_of::<Call<'_>>(), offset_of!(Call<'_>, draw), offset_of!(Call<'_>, send)), (56, 8, 16));
        assert_eq!((size_of::<Setup<'_>>(), size_of::<Variable>()), (16, 16));
        assert_eq!((size_of::<Parameter>(), offset_of!(Parameter, standard)), (80, 16));
        assert_eq!((offset_of!(Parameter, words), offset_of!(Parameter, bound)), (40, 64));
        assert_eq!((size_of::<Setting>(), size_of::<Profile>()), (16, 32));
        assert_eq!((offset_of!(Profile, settings), offset_of!(Description, profiles)), (16, 48));
        assert_eq!(size_of::<Functions>(), 30 * 8);
        assert_eq!((size_of::<Description>(), offset_of!(Description, functions)), (144 + 30 * 8, 144));
        assert_eq!((offset_of!(Description, parameter_count), offset_of!(Description, tag_octets)), (96, 136));
    }
}
