/** Maps the private characters of symbol fonts to the equal Unicode characters. */
const symbolLetters = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';
const symbolCapitals = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const symbolSigns = new Map([
  [0xa3, '≤'],
  [0xa5, '∞'],
  [0xae, '→'],
  [0xb0, '°'],
  [0xb1, '±'],
  [0xb3, '≥'],
  [0xb4, '×'],
  [0xb7, '•'],
  [0xb8, '÷'],
  [0xb9, '≠'],
  [0xba, '≡'],
  [0xbb, '≈'],
  [0xce, '∈'],
  [0xd6, '√'],
  [0xde, '⇒'],
  [0xe5, '∑'],
  [0xf2, '∫'],
]);
const wingdings = new Map([
  [0x6f, '☐'],
  [0x71, '❑'],
  [0x76, '❖'],
  [0x78, '☒'],
  [0xa7, '▪'],
  [0xa8, '☐'],
  [0xd8, '➢'],
  [0xe0, '→'],
  [0xfb, '✗'],
  [0xfc, '✓'],
  [0xfd, '☒'],
  [0xfe, '☑'],
]);

/** `code` as in the file: often moved to the private area at F000. Empty when there is no such character. */
export function symbolText(font: string, code: number): string {
  const at = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code;
  if (/^wingdings/i.test(font)) return wingdings.get(at) ?? '';
  if (/^symbol/i.test(font)) {
    if (at >= 0x61 && at <= 0x7a) return symbolLetters.charAt(at - 0x61);
    if (at >= 0x41 && at <= 0x5a) return symbolCapitals.charAt(at - 0x41);
    return symbolSigns.get(at) ?? (at >= 0x20 && at < 0x7f ? String.fromCharCode(at) : '');
  }
  const isPrivate = code >= 0xe000 && code <= 0xf8ff;
  return isPrivate || Number.isNaN(code) || code > 0x10ffff ? '' : String.fromCodePoint(code);
}
