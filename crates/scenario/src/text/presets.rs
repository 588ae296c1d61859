//! Networks of the literature and of everyday use, built in; a scenario `extends = "preset:NAME"` one.

use super::{Layer, parse};

macro_rules! preset {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../scenarios/presets/", $name, ".toml")))
    };
}

/// Every preset's name and text.
pub(crate) const PRESETS: [(&str, &str); 6] = [
    preset!("geo"),
    preset!("sack-geo"),
    preset!("sack-terrestrial"),
    preset!("adalr-geo"),
    preset!("leo-t1"),
    preset!("leo-groups"),
];

/// Every preset's name and title.
pub fn presets() -> Vec<(&'static str, String)> {
    let title = |name: &str, text: &str| {
        parse(&Layer::without_file(name, text), 0).ok()?.get("title")?.text().map(str::to_owned)
    };
    PRESETS.into_iter().map(|(name, text)| (name, title(name, text).unwrap_or_default())).collect()
}
