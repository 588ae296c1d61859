//! Asserts in their simple forms: integers, names, comparisons in a chain, `&`, `|`, sums and products, `and`, `or`.

/// The value of an expression at the beginning of `text`, and what follows it; an error names what is not understood.
pub(crate) fn value<'a>(
    text: &'a str,
    names: &dyn Fn(&str) -> Option<i64>,
) -> Result<(i64, &'a str), String> {
    let mut parser = Parser { rest: text, names, depth: 0 };
    let value = parser.level(0)?;
    Ok((value, parser.rest.trim_start()))
}

/// What a block says that is false, if anything; and names that nobody knows.
pub(crate) fn check(code: &str, names: &dyn Fn(&str) -> Option<i64>) -> (Option<String>, Vec<String>, usize) {
    let (mut unknown, mut checked) = (Vec::new(), 0);
    for line in code.replace("\\\n", " ").split(['\n', ';']) {
        let line = line.split('#').next().unwrap_or("").trim();
        let Some(claim) = line.strip_prefix("assert").filter(|rest| rest.starts_with([' ', '('])) else {
            continue;
        };
        match value(claim, names) {
            Ok((value, rest)) if rest.is_empty() || rest.starts_with(',') => {
                checked += 1;
                if value == 0 {
                    return (Some(claim.split(',').next().unwrap_or("").trim().to_owned()), unknown, checked);
                }
            }
            Ok((_, rest)) => unknown.push(rest.to_owned()),
            Err(what) => unknown.push(what),
        }
    }
    (None, unknown, checked)
}

/// From what binds least to what binds most; within a level the longer first.
const LEVELS: [&[&str]; 7] =
    [&["or"], &["and"], &["==", "!=", "<=", ">=", "<", ">"], &["|"], &["&"], &["+", "-"], &["*", "//"]];

struct Parser<'a, 'n> {
    rest: &'a str,
    names: &'n dyn Fn(&str) -> Option<i64>,
    depth: u32,
}

impl<'a> Parser<'a, '_> {
    fn level(&mut self, level: usize) -> Result<i64, String> {
        let Some(operators) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1)?;
        let (mut chain, mut compared) = (true, false);
        while let Some(operator) =
            operators.iter().find(|operator| self.rest.trim_start().starts_with(**operator))
        {
            self.rest = &self.rest.trim_start()[operator.len()..];
            let right = self.level(level + 1)?;
            let truth = match *operator {
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                ">" => left > right,
                _ => {
                    left = match *operator {
                        "or" => i64::from(left != 0 || right != 0),
                        "and" => i64::from(left != 0 && right != 0),
                        "|" => left | right,
                        "&" => left & right,
                        "+" => left.wrapping_add(right),
                        "-" => left.wrapping_sub(right),
                        "*" => left.wrapping_mul(right),
                        _ => left.checked_div(right).ok_or("a division by zero")?,
                    };
                    continue;
                }
            };
            chain &= truth;
            compared = true;
            left = right;
        }
        Ok(if compared { i64::from(chain) } else { left })
    }

    fn atom(&mut self) -> Result<i64, String> {
        let text = self.rest.trim_start();
        if let Some(inner) = text.strip_prefix('(') {
            self.depth += 1;
            if self.depth > 20 {
                return Err("too many brackets".to_owned());
            }
            self.rest = inner;
            let value = self.level(0)?;
            self.rest = self.rest.trim_start().strip_prefix(')').ok_or("a bracket that is not closed")?;
            return Ok(value);
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let word = &text[..end];
        self.rest = &text[end..];
        if let Some(hex) = word.strip_prefix("0x") {
            return i64::from_str_radix(hex, 16).map_err(|_| word.to_owned());
        }
        word.parse().ok().or_else(|| (self.names)(word)).ok_or_else(|| word.to_owned())
    }
}
