import { struckText } from '../raised-text.ts';
import { isWhite } from '../unseen-look.ts';
import { builtInFormat, createFormat, type DateSystem, type Format, general } from './number-format.ts';
import { type Attributes, encodingOf, readWhole } from './xml-events.ts';

/** How the cells of a style look. */
export interface CellStyle {
  readonly format: Format;
  /** Whether the text has the colour of paper. */
  readonly isWhite: boolean;
  /** Whether the cell has no colour, or that of paper. */
  readonly isBare: boolean;
}

export const usualStyle: CellStyle = { format: general, isWhite: false, isBare: true };

/** Whether a colour of a workbook is that of paper. */
export type IsPaper = (color: Attributes) => boolean;

/** Source: ECMA-376 part 1, 18.3.1.15 and 18.8.27. The first colour of the theme is that of the window. */
export function createPaper(theme: Uint8Array | undefined, styles: Uint8Array | undefined): IsPaper {
  const text = theme === undefined ? '' : new TextDecoder(encodingOf(theme)).decode(theme);
  const light = /="([0-9A-Fa-f]{6})"/.exec(text.slice(text.indexOf(':lt1>')).slice(0, 200))?.[1];
  const isOwnPalette = styles !== undefined && Buffer.from(styles).includes('indexedColors');
  return ({ rgb, theme: at, indexed, tint = '0' }) => {
    if (Number(tint) < 0) return false;
    if (rgb !== undefined) return isWhite(rgb.slice(-6));
    if (at !== undefined) return at === '0' && isWhite(light ?? 'FFFFFF');
    return !isOwnPalette && (indexed === '1' || indexed === '9');
  };
}

interface Fonts {
  /** Whether each font strikes its text out. */
  readonly struck: boolean[];
  readonly white: boolean[];
}

/** Reads the styles, by the index that the `s` attribute of a cell gives. */
export function readCellStyles(part: Uint8Array, system: DateSystem, isPaper: IsPaper): CellStyle[] {
  const codes = new Map<number, string>();
  const styles: CellStyle[] = [];
  const fonts: Fonts = { struck: [], white: [] };
  /** Whether each fill leaves the colour of paper. */
  const bare: boolean[] = [];
  const formatOf = createFormats(codes, system);
  let list = '';
  let isSolid = false;
  function openInFont(name: string, { val = '1', ...color }: Attributes): void {
    if (name === 'font') {
      fonts.struck.push(false);
      fonts.white.push(false);
    } else if (name === 'strike') fonts.struck[fonts.struck.length - 1] = isTrue(val);
    else if (name === 'color') fonts.white[fonts.white.length - 1] = isPaper(color);
  }
  function openInFill(name: string, attributes: Attributes): void {
    const last = bare.length - 1;
    if (name === 'fill') bare.push(true);
    else if (name === 'patternFill') {
      isSolid = attributes.patternType === 'solid';
      bare[last] = (attributes.patternType ?? 'none') === 'none';
    } else if (name === 'gradientFill') bare[last] = false;
    // Only a solid fill has no second colour.
    else if (name === 'fgColor' && isSolid) bare[last] = isPaper(attributes);
  }
  readWhole(part, {
    open: (name, attributes) => {
      const { numFmtId = '0', formatCode = '', fontId = '0', fillId = '0' } = attributes;
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode);
      else if (lists.has(name)) list = name;
      else if (list === 'fonts') openInFont(name, attributes);
      else if (list === 'fills') openInFill(name, attributes);
      else if (name === 'xf' && list === 'cellXfs') {
        const shown = formatOf(Number(numFmtId));
        styles.push({
          format: fonts.struck[Number(fontId)] === true ? (value) => struckText(shown(value)) : shown,
          isWhite: fonts.white[Number(fontId)] === true,
          isBare: bare[Number(fillId)] ?? true,
        });
      }
    },
    close: (name) => {
      if (name === list) list = '';
    },
  });
  return styles;
}

const lists = new Set(['fonts', 'fills', 'cellXfs']);

function createFormats(codes: ReadonlyMap<number, string>, system: DateSystem): (id: number) => Format {
  const cache = new Map<string, Format>();
  return (id) => {
    const code = codes.get(id) ?? builtInFormat(id);
    if (code === undefined) return general;
    const known = cache.get(code) ?? createFormat(code, system);
    cache.set(code, known);
    return known;
  };
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true' || value === 'on';
}
