/** The characters of the font Symbol, from the code of each line. Source: Adobe, "Symbol Encoding". */
const symbol = tableOf([
  [0x20, ' !∀#∃%&∋()∗+,−./0123456789:;<=>?'],
  [0x40, '≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_'],
  [0x60, '‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼'],
  [0xa0, '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵'],
  [0xc0, 'ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓'],
  [0xe0, '◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪'],
  [0xf1, '〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭'],
]);
/** The characters of picture fonts that have a meaning in text. Boxes become `[x]` and `[ ]` later. */
const wingdings = tableOf([
  [0x20, ' '],
  [0x4a, '☺😐☹'],
  [0x6c, '●'],
  [0x6e, '■☐☐☐☐'],
  [0x76, '❖'],
  [0x78, '☒'],
  [0x80, '⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿'],
  [0x9f, '•'],
  [0xa7, '▪☐'],
  [0xd8, '➢'],
  [0xdf, '←→↑↓'],
  [0xef, '⇦⇨⇧⇩'],
  [0xfb, '✗✓☒☑'],
]);
const wingdings2 = tableOf([
  [0x20, ' '],
  [0x4f, '✗✓☒☑☒☒'],
  [0xa3, '☐'],
]);
const webdings = tableOf([
  [0x20, ' '],
  [0x61, '✓'],
  [0x63, '☐'],
  [0x67, '■'],
  [0x6e, '●'],
  [0x72, '✗'],
]);

const fonts: ReadonlyArray<readonly [RegExp, ReadonlyMap<number, string>]> = [
  [/^symbol(?:mt)?$/i, symbol],
  [/^wingdings$/i, wingdings],
  [/^wingdings ?2$/i, wingdings2],
  [/^webdings$/i, webdings],
];

function tableOf(lines: ReadonlyArray<readonly [code: number, characters: string]>): ReadonlyMap<number, string> {
  return new Map(lines.flatMap(([first, text]) => [...text].map((each, at) => [first + at, each] as const)));
}

/** Whether a font shows other characters than those of the text. */
export function isSymbolFont(font: string): boolean {
  return fonts.some(([name]) => name.test(font.trim()));
}

/** `code` is that of the file, often moved to the private use area at F000. Returns an empty text for an unknown code. */
export function symbolText(font: string, code: number): string {
  const table = fonts.find(([name]) => name.test(font.trim()))?.[1];
  if (table !== undefined) return table.get(code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code) ?? '';
  const isPrivate = code >= 0xe000 && code <= 0xf8ff;
  return isPrivate || Number.isNaN(code) || code > 0x10ffff ? '' : String.fromCodePoint(code);
}

/** Returns a text as a font shows it. Only symbol fonts change it, and in them only characters that they have room for. */
export function shownIn(font: string, text: string): string {
  if (!isSymbolFont(font)) return text;
  const isIn = (code: number) => (code >= 0x20 && code <= 0xff) || (code >= 0xf000 && code <= 0xf0ff);
  return [...text]
    .map((each) => (isIn(each.codePointAt(0) ?? 0) ? symbolText(font, each.codePointAt(0) ?? 0) : each))
    .join('');
}
