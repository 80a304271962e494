import { fileDamaged } from '../../extraction-error.ts';
import type { Drawings } from '../../qa/sheet.ts';
import { findMain } from '../docx/package-parts.ts';
import type { OfficePackage } from '../open-package.ts';
import { struckText } from '../raised-text.ts';
import { readDrawings } from './drawings.ts';
import { builtInFormat, createFormat, type DateSystem, type Format, general } from './number-format.ts';
import { createRichText } from './rich-text.ts';
import { type Attributes, readWhole } from './xml-events.ts';

export interface SheetPart {
  readonly name: string;
  readonly hidden: boolean;
  /** The name of the part. */
  readonly target: string;
  readonly part: Uint8Array;
}

export interface WorkbookParts {
  readonly sheets: readonly SheetPart[];
  readonly drawings: Drawings;
  readonly sharedStrings: readonly string[];
  /** The formats, by the index that the `s` attribute of a cell gives. */
  readonly formats: readonly Format[];
}

/**
 * Finds the sheets of a workbook, in its order, and the data that their cells refer to. Chart and macro sheets are
 * omitted. Namespaces are ignored, because the strict, transitional and draft forms differ in nothing else.
 */
export function readWorkbookParts(file: OfficePackage): WorkbookParts {
  const { get, main: workbook, relationships } = findMain(file, 'xl/workbook.xml');
  if (workbook === undefined) throw fileDamaged('Excel', 'it has no workbook');
  const { entries, system } = readWorkbook(workbook);
  const sheets = entries.flatMap(({ name, hidden, relation }, index) => {
    const { kind = 'worksheet', target: named } = relationships.get(relation) ?? {};
    const target =
      typeof named === 'string' && get(named) !== undefined ? named : `xl/worksheets/sheet${index + 1}.xml`;
    const part = get(target);
    return part === undefined || kind !== 'worksheet' ? [] : [{ name, hidden, target, part }];
  });
  if (sheets.length === 0) throw fileDamaged('Excel', 'it has no sheets');
  const related = (wanted: string) =>
    get(relationships.values().find(({ kind }) => kind === wanted)?.target ?? `xl/${wanted}.xml`);
  const [strings, styles] = [related('sharedStrings'), related('styles')];
  return {
    sheets,
    drawings: readDrawings(
      get,
      sheets.filter(({ hidden }) => !hidden).map(({ target }) => target),
    ),
    sharedStrings: strings === undefined ? [] : readSharedStrings(strings),
    formats: styles === undefined ? [] : readFormats(styles, system),
  };
}

interface SheetEntry {
  readonly name: string;
  readonly hidden: boolean;
  readonly relation: string;
}

function readWorkbook(part: Uint8Array): { entries: SheetEntry[]; system: DateSystem } {
  const entries: SheetEntry[] = [];
  let system: DateSystem = { epoch: 1900 };
  readWhole(part, {
    open: (name, attributes) => {
      if (name === 'workbookPr' && isTrue(attributes.date1904)) system = { epoch: 1904 };
      if (name !== 'sheet') return;
      const hidden = attributes.state === 'hidden' || attributes.state === 'veryHidden';
      entries.push({ name: attributes.name ?? '', hidden, relation: relationOf(attributes) });
    },
  });
  return { entries, system };
}

function relationOf(attributes: Attributes): string {
  const name = Object.keys(attributes).find((key) => key.endsWith(':id'));
  return (name === undefined ? undefined : attributes[name]) ?? '';
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true' || value === 'on';
}

function readSharedStrings(part: Uint8Array): string[] {
  const strings: string[] = [];
  const { open, text, close, take } = createRichText();
  readWhole(part, {
    open,
    text,
    close: (name) => {
      close(name);
      if (name === 'si') strings.push(unescapeText(take()));
    },
  });
  return strings;
}

/** Decodes characters that XML cannot contain, written as `_x000D_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function readFormats(part: Uint8Array, system: DateSystem): Format[] {
  const codes = new Map<number, string>();
  const formats: Format[] = [];
  const cache = new Map<string, Format>();
  /** Whether each font strikes its text out. */
  const struck: boolean[] = [];
  let [inCells, inFonts] = [false, false];
  const formatOf = (id: number): Format => {
    const code = codes.get(id) ?? builtInFormat(id);
    if (code === undefined) return general;
    const known = cache.get(code) ?? createFormat(code, system);
    cache.set(code, known);
    return known;
  };
  readWhole(part, {
    open: (name, { numFmtId = '0', formatCode = '', fontId = '0', val = '1' }) => {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode);
      else if (name === 'fonts') inFonts = true;
      else if (name === 'font' && inFonts) struck.push(false);
      else if (name === 'strike' && inFonts) struck[struck.length - 1] = isTrue(val);
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        const shown = formatOf(Number(numFmtId));
        formats.push(struck[Number(fontId)] === true ? (value) => struckText(shown(value)) : shown);
      }
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
      if (name === 'fonts') inFonts = false;
    },
  });
  return formats;
}
