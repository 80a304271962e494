import type { OpenPdf } from './open-pdf.ts';

export interface Font {
  readonly bold: boolean;
  readonly mono: boolean;
  readonly name: string;
}

/** The style of a run of characters. */
export interface Style extends Omit<Font, 'name'> {
  readonly size: number;
  /** The run does not go from left to right. */
  readonly turned: boolean;
  /** The direction of the run, in quarter turns against the clock. */
  readonly quarters: number;
}

/** Queries PDFium about the characters of a page; `at` is their index. Each query is a call into WebAssembly. */
export interface TextProbe {
  readonly count: number;
  code(at: number): number;
  /** Whether the font does not tell which letter the character is. Its code is then the number of a glyph. */
  isUnknown(at: number): boolean;
  /** The letters of an unknown character, if the name of its glyph tells them. */
  letters(at: number): string | undefined;
  /** The object that draws the character; 0 for characters that PDFium added. */
  object(at: number): number;
  /** Measures a character. The following methods return the bounds of the last one measured. */
  measure(at: number): void;
  left(): number;
  right(): number;
  baseline(at: number): number;
  style(at: number, object: number): Style;
}

const nameBytes = 512;

/** `buffer` holds 512 bytes. `fonts` are those of the page. */
export function createTextProbe(
  { pdfium, memory, glyphNames }: OpenPdf,
  { text, buffer, fonts }: { text: number; buffer: number; fonts: Map<number, Font> },
): TextProbe {
  function fontOf(object: number): Font {
    const handle = pdfium.FPDFTextObj_GetFont(object);
    const known = fonts.get(handle);
    if (known !== undefined) return known;
    const length = handle === 0 ? 0 : Math.min(pdfium.FPDFFont_GetBaseFontName(handle, buffer, nameBytes), nameBytes);
    const name = Buffer.from(memory().buffer, buffer, Math.max(0, length - 1)).toString('latin1');
    const isHeavy = handle !== 0 && pdfium.FPDFFont_GetWeight(handle) >= 700;
    const font = {
      name,
      bold: isHeavy || /bold|black|heavy|semibold|demi|cmbx|\bcsc/i.test(name),
      mono: /mono|courier|consol|menlo|typewriter|cmtt|lmtt|tt\d+$|code/i.test(name),
    };
    fonts.set(handle, font);
    return font;
  }

  /** Some programs write a size of 1 and scale the text. */
  function shapeOf(at: number): { size: number; quarters: number } {
    const size = Math.abs(pdfium.FPDFText_GetFontSize(text, at));
    if (pdfium.FPDFText_GetMatrix(text, at, buffer) === 0) return { size, quarters: 0 };
    const view = memory();
    // The direction in which letters stand also holds for text in a mirror.
    const [x, y] = [view.getFloat32(buffer + 8, true), view.getFloat32(buffer + 12, true)];
    const quarters = Math.round(Math.atan2(-x, y) / (Math.PI / 2)) & 3;
    return { size: Math.round(size * Math.hypot(x, y) * 10) / 10, quarters };
  }

  /** A typed array avoids an allocation for each new value. */
  const sides = new Float32Array(2);

  return {
    count: pdfium.FPDFText_CountChars(text),
    code: (at) => pdfium.FPDFText_GetUnicode(text, at),
    isUnknown: (at) => pdfium.FPDFText_HasUnicodeMapError(text, at) === 1,
    letters: (at) =>
      glyphNames(fontOf(pdfium.FPDFText_GetTextObject(text, at)).name, pdfium.FPDFText_GetUnicode(text, at)),
    object: (at) => pdfium.FPDFText_GetTextObject(text, at),
    measure: (at) => {
      pdfium.FPDFText_GetLooseCharBox(text, at, buffer);
      const view = memory();
      sides[0] = view.getFloat32(buffer, true);
      sides[1] = view.getFloat32(buffer + 8, true);
    },
    left: () => sides[0] ?? 0,
    right: () => sides[1] ?? 0,
    baseline: (at) => {
      pdfium.FPDFText_GetCharOrigin(text, at, buffer, buffer + 8);
      return memory().getFloat64(buffer + 8, true);
    },
    style: (at, object) => ({
      ...fontOf(object),
      ...shapeOf(at),
      turned: Math.abs(Math.sin(pdfium.FPDFText_GetCharAngle(text, at))) > 0.3,
    }),
  };
}

const isMost = (count: number, _: number, all: Uint32Array) => 2 * count > all.reduce((sum, each) => sum + each);

/** Follows the style of the characters of a page. */
export interface StyleReader {
  /** @returns whether the character is in a different run from the one before it */
  move(at: number): boolean;
  current(): Style;
  /** Whether a third of the runs do not go from left to right. */
  isTurned(): boolean;
  /** The direction of most characters, in quarter turns against the clock; 0 when none has most. */
  quarters(): number;
}

export function createStyleReader(probe: TextProbe): StyleReader {
  let style: Style = { bold: false, mono: false, size: 0, turned: false, quarters: 0 };
  let object = -1;
  let runs = 0;
  let turnedRuns = 0;
  const characters = new Uint32Array(4);
  return {
    move: (at) => {
      const next = probe.object(at);
      const isNext = next !== object && next !== 0;
      if (isNext) {
        object = next;
        style = probe.style(at, object);
        runs += 1;
        if (style.turned) turnedRuns += 1;
      }
      characters[style.quarters] = (characters[style.quarters] ?? 0) + 1;
      return isNext;
    },
    current: () => style,
    isTurned: () => turnedRuns * 3 > runs,
    quarters: () => Math.max(0, characters.findIndex(isMost)),
  };
}
