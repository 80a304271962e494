import { fileDamaged } from '../../extraction-error.ts';
import type { Drawings } from '../../qa/sheet.ts';
import { findMain, readRelationships } from '../docx/package-parts.ts';
import type { OfficePackage } from '../open-package.ts';
import { createPainted, type IsPainted } from './cell-ranges.ts';
import { type CellStyle, createPaper, type IsPaper, isTrue, readCellStyles } from './cell-styles.ts';
import { readDrawings } from './drawings.ts';
import type { DateSystem } from './number-format.ts';
import { type CellText, createRichText } from './rich-text.ts';
import { type Attributes, readWhole } from './xml-events.ts';

export interface SheetPart {
  readonly name: string;
  readonly hidden: boolean;
  /** The name of the part. */
  readonly target: string;
  readonly part: Uint8Array;
  findPainted(): IsPainted;
}

export interface WorkbookParts {
  readonly sheets: readonly SheetPart[];
  readonly drawings: Drawings;
  readonly sharedStrings: readonly (string | CellText)[];
  readonly styles: readonly CellStyle[];
  readonly isPaper: IsPaper;
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
    if (part === undefined || kind !== 'worksheet') return [];
    return [{ name, hidden, target, part, findPainted: () => createPainted(part, tablesOf(get, target)) }];
  });
  if (sheets.length === 0) throw fileDamaged('Excel', 'it has no sheets');
  const related = (wanted: string) =>
    get(relationships.values().find(({ kind }) => kind === wanted)?.target ?? `xl/${wanted}.xml`);
  const [strings, styles] = [related('sharedStrings'), related('styles')];
  const isPaper = createPaper(related('theme'), styles);
  return {
    sheets,
    drawings: readDrawings(
      get,
      sheets.filter(({ hidden }) => !hidden).map(({ target }) => target),
    ),
    sharedStrings: strings === undefined ? [] : readSharedStrings(strings, isPaper),
    styles: styles === undefined ? [] : readCellStyles(styles, system, isPaper),
    isPaper,
  };
}

function tablesOf(get: (name: string) => Uint8Array | undefined, sheet: string): Uint8Array[] {
  const related = [...readRelationships(get, sheet).values()].filter(({ kind }) => /^(?:table|pivotTable)$/.test(kind));
  return related.flatMap(({ target }) => get(target ?? '') ?? []);
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

function readSharedStrings(part: Uint8Array, isPaper: IsPaper): (string | CellText)[] {
  const strings: (string | CellText)[] = [];
  const { open, text, close, take } = createRichText(isPaper);
  readWhole(part, {
    open,
    text,
    close: (name) => {
      close(name);
      if (name !== 'si') return;
      const taken = take();
      const whole = unescapeText(taken.text);
      strings.push(taken.seen === undefined ? whole : { text: whole, seen: unescapeText(taken.seen) });
    },
  });
  return strings;
}

/** Decodes characters that XML cannot contain, written as `_x000D_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
