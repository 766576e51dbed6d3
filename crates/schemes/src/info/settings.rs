//! Values of parameters from a line of text, for callers that have no scenario: `profile = hpcc-100g, k_min = 40 KB`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{AUTO, Bound, Info, Value};

/// Why such a text is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is no such parameter or profile.
    Unknown(String),
    /// A value is not readable, out of its range, or below a parameter that bounds it.
    Value(String),
}

impl Info {
    /// A value for each parameter: of the text, else of its profile, else the default. Settings are `name = value`, with commas,
    /// semicolons or ends of lines between them.
    ///
    /// # Errors
    /// The reason, as a message.
    pub fn read(&self, text: &str) -> Result<Vec<Value>, Refused> {
        let mut values: Vec<Value> = self.parameters.iter().map(|p| p.default).collect();
        let settings = text.split([',', ';', '\n']).map(str::trim).filter(|setting| !setting.is_empty());
        let mut own = Vec::new();
        for setting in settings {
            let Some((name, value)) = setting.split_once('=') else {
                return Err(Refused::Value(format!("\"{setting}\" is not of the form name = value")));
            };
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            if name == "profile" {
                let profile = self.profile(value).ok_or_else(|| {
                    let names: Vec<&str> = self.profiles.iter().map(|profile| profile.name).collect();
                    let known = if names.is_empty() { "it has none".into() } else { names.join(", ") };
                    Refused::Unknown(format!("{} has no profile \"{value}\" ({known})", self.name))
                })?;
                for (name, value) in profile.settings {
                    if let Some(at) = self.parameters.iter().position(|p| p.name == *name) {
                        values[at] = *value;
                    }
                }
            } else {
                own.push((name, value));
            }
        }
        for (name, text) in own {
            let at = self
                .parameters
                .iter()
                .position(|p| p.name == name)
                .ok_or_else(|| Refused::Unknown(format!("{} has no parameter \"{name}\"", self.name)))?;
            let parameter = &self.parameters[at];
            if text == AUTO {
                return Err(Refused::Value(format!(
                    "{name} follows from a network, which is not known here: write its value"
                )));
            }
            let value = parameter.unit.read(text).map_err(|error| {
                let said = match error.hint {
                    Some(hint) => format!("{name}: {}: {hint}", error.message),
                    None => format!("{name}: {}", error.message),
                };
                Refused::Value(said)
            })?;
            if !parameter.accepts(value) {
                let range = format!("{} to {}", parameter.minimum, parameter.maximum);
                return Err(Refused::Value(format!("{name}: {value} is out of range, {range}")));
            }
            values[at] = value;
        }
        for (parameter, value) in self.parameters.iter().zip(&values) {
            let Some(Bound::AtLeast(other)) = parameter.bound else { continue };
            let least = self.parameters.iter().zip(&values).find(|(p, _)| p.name == other).map(|(_, value)| value);
            if let Some(least) = least.filter(|least| value < *least) {
                return Err(Refused::Value(format!("{}: {value} is below {other}, {least}", parameter.name)));
            }
        }
        Ok(values)
    }
}
