/**
 * Builds tables, including nested ones. `before` is the text read since the last call. All methods except `isOpen` need
 * an open table.
 */
export interface TableRows {
  isOpen(): boolean;
  open(before: string): void;
  openRow(before: string): void;
  openCell(before: string, spans: Spans): void;
  closeCell(before: string): void;
  closeRow(before: string): void;
  /**
   * Ends the innermost table and returns its text: a line for each row, `
   * ` between cells. A caption is a separate row.
   */
  close(before: string): { readonly text: string; readonly headerRows: number };
}

export interface Spans {
  readonly rows: number;
  readonly columns: number;
}

/** The maximum span of a cell. A larger span is an error or an attack. */
const mostSpanned = 50;

/** Reads the spans of a cell of HTML. */
export function spansOf({ rowspan, colspan }: Readonly<Record<string, string>>): Spans {
  const span = (value = '') => Math.min(mostSpanned, Math.max(1, Number.parseInt(value, 10) || 1));
  return { rows: span(rowspan), columns: span(colspan) };
}

interface Cell {
  readonly text: string;
  readonly spans: Spans;
}

interface Table {
  readonly rows: string[];
  /** For each column, the value that spans further rows, and the number of these rows. */
  carried: Array<{ readonly text: string; readonly left: number } | undefined>;
  cells: Cell[];
  spans: Spans;
  /** The text of the cell before a nested table. */
  cell: string;
}

const single: Spans = { rows: 1, columns: 1 };

export function createTableRows(): TableRows {
  const tables: Table[] = [];
  const repetition = createRepetition();

  function closeCell(table: Table, before: string): void {
    table.cells.push({ text: oneLine(table.cell + before), spans: table.spans });
    table.cell = '';
    table.spans = single;
  }

  function closeRow(table: Table, before: string): void {
    if (oneLine(table.cell + before) !== '') closeCell(table, before);
    const texts = spread(table, repetition);
    if (texts.some((text) => text !== '')) table.rows.push(texts.join(' | '));
    table.cells = [];
    table.cell = '';
  }

  function inside(before: string, act: (table: Table, before: string) => void): void {
    const table = tables.at(-1);
    if (table !== undefined) act(table, before);
  }

  return {
    isOpen: () => tables.length > 0,
    open: (before) => {
      inside(before, (table) => {
        table.cell += before;
      });
      tables.push({ rows: [], carried: [], cells: [], spans: single, cell: '' });
    },
    openRow: (before) => inside(before, closeRow),
    openCell: (before, spans) =>
      inside(before, (table) => {
        table.cell += before;
        table.spans = spans;
      }),
    closeCell: (before) => inside(before, closeCell),
    closeRow: (before) => inside(before, closeRow),
    close: (before) => {
      inside(before, closeRow);
      const rows = tables.pop()?.rows ?? [];
      const firstOfCells = rows.findIndex((row) => row.includes(' | '));
      return { text: rows.join('\n'), headerRows: firstOfCells === -1 ? 0 : firstOfCells + 1 };
    },
  };
}

/** A longer cell is not repeated. */
const longestRepeated = 500;

interface Repetition {
  /** Counts the text of a cell of the document. */
  add(text: string): void;
  /** Counts one more repetition of a text. False when the tables of the document have repeated too much. */
  allows(text: string): boolean;
}

/** Bounds the repeated text of a document by its own, because each cell can ask for 2,500 repetitions. */
function createRepetition(): Repetition {
  let left = 10_000;
  const lengthOf = (text: string) => text.length + ' | '.length;
  return {
    add: (text) => {
      left += 10 * lengthOf(text);
    },
    allows: (text) => {
      left -= lengthOf(text);
      return left > 0;
    },
  };
}

/**
 * Repeats a cell that spans rows or columns in each of them, so that every row can be read alone. A cell across a whole
 * row is not repeated, and no cell once the document has repeated ten times its own text.
 */
function spread(table: Table, repetition: Repetition): string[] {
  const { cells } = table;
  if (cells.length === 0) return [];
  const texts: string[] = [];
  const next: Table['carried'] = [];
  const takeCarried = () => {
    for (let above = table.carried[texts.length]; above !== undefined; above = table.carried[texts.length]) {
      if (!repetition.allows(above.text)) return;
      if (above.left > 1) next[texts.length] = { text: above.text, left: above.left - 1 };
      texts.push(above.text);
    }
  };
  for (const { text, spans } of cells) {
    takeCarried();
    repetition.add(text);
    const columns = cells.length === 1 && texts.length === 0 ? 1 : spans.columns;
    const again = text.length <= longestRepeated ? text : '';
    for (let column = 0; column < columns; column += 1) {
      if (column > 0 && !repetition.allows(again)) break;
      if (spans.rows > 1) next[texts.length] = { text: again, left: spans.rows - 1 };
      texts.push(column === 0 ? text : again);
    }
  }
  takeCarried();
  table.carried = next;
  return texts;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
