//! Settings as scenarios write them.

use bentpipe_units::Bytes;
use bentpipe_units::registry::Kind;

use super::*;

fn read(json: &str) -> Result<GatewaySpec, String> {
    serde_json::from_str(json).map_err(|e| e.to_string())
}

#[test]
fn every_scheme_reads_with_its_defaults() {
    let xfwa = read(r#"{"scheme":"xfwa","rtt":"ttl","isl_delay":"20 ms","packet":"1000 B"}"#).unwrap();
    assert_eq!(xfwa, GatewaySpec::Xfwa(XfwaOptions { packet: Bytes::new(1000), ..by_ttl() }));
    assert_eq!(read(r#"{"scheme":"ewa"}"#), Ok(GatewaySpec::Ewa(EwaOptions::default())));
    assert_eq!(read(r#"{"scheme":"wintrac"}"#), Ok(GatewaySpec::Wintrac(WintracOptions::default())));
    assert_eq!(read(r#"{"scheme":"xcp"}"#), Ok(GatewaySpec::Xcp(XcpOptions::default())));
    for json in [
        r#"{"scheme":"xfwa","rtt":"handshake"}"#,
        r#"{"scheme":"ewa"}"#,
        r#"{"scheme":"wintrac","target":0.25}"#,
        r#"{"scheme":"xcp","limited":"scale","longest_interval":"2 s"}"#,
    ] {
        let spec = read(json).unwrap();
        assert_eq!(spec.validate(), Ok(()));
    }
}

#[test]
fn unknown_schemes_and_keys_are_refused() {
    for (json, part) in [
        (
            r#"{"scheme":"rcp"}"#,
            "scheme: expected one of the known names (xfwa, ewa, wintrac, xcp, snoop, spoof), found \"rcp\"",
        ),
        (r#"{"scheme":"xfwa","alpha":1}"#, "alpha: expected one of the known keys"),
        (r#"{"scheme":"xfwa","rtt":"ping"}"#, "rtt: expected one of the known names"),
        (r#"{"rtt":"ttl"}"#, "scheme: missing"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(part), "{json}: {error}");
    }
}

#[test]
fn impossible_values_are_refused() {
    for (json, part) in [
        (r#"{"scheme":"xfwa"}"#, r#"isl_delay: rtt = "ttl" needs isl_delay, a time such as "20 ms""#),
        (r#"{"scheme":"xfwa","rtt":"told"}"#, r#"told: rtt = "told" needs told, a time such as "20 ms""#),
        (r#"{"scheme":"xfwa","rtt":"told","told":"0 s"}"#, "expected a time above zero, found 0 s"),
        (
            r#"{"scheme":"xfwa","rtt":"handshake","rtt_factor":0}"#,
            "expected a number above 0, at most 1000000, found 0",
        ),
        (
            r#"{"scheme":"xfwa","rtt":"handshake","max_flows":0}"#,
            "expected a whole number from 1 to 4294967295",
        ),
        (r#"{"scheme":"ewa","least":"0 B"}"#, "expected a size above zero, found 0 B"),
        (r#"{"scheme":"ewa","threshold":1.5}"#, "expected a number from 0 to 1, found 1.5"),
        (r#"{"scheme":"ewa","decrease":2}"#, "expected a number above 0, at most 1, found 2"),
        (r#"{"scheme":"wintrac","interval":"0 s"}"#, "expected a time above zero, found 0 s"),
        (r#"{"scheme":"xcp","alpha":0}"#, "expected a number above 0, at most 1, found 0"),
        (r#"{"scheme":"xcp","gamma":2}"#, "expected a number from 0 to 1, found 2"),
        (
            r#"{"scheme":"xcp","longest_interval":"9 ms"}"#,
            "longest_interval: expected least_interval (10 ms) or more, found 9 ms",
        ),
        (r#"{"scheme":"xcp","limited_most":1}"#, "limited_most: expected a share below 1, found 1"),
    ] {
        let error =
            read(json).and_then(|spec| spec.validate().map_err(|fault| fault.to_string())).unwrap_err();
        assert!(error.contains(part), "{json}: {error}");
    }
}

#[test]
fn the_schema_knows_every_scheme() {
    let schema = serde_json::to_value(schemars::schema_for!(GatewaySpec)).unwrap();
    let variants = schema["oneOf"].as_array().unwrap();
    let names = <dyn GatewayFactory>::ours().names();
    let text: Vec<_> = variants.iter().map(ToString::to_string).collect();
    for (variant, name) in text.iter().zip(names) {
        assert!(variant.contains(&format!("\"const\":\"{name}\"")), "{variant}");
    }
    assert_eq!(text.len(), names.len());
}
