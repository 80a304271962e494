/**
 * A text of about the given number of UTF-8 bytes, built so that careless processing takes time or memory that grows
 * faster than its length.
 */
export interface Amplifier {
  readonly name: string;
  text(bytes: number): string;
}

const run = (name: string, unit: string): Amplifier => ({
  name,
  text: (bytes) => unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit)))),
});
/** A long run that fails to match only at its end. */
const unended = (name: string, head: string, unit: string, tail: string): Amplifier => ({
  name,
  text: (bytes) => {
    const available = bytes - Buffer.byteLength(head + tail);
    return head + unit.repeat(Math.max(1, Math.floor(available / Buffer.byteLength(unit)))) + tail;
  },
});

/** A run of each ASCII character. */
export const asciiRuns: readonly Amplifier[] = Array.from({ length: 128 }, (_, code) =>
  run(`run of 0x${code.toString(16).padStart(2, '0')}`, String.fromCharCode(code)),
);

/** The runs of blanks and punctuation, which may have a special meaning somewhere. */
export const specialRuns = asciiRuns.filter((_, code) => /[\t -/:-@[-`{-~]/.test(String.fromCharCode(code)));

/** Characters that expand, combine or need a lookup when a text is normalised, folded, counted or split. */
export const unicodeRuns: readonly Amplifier[] = [
  run('U+FDFA', '\ufdfa'),
  unended('combining marks of one class', 'a', '\u0301', ''),
  unended('combining marks in the wrong order', 'a', '\u0301\u0316', ''),
  { name: 'combining marks, the last class first', text: wrongOrder },
  run('letters with marks', 'a\u0301\u0323'),
  run('U+0130', '\u0130'),
  run('U+0390', '\u0390'),
  run('Hangul jamo', '\u1100\u1161\u11a8'),
  run('CJK', '漢字仮名'),
  run('Thai', 'กรุงเทพมหานคร'),
  run('joined emoji', '👩‍👩‍👧‍👦'),
  run('flags', '🇩🇪'),
  run('right to left', 'אבג\u202e'),
  run('joiners', 'a\u200d'),
  run('fullwidth', '１Ａ'),
  run('lone surrogates', '\ud800'),
];

function wrongOrder(bytes: number): string {
  const each = Math.max(1, Math.floor(bytes / 4));
  return `a${'\u0301'.repeat(each)}${'\u0316'.repeat(each)}`;
}

/** Repeated and unclosed quotes, brackets and tags, and texts of many small pieces. */
export const syntaxRuns: readonly Amplifier[] = [
  unended('quote that is not closed, of backslashes', '"', '\\', 'x'),
  unended('quote that is not closed, of escaped quotes', '"', '\\"', 'x'),
  run('pairs of quotes', '"" '),
  run('quoted and cut', `"a'b"'`),
  run('opening brackets', '[('),
  unended('nested brackets', '', '[', ']'),
  run('braces', '{{'),
  run('placeholders', '{a}'),
  run('dollar braces', '${a'),
  run('opening tags', '<a '),
  run('nested tags', '<b>'),
  run('unclosed comments', '<!--'),
  run('unclosed CDATA', '<![CDATA['),
  run('entities', '&amp;&#x41;'),
  run('ampersands', '&a'),
  run('percent signs', '%4'),
  run('percent escapes', '%25'),
  unended('blanks in the middle', 'a', ' ', 'b'),
  unended('tabs in the middle', 'a', '\t', 'b'),
  unended('line ends in the middle', 'a', '\n', 'b'),
  unended('CRLF in the middle', 'a', '\r\n', 'b'),
  run('blank lines with blanks', ' \n'),
  run('words of one letter', 'a '),
  run('sentences', 'Ab cd. '),
  run('commas', 'a,'),
  run('semicolons and equals', 'a="b";'),
  run('dots', 'a.'),
  run('slashes', 'a/../'),
  run('hyphens and digits', '1-'),
  unended('digits', '', '1', 'e'),
  unended('nines with a point', '0.', '9', 'x'),
  run('exponents', '1e9'),
  run('base64', 'QUJDRA=='),
  run('encoded words', '=?utf-8?q?a?='),
  run('at signs', 'a@'),
  run('schemes', 'http://'),
  run('escapes of JSON', '\\u0041'),
  run('unlike words', 'a1B-'),
];

/** Texts of the largest possible number of words, all different. */
export const differentRuns: readonly Amplifier[] = [
  { name: 'words that are all different', text: differentWords },
  { name: 'Chinese characters that are all different', text: differentCharacters },
];

/** Returns a text in which each character is a word, and so is each pair of neighbours. */
function differentCharacters(bytes: number): string {
  const first = 0x4e00;
  const size = 0x5000;
  const count = Math.floor(bytes / 3);
  // The factors are coprime to the size, so all characters occur before one repeats. The repeats then have other
  // neighbours.
  const factorOf = (n: number) => 7_919 + 4 * Math.floor(n / size);
  return Array.from({ length: count }, (_, n) => String.fromCharCode(first + ((n * factorOf(n)) % size))).join('');
}

function differentWords(bytes: number): string {
  const words: string[] = [];
  for (let length = 0, count = 0; length < bytes; count++) {
    const word = (count * 2_654_435_761).toString(36);
    words.push(word);
    length += word.length + 1;
  }
  return words.join(' ').slice(0, bytes);
}

/**
 * Texts for which a checker of regular expressions (recheck) found polynomial or exponential time in current and
 * earlier patterns of this service. Each has a head, a repeated part and a tail that fails to match.
 */
export const patternAttacks: readonly Amplifier[] = [
  unended('attack: escapes without an end', '"', '\\\\', ''),
  unended('attack: blanks before a character', '', '\t', '\u0000'),
  unended('attack: word characters before a sign', '', 'a', '!'),
  unended('attack: words and blanks', 'a', ' a', '\u0000'),
  unended('attack: numbers and dots', '1', '.1', 'x'),
  unended('attack: hyphens before a sign', '', '-', '\u0000'),
  unended('attack: a main part without its end', 'application/vnd.', 'ms-a', ''),
  unended('attack: main parts', '', 'application/vnd.ms-a.main+xml', ''),
  unended('attack: an attribute without its end', '<a ', 'a=', ''),
  unended('attack: a cell without its number', '', 'A', ''),
  unended('attack: a colour in a number format', '[', '[', ''),
  unended('attack: line ends without text', '', '\n', '\u0000'),
];

export const coreAmplifiers: readonly Amplifier[] = [
  ...unicodeRuns,
  ...syntaxRuns,
  ...differentRuns,
  ...patternAttacks,
];

const deep = (open: string, close: string) => (bytes: number) => {
  const levels = Math.floor(bytes / (open.length + close.length));
  return open.repeat(levels) + close.repeat(levels);
};
const list = (item: (index: number) => string, size: number) => (bytes: number) =>
  Array.from({ length: Math.floor(bytes / size) }, (_, index) => item(index)).join(',');

/** JSON texts with many or deep members. All are valid values. */
export const jsonAmplifiers: readonly Amplifier[] = [
  { name: 'deep arrays', text: deep('[', ']') },
  { name: 'deep objects', text: (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}` },
  { name: '60 levels, wide at each', text: (bytes) => wide(60, Math.floor(bytes / 60)) },
  { name: 'many numbers', text: (bytes) => `[${list(() => '1', 2)(bytes)}]` },
  { name: 'many texts', text: (bytes) => `[${list((index) => `"${index % 10}"`, 4)(bytes)}]` },
  { name: 'many empty arrays', text: (bytes) => `[${list(() => '[]', 3)(bytes)}]` },
  { name: 'many empty objects', text: (bytes) => `[${list(() => '{}', 3)(bytes)}]` },
  { name: 'many members', text: (bytes) => `{${list((index) => `"k${index}":1`, 10)(bytes)}}` },
  { name: 'many numbered members', text: (bytes) => `{${list((index) => `"${index}":1`, 9)(bytes)}}` },
  { name: 'many members apart', text: (bytes) => `{${list((index) => `"${index * 7919}":1`, 13)(bytes)}}` },
  { name: 'one member many times', text: (bytes) => `{${list(() => '"a":1', 6)(bytes)}}` },
  { name: 'members with escapes', text: (bytes) => `{${list((index) => `"\\"${index}":1`, 12)(bytes)}}` },
  { name: 'members __proto__', text: (bytes) => `{${list(() => '"__proto__":{}', 15)(bytes)}}` },
  { name: 'many objects', text: (bytes) => `[${list(() => '{"type":"text","key":"a"}', 26)(bytes)}]` },
  { name: 'a name of one letter', text: (bytes) => `{"${'a'.repeat(bytes)}":1}` },
  { name: 'a name of U+FDFA', text: (bytes) => `{"${'\ufdfa'.repeat(bytes / 3)}":1}` },
  { name: 'a number of digits', text: (bytes) => '1'.repeat(bytes) },
  { name: 'a fraction of digits', text: (bytes) => `0.${'1'.repeat(bytes)}` },
  { name: 'many long numbers', text: (bytes) => `[${list(() => '12345678901234567890', 21)(bytes)}]` },
  { name: 'escapes', text: (bytes) => `"${'\\u0041'.repeat(bytes / 6)}"` },
  { name: 'backslashes', text: (bytes) => `"${'\\\\'.repeat(bytes / 2)}"` },
  { name: 'escaped quotes', text: (bytes) => `"${'\\"'.repeat(bytes / 2)}"` },
];

function wide(levels: number, each: number): string {
  let text = '1';
  for (let level = 0; level < levels; level++) text = `[${'1,'.repeat(Math.max(1, each / 2))}${text}]`;
  return text;
}

/** Texts that are not JSON, or nearly JSON. */
export const brokenJson: readonly Amplifier[] = [
  { name: 'blanks before', text: (bytes) => `${' '.repeat(bytes)}{}` },
  { name: 'line ends before', text: (bytes) => `${'\n'.repeat(bytes)}{}` },
  { name: 'open arrays', text: (bytes) => '['.repeat(bytes) },
  { name: 'open objects', text: (bytes) => '{"a":'.repeat(bytes / 5) },
  { name: 'open text', text: (bytes) => `{"a":"${'x'.repeat(bytes)}` },
  { name: 'open text of backslashes', text: (bytes) => `{"${'\\'.repeat(bytes)}` },
  { name: 'open text of quotes', text: (bytes) => `{"a":${'"'.repeat(bytes)}` },
  { name: 'names without a colon', text: (bytes) => `{${'"\\"a" '.repeat(bytes / 6)}` },
  { name: 'blanks before a colon', text: (bytes) => `{"\\"a"${' '.repeat(bytes)}` },
  { name: 'commas', text: (bytes) => `[${','.repeat(bytes)}` },
  { name: 'minus signs', text: (bytes) => '-'.repeat(bytes) },
  { name: 'control characters', text: (bytes) => `"${'\u0001'.repeat(bytes)}"` },
  { name: 'U+FDFA', text: (bytes) => '\ufdfa'.repeat(bytes / 3) },
];
