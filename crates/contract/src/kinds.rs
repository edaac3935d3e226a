//! The kinds of JSON value, as sets, and the integers that a type holds.

use serde_json::Value;

/// Below this magnitude every whole number has exactly one `f64`, so no digit was lost on the way.
pub(crate) const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// A set of kinds of JSON value. `INTEGER` is a number without fraction, `NUMBER` any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const NUMBER: Self = Self(8);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);
    pub(crate) const ALL_BUT_NULL: Self = Self(126);

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self::NUMBER,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::NUMBER),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    /// The kinds one schema node allows by itself.
    pub(crate) fn allowed_by(node: &Value) -> Self {
        let Value::Object(schema) = node else {
            return if node == &Value::Bool(false) { Self::NONE } else { Self::ALL };
        };
        match schema.get("type") {
            Some(Value::String(name)) => return Self::named(name),
            Some(Value::Array(names)) => {
                return names.iter().filter_map(Value::as_str).map(Self::named).fold(Self::NONE, Self::or);
            }
            _ => {}
        }
        if let Some(constant) = schema.get("const") {
            return Self::of_number_or(constant);
        }
        match schema.get("enum") {
            Some(Value::Array(options)) => options.iter().map(Self::of_number_or).fold(Self::NONE, Self::or),
            _ => Self::ALL,
        }
    }

    /// JSON does not tell `1` from `1.0`, so a listed number allows both spellings.
    fn of_number_or(value: &Value) -> Self {
        if value.is_number() { Self::INTEGER.or(Self::NUMBER) } else { Self::of(value) }
    }
}

/// An inclusive range of integers, wide enough for every 64-bit type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: i128,
    pub(crate) to: i128,
}

impl Range {
    /// What JSON can carry without losing a digit here.
    pub(crate) const ALL: Self = Self { from: i64::MIN as i128, to: u64::MAX as i128 };

    /// The formats that schemas of Rust types carry.
    pub(crate) fn of_format(node: &Value) -> Option<Self> {
        let (from, to): (i128, i128) = match node.get("format")?.as_str()? {
            "int8" => (i8::MIN.into(), i8::MAX.into()),
            "int16" => (i16::MIN.into(), i16::MAX.into()),
            "int32" => (i32::MIN.into(), i32::MAX.into()),
            "int64" | "int" => (i64::MIN.into(), i64::MAX.into()),
            "uint8" => (0, u8::MAX.into()),
            "uint16" => (0, u16::MAX.into()),
            "uint32" => (0, u32::MAX.into()),
            "uint64" | "uint" => (0, u64::MAX.into()),
            _ => return None,
        };
        Some(Self { from, to })
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    pub(crate) fn contains(self, value: i128) -> bool {
        (self.from..=self.to).contains(&value)
    }
}
