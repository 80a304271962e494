/** Puts tables together, those inside of cells too. `before` is the text read since the last call. All need an open table. */
export interface TableRows {
  isOpen(): boolean;
  open(before: string): void;
  openRow(before: string): void;
  openCell(before: string): void;
  closeCell(before: string): void;
  closeRow(before: string): void;
  /** The innermost table as text: a line a row, ` | ` between cells. */
  close(before: string): string;
}

interface Table {
  readonly rows: string[];
  cells: string[];
  /** What stands in the cell before a table inside of it. */
  cell: string;
}

export function createTableRows(): TableRows {
  const tables: Table[] = [];

  function closeCell(table: Table, before: string): void {
    table.cells.push(oneLine(table.cell + before));
    table.cell = '';
  }

  function closeRow(table: Table, before: string): void {
    if (oneLine(table.cell + before) !== '') closeCell(table, before);
    if (table.cells.some((cell) => cell !== '')) table.rows.push(table.cells.join(' | '));
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
      tables.push({ rows: [], cells: [], cell: '' });
    },
    openRow: (before) => inside(before, closeRow),
    openCell: (before) =>
      inside(before, (table) => {
        table.cell += before;
      }),
    closeCell: (before) => inside(before, closeCell),
    closeRow: (before) => inside(before, closeRow),
    close: (before) => {
      inside(before, closeRow);
      return tables.pop()?.rows.join('\n') ?? '';
    },
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
