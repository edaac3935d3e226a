//! Settings that are one of a few words.

/// An enum whose variants have one spelling, everywhere: read, written, shown and suggested.
///
/// By hand, because the deserializer of the `config` crate looks variants up itself and then names the Rust type instead
/// of the words there are.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $name {
            const WORDS: &[&str] = &[$($word),*];

            /// As the settings spell it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(deserializer)?;
                match word.as_str() {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(serde::de::Error::unknown_variant(&word, Self::WORDS)),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
