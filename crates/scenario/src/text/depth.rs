//! How deep a text nests, before it is parsed: TOML's parser takes stack for each level, and a stack may be small.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Where `text` first has more than `most` brackets within each other, or more than `most` dots in one key.
pub(crate) fn deeper_than(most: usize, text: &str) -> Option<usize> {
    let (mut open, mut dots) = (0_usize, 0_usize);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => (open, dots) = (open + 1, 0),
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                (open, dots) = (open.saturating_sub(1), 0);
            }
            TokenKind::Equals | TokenKind::Comma | TokenKind::Newline => dots = 0,
            _ => {}
        }
        if open > most || dots > most {
            return Some(token.span().start());
        }
    }
    None
}
