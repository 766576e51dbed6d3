//! The ports of a core: as Verilator's header has them, and as tests do, with each field of a structure as a port.

use std::fmt::Write as _;

/// A port of the module, or a field of one that is a structure: name, width in bits, direction.
pub struct Port {
    pub name: String,
    pub width: usize,
    pub input: bool,
}

/// Ports are the same if they look the same in Rust: 34 and 40 bits of a rate are both a `u64`.
impl PartialEq for Port {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.rust_type(), self.input) == (&other.name, other.rust_type(), other.input)
    }
}

impl Port {
    pub fn is_clock(&self) -> bool {
        self.name == "clk_i"
    }

    /// Words of 64 bits (of 32 in Verilator where it is wider than 64).
    pub fn wide(&self) -> bool {
        self.width > 64
    }

    pub fn words(&self) -> usize {
        self.width.div_ceil(32)
    }

    pub fn rust_type(&self) -> String {
        match self.width {
            1 => "bool".into(),
            2..=8 => "u8".into(),
            9..=16 => "u16".into(),
            17..=32 => "u32".into(),
            33..=64 => "u64".into(),
            _ => format!("[u32; {}]", self.words()),
        }
    }

    pub fn c_type(&self) -> String {
        match self.width {
            1..=8 => "uint8_t".into(),
            9..=16 => "uint16_t".into(),
            17..=32 => "uint32_t".into(),
            _ => "uint64_t".into(),
        }
    }
}

/// A structure of penstock_pkg: its fields and their bits, the lowest first.
type Structure = Vec<(&'static str, usize)>;

/// A beat of this many bits: for each octet of its data a bit of tkeep, and two marks.
fn axis(bits: usize) -> Structure {
    let octets = (bits - 2) / 9;
    vec![("tdata", 8 * octets), ("tkeep", octets), ("tlast", 1), ("tuser", 1)]
}

#[rustfmt::skip]
const AXIL_REQ: &[(&str, usize)] = &[
    ("rready", 1), ("arvalid", 1), ("arprot", 3), ("araddr", 16), ("bready", 1), ("wvalid", 1), ("wstrb", 4), ("wdata", 32),
    ("awvalid", 1), ("awprot", 3), ("awaddr", 16),
];
#[rustfmt::skip]
const AXIL_RSP: &[(&str, usize)] = &[
    ("rresp", 2), ("rdata", 32), ("rvalid", 1), ("arready", 1), ("bresp", 2), ("bvalid", 1), ("wready", 1), ("awready", 1),
];

/// The structures of a core's ports, beside each.
pub struct Ports(Vec<(Port, Option<Structure>)>);

impl Ports {
    /// Those in Verilator's header: lines as `VL_IN64(&rate_i,33,0);`. A stream's beat stands beside its valid.
    pub fn of(header: &str) -> Self {
        let port = |line: &str| {
            let (macro_name, rest) = line.trim().strip_prefix("VL_")?.split_once("(&")?;
            let input = macro_name.starts_with("IN");
            if !input && !macro_name.starts_with("OUT") {
                return None;
            }
            let mut parts = rest.trim_end_matches(");").split(',');
            let name = parts.next()?.to_owned();
            let msb: usize = parts.next()?.parse().ok()?;
            let lsb: usize = parts.next()?.parse().ok()?;
            Some(Port { name, width: msb - lsb + 1, input })
        };
        let ports: Vec<_> = header.lines().filter_map(port).collect();
        let structure = |port: &Port| match port.name.as_str() {
            "s_axil_i" | "req_i" => Some(AXIL_REQ.to_vec()),
            "s_axil_o" | "rsp_i" => Some(AXIL_RSP.to_vec()),
            name => {
                let valid = ports.iter().find(|p| p.name == format!("{name}_tvalid"))?;
                Some(axis(port.width / valid.width))
            }
        };
        let found: Vec<_> = ports.iter().map(structure).collect();
        Self(ports.into_iter().zip(found).collect())
    }

    /// As tests have them, by name. Several structures side by side are fields of as many elements.
    pub fn fields(&self) -> Vec<Port> {
        let mut all = Vec::new();
        for (port, structure) in &self.0 {
            let Some(fields) = structure else {
                all.push(Port { name: port.name.clone(), ..*port });
                continue;
            };
            let count = port.width / bits_of(fields);
            all.extend(fields.iter().map(|&(field, bits)| Port {
                name: name_of(port, field),
                width: count * bits,
                input: port.input,
            }));
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// C++ that gives a core its inputs from `in`, or `out` its outputs.
    pub fn copies(&self, input: bool) -> String {
        let mut c = String::new();
        for (port, structure) in self.0.iter().filter(|(port, _)| port.input == input && port.name != "clk_i") {
            let name = &port.name;
            let Some(fields) = structure else {
                let (to, from) = if input { ("core.", "in->") } else { ("out->", "core.") };
                let element = if port.wide() { "[i]" } else { "" };
                let each =
                    if port.wide() { format!("for (int i = 0; i < {}; ++i) ", port.words()) } else { String::new() };
                let _ = writeln!(c, "  {each}{to}{name}{element} = {from}{name}{element};");
                continue;
            };
            let all = bits_of(fields);
            let _ = writeln!(c, "  {{\n    uint32_t whole[{}] = {{}};", port.width.div_ceil(64) * 2);
            if !input {
                let _ = writeln!(c, "    std::memcpy(whole, &core.{name}, sizeof core.{name});");
            }
            let mut at = 0;
            for &(field, bits) in fields {
                let field = name_of(port, field);
                let count = port.width / all;
                let _ = writeln!(c, "    {{\n      uint32_t part[{}] = {{}};", (count * bits).div_ceil(64) * 2);
                let _ = if input {
                    writeln!(
                        c,
                        "      std::memcpy(part, &in->{field}, sizeof in->{field});\n      for (int i = 0; i < {count}; ++i) penstock_bits(part, i * {bits}, whole, i * {all} + {at}, {bits});\n    }}"
                    )
                } else {
                    writeln!(
                        c,
                        "      for (int i = 0; i < {count}; ++i) penstock_bits(whole, i * {all} + {at}, part, i * {bits}, {bits});\n      std::memcpy(&out->{field}, part, sizeof out->{field});\n    }}"
                    )
                };
                at += bits;
            }
            if input {
                let _ = writeln!(c, "    std::memcpy(&core.{name}, whole, sizeof core.{name});");
            }
            c.push_str("  }\n");
        }
        c
    }
}

fn bits_of(fields: &[(&str, usize)]) -> usize {
    fields.iter().map(|(_, bits)| bits).sum()
}

fn name_of(port: &Port, field: &str) -> String {
    let prefix = port.name.trim_end_matches("_i").trim_end_matches("_o");
    format!("{prefix}_{field}")
}

/// Name and bits of inputs and of outputs, as the head of a release's vectors has them: those of this build, where others with the same
/// types may have more or fewer bits.
pub fn heads_of<'a>(ports: impl Iterator<Item = &'a Port>) -> (String, String) {
    let (inputs, outputs): (Vec<_>, Vec<_>) = ports.partition(|port| port.input);
    let head = |ports: Vec<&Port>| ports.iter().map(|port| format!("(\"{}\", {}), ", port.name, port.width)).collect();
    (head(inputs), head(outputs))
}

/// The values of ports as a release's vectors have them.
pub fn recorded_of<'a>(kind: &str, ports: impl Iterator<Item = &'a Port>) -> String {
    let mut hex = String::new();
    for port in ports {
        let name = &port.name;
        let _ = if port.wide() {
            writeln!(
                hex,
                "            text.push(' ');\n            for word in self.{name}.iter().rev() {{ let _ = write!(text, \"{{word:08x}}\"); }}"
            )
        } else {
            let value = if port.width == 1 { format!("u8::from(self.{name})") } else { format!("self.{name}") };
            writeln!(hex, "            let _ = write!(text, \" {{:x}}\", {value});")
        };
    }
    // A bench that only checks may have none in one direction.
    if !hex.is_empty() {
        let head = "        fn hex(&self, text: &mut String) {\n            use core::fmt::Write as _;\n";
        hex = format!("{head}{hex}        }}\n");
    }
    format!(
        "    impl crate::recorded::Ports for {kind} {{
{hex}    }}
"
    )
}

/// Copies bits between words.
pub const HELPER: &str = "#include <cstdint>
#ifndef PENSTOCK_BITS
#define PENSTOCK_BITS
static inline void penstock_bits(const uint32_t* from, int at, uint32_t* to, int to_at, int width) {
  while (width > 0) {
    int n = 32 - (at % 32 > to_at % 32 ? at % 32 : to_at % 32);
    if (n > width) n = width;
    const uint32_t mask = (n == 32 ? ~0u : (1u << n) - 1) << to_at % 32;
    to[to_at / 32] = (to[to_at / 32] & ~mask) | (from[at / 32] >> at % 32 << to_at % 32 & mask);
    at += n, to_at += n, width -= n;
  }
}
#endif
";
