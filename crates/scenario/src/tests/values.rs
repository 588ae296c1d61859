use super::wrong;

/// Every error that a value can cause, word for word.
#[test]
fn each_wrong_value_is_told_in_one_line_that_names_file_line_and_key() {
    let (mut cases, mut others) = (0, Vec::new());
    let (mut old, mut new) = (String::new(), String::new());
    for line in include_str!("errors.txt").lines() {
        let text = || line.get(2..).unwrap_or_default().replace("\\n", "\n");
        match line.chars().next() {
            Some('-') => old = text(),
            Some('+') => new = text(),
            Some('=') => {
                let found = wrong(&old, &new);
                if found != text() {
                    others.push(format!("= {found}\nand not\n= {}", text()));
                }
                cases += 1;
            }
            _ => assert!(line.is_empty() || line.starts_with('#'), "{line}"),
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(cases > 100, "{cases}");
}
