import { type Static, Type } from 'typebox';

/** The columns of question–answer sheets. Source: docs/contract.md "Collections, records, chunks". */

/** `columns` is the number of columns that are read, `headerRow` the number of rows of a worksheet. */
const sheetLimits = { columnName: 256, columns: 1024, headerRow: 1_048_576 } as const;

const SheetColumn = Type.Union([
  Type.String({ minLength: 1, maxLength: sheetLimits.columnName, description: 'Name of the column in the header.' }),
  Type.Integer({ minimum: 1, maximum: sheetLimits.columns, description: 'Number of the column, counted from 1.' }),
]);
export type SheetColumn = Static<typeof SheetColumn>;

export const SheetColumns = Type.Object(
  {
    question: Type.Optional(SheetColumn),
    answer: Type.Optional(SheetColumn),
    id: Type.Optional(SheetColumn),
    tags: Type.Optional(SheetColumn),
    header_row: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: sheetLimits.headerRow,
        description:
          'Row that names the columns; 0 if no row does. Default: the first row that has the names, or none if `question` and `answer` are numbers.',
      }),
    ),
    include_hidden: Type.Optional(
      Type.Boolean({
        description: 'Also read hidden sheets, and hidden rows, columns and cells of all sheets. Default: false.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'For `qa_sheet`: the columns of the sheet, each by its name or number. `id` identifies a pair, `tags` becomes the metadata entry of this name. Columns that are left out are found by their names; other columns become metadata.',
  },
);
export type SheetColumns = Static<typeof SheetColumns>;

export const ColumnSample = Type.Object({ row: Type.Integer(), question: Type.String(), answer: Type.String() });
export type ColumnSample = Static<typeof ColumnSample>;

export const ProposedColumns = Type.Object({
  sheet: Type.Union([Type.String(), Type.Null()], { description: 'Name of the sheet; null for CSV.' }),
  found: Type.Array(Type.String(), { description: 'Cells of the row that may be the header.' }),
  header_row: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Row of these cells, if they look like names; null if they look like values.',
  }),
  columns: Type.Union([SheetColumns, Type.Null()], {
    description: 'Proposal, to be sent as `columns`; null if no two columns contain text.',
  }),
  samples: Type.Array(ColumnSample, { description: 'The first pairs that the proposal gives, at most 5.' }),
});
export type ProposedColumns = Static<typeof ProposedColumns>;

/** A sheet that was read, and the columns that were taken. */
export const ReadSheet = Type.Object({
  ...Type.Pick(ProposedColumns, ['sheet']).properties,
  found: Type.Array(Type.String(), { description: 'Names of the columns, at most 40.' }),
  header_row: Type.Union([Type.Integer(), Type.Null()], { description: 'Row of these names; null without one.' }),
  columns: Type.Object(
    { question: Type.Integer(), answer: Type.Integer(), header_row: Type.Optional(Type.Integer()) },
    { description: 'Numbers of the columns, from 1. Can be sent as `columns`.' },
  ),
});
export type ReadSheet = Static<typeof ReadSheet>;

const names = Type.Array(Type.String());
export const RecordFailureDetails = Type.Array(
  Type.Object({
    sheets: Type.Array(ProposedColumns, { description: 'The sheets without a pair, at most 5.' }),
    accepted_names: Type.Object({ question: names, answer: names, id: names, tags: names }),
  }),
  { description: 'With code `columns_not_found`: a proposal for each sheet, and the names that are recognised.' },
);
export type RecordFailureDetails = Static<typeof RecordFailureDetails>;
