import { childrenOf, findAll, type XmlElement } from '../docx/xml-tree.ts';
import { createFills, createStyles, findLooks } from './text-look.ts';

/** What decides how a cell looks, besides its own style. */
export interface CellPlace {
  readonly table: XmlElement;
  readonly row: XmlElement;
  /** The style of the cells of the column. */
  readonly column: string | undefined;
}

/** Whether people see no text in a cell: it is white on white, or its format shows nothing. */
export type IsUnseenCell = (cell: XmlElement, place: CellPlace) => boolean;

interface CellStyle {
  readonly isSilent: boolean;
  readonly isWhite: boolean;
  /** Whether the cell has a colour, or rules that may give it one. */
  readonly isBacked: boolean;
}

export function createUnseenCells(styles: readonly XmlElement[]): IsUnseenCell {
  const styleOf = createCellStyles(styles);
  const spans = findLooks(styles, 'paragraph', 'text');
  const fills = createFills(styles, 'table', 'table-row');
  const ruled = new Map<XmlElement, boolean>();

  function hasRules(table: XmlElement): boolean {
    const known = ruled.get(table) ?? childrenOf(table).some(({ name }) => name.endsWith(':conditional-formats'));
    ruled.set(table, known);
    return known;
  }

  function areWhite(element: XmlElement, around: boolean): boolean {
    const white = spans.get(element.attributes['text:style-name'] ?? '')?.white ?? around;
    return element.children.every((child) =>
      typeof child === 'string' ? white || child.trim() === '' : areWhite(child, white),
    );
  }

  return (cell, { table, row, column }) => {
    const own = cell.attributes['table:style-name'] ?? row.attributes['table:default-cell-style-name'];
    const { isSilent, isWhite, isBacked } = styleOf(own ?? column ?? 'Default');
    if (isSilent) return true;
    const lines = childrenOf(cell, 'text:p');
    if (isBacked || (lines.length === 0 ? !isWhite : !lines.every((line) => areWhite(line, isWhite)))) return false;
    const around = [row, table].map(({ attributes }) => fills(attributes['table:style-name'] ?? ''));
    return !around.includes(true) && !hasRules(table);
  };
}

function createCellStyles(styles: readonly XmlElement[]): (name: string) => CellStyle {
  const { chain } = createStyles(styles, 'table-cell');
  const looks = findLooks(styles, 'table-cell');
  const fills = createFills(styles, 'table-cell');
  const silent = findSilentFormats(styles);
  const known = new Map<string, CellStyle>();
  const formatOf = ({ attributes }: XmlElement) => attributes['style:data-style-name'];
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const hasRules = chain(name).some((style) => childrenOf(style, 'style:map').length > 0);
    const style = {
      isSilent: silent.has(
        chain(name)
          .map(formatOf)
          .find((format) => format !== undefined) ?? '',
      ),
      isWhite: looks.get(name)?.white === true,
      isBacked: hasRules || fills(name) === true,
    };
    known.set(name, style);
    return style;
  };
}

/** Returns the names of the formats without any part, such as `;;;`. Source: OpenDocument 1.3, part 3, 16.29. */
function findSilentFormats(styles: readonly XmlElement[]): ReadonlySet<string> {
  const formats = ['number:number-style', 'number:text-style', 'number:currency-style', 'number:percentage-style']
    .flatMap((kind) => styles.flatMap((each) => [...findAll(each, kind)]))
    .map((format) => [format.attributes['style:name'] ?? '', format] as const);
  const isBare = (format: XmlElement) =>
    childrenOf(format).every(({ name }) => name === 'style:map' || name === 'style:text-properties');
  const bare = new Map(formats.filter(([, format]) => isBare(format)));
  const isSilent = (format: XmlElement) =>
    childrenOf(format, 'style:map').every(({ attributes }) => bare.has(attributes['style:apply-style-name'] ?? ''));
  return new Set([...bare].flatMap(([name, format]) => (isSilent(format) ? [name] : [])));
}
