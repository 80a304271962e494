import { fileDamaged } from '../../extraction-error.ts';
import { builtInFormat, createFormat, type DateSystem, type Format, general } from './number-format.ts';
import { type Attributes, readWhole } from './xml-events.ts';

type Parts = ReadonlyMap<string, Uint8Array>;

export interface SheetPart {
  readonly name: string;
  readonly hidden: boolean;
  readonly part: Uint8Array;
}

export interface WorkbookParts {
  readonly sheets: readonly SheetPart[];
  readonly sharedStrings: readonly string[];
  /** The formats, by the index that the `s` attribute of a cell gives. */
  readonly formats: readonly Format[];
}

/**
 * Finds the sheets of a workbook, in its order, and the data that their cells refer to. Chart and macro sheets are
 * omitted. Namespaces are ignored, because the strict, transitional and draft forms differ in nothing else.
 */
export function readWorkbookParts(parts: Parts): WorkbookParts {
  const workbookPath = findWorkbook(parts);
  const workbook = partAt(parts, workbookPath);
  if (workbook === undefined) throw fileDamaged('Excel', 'it has no workbook');
  const targets = readRelationships(parts, workbookPath);
  const { entries, system } = readWorkbook(workbook);
  const sheets = entries.flatMap(({ name, hidden, relation }, index) => {
    const part =
      partAt(parts, targets.get(relation)?.path ?? '') ?? partAt(parts, `xl/worksheets/sheet${index + 1}.xml`);
    const isSheet = /worksheet$/.test(targets.get(relation)?.type ?? 'worksheet');
    return part === undefined || !isSheet ? [] : [{ name, hidden, part }];
  });
  if (sheets.length === 0) throw fileDamaged('Excel', 'it has no sheets');
  const pathOf = (type: string, usual: string) =>
    targets.values().find((target) => target.type.endsWith(`/${type}`))?.path ?? usual;
  const strings = partAt(parts, pathOf('sharedStrings', 'xl/sharedStrings.xml'));
  const styles = partAt(parts, pathOf('styles', 'xl/styles.xml'));
  return {
    sheets,
    sharedStrings: strings === undefined ? [] : readSharedStrings(strings),
    formats: styles === undefined ? [] : readFormats(styles, system),
  };
}

/** Names in a zip file may differ in case from the references to them. */
function partAt(parts: Parts, path: string): Uint8Array | undefined {
  const exact = parts.get(path);
  if (exact !== undefined) return exact;
  const wanted = path.toLowerCase();
  for (const [name, part] of parts) if (name.toLowerCase() === wanted) return part;
  return undefined;
}

function findWorkbook(parts: Parts): string {
  const main = readRelationships(parts, '')
    .values()
    .find(({ type }) => type.endsWith('/officeDocument'));
  return main?.path ?? 'xl/workbook.xml';
}

interface Target {
  readonly type: string;
  readonly path: string;
}

function readRelationships(parts: Parts, of: string): Map<string, Target> {
  const slash = of.lastIndexOf('/') + 1;
  const folder = of.slice(0, slash);
  const part = partAt(parts, `${folder}_rels/${of.slice(slash)}.rels`);
  const found = new Map<string, Target>();
  if (part === undefined) return found;
  readWhole(part, {
    open: (name, { Id = '', Type = '', Target = '', TargetMode }) => {
      if (name === 'Relationship' && TargetMode !== 'External')
        found.set(Id, { type: Type, path: resolve(folder, Target) });
    },
  });
  return found;
}

function resolve(folder: string, target: string): string {
  const path: string[] = [];
  for (const step of (target.startsWith('/') ? target : folder + target).replaceAll('\\', '/').split('/')) {
    if (step === '..') path.pop();
    else if (step !== '' && step !== '.') path.push(step);
  }
  return path.join('/');
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

/** Returns the text of each string with its runs joined. Pronunciation hints are omitted. */
function readSharedStrings(part: Uint8Array): string[] {
  const strings: string[] = [];
  let text = '';
  let inText = false;
  let inPhonetic = false;
  readWhole(part, {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') inPhonetic = true;
      else if (name === 't') inText = !inPhonetic;
    },
    text: (piece) => {
      if (inText) text += piece;
    },
    close: (name) => {
      if (name === 't') inText = false;
      else if (name === 'rPh') inPhonetic = false;
      else if (name === 'si') strings.push(unescapeText(text));
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
  let inCells = false;
  const formatOf = (id: number): Format => {
    const code = codes.get(id) ?? builtInFormat(id);
    if (code === undefined) return general;
    const known = cache.get(code) ?? createFormat(code, system);
    cache.set(code, known);
    return known;
  };
  readWhole(part, {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode);
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) formats.push(formatOf(Number(numFmtId)));
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formats;
}
