import {
  acceptedNames,
  answerStems,
  answerWords,
  questionStems,
  questionWords,
} from '../../packages/server/src/stores/extraction/qa/column-names.ts';

/** Renders docs/reference/sheets.md. */
export function describeSheets(): string {
  return [
    '# Question–answer sheets',
    '',
    'Generated from `packages/server/src/stores/extraction/qa/column-names.ts` by `npm run reference`; do not edit.',
    '',
    'A record of type `qa_sheet` gets a pair from each row of a CSV or XLSX file below the row that names the columns. Columns without a',
    'role become metadata.',
    '',
    '## How the columns are found',
    '',
    '1. `columns` of the request names the columns, each by its name or by its number, counted from 1.',
    '2. One of the first 10 rows with a value has an accepted name in two of its cells. Case, width, blanks and punctuation do not count.',
    '3. The first row with two values has longer names: "Question (EN)", "Customer question", 问题内容, "Fragetext". A name with a word such',
    '   as *id*, *type* or *date* is not one of them.',
    '',
    'Otherwise the record ends in `error` with the code `columns_not_found`, and nothing is imported. `error.details` proposes `columns` with',
    'up to five sample pairs for each sheet, and lists all accepted names. `dry_run=true` answers the same without a record. Send the',
    'proposal, or your correction of it, as `columns` to `POST …/records/{record_id}`, or choose the columns in the console.',
    '',
    '```json',
    '{"type": "qa_sheet", "file_id": "…", "columns": {"question": "Title", "answer": "Body", "id": "No.", "tags": 5}}',
    '```',
    '',
    '| Member | Meaning |',
    '|---|---|',
    '| `question`, `answer` | the columns of the pairs |',
    '| `id` | the column that identifies a pair in later uploads, for `on_duplicate` |',
    '| `tags` | the column that becomes the metadata entry `tags` |',
    '| `header_row` | the row that names the columns; 0 if no row does |',
    '',
    'Columns that you leave out are found by their names. If `question` and `answer` are numbers and `header_row` is absent, every row is a',
    'pair. `columns` applies to all sheets of a workbook; sheets without these names are left out, and the report names them. An empty',
    'object removes the `columns` of a record.',
    '',
    '## Accepted names',
    '',
    'Names are written without blanks here: `câuhỏi` stands for "Câu hỏi".',
    '',
    ...section('Questions', acceptedNames.question),
    ...section('Answers', acceptedNames.answer),
    ...section('Ids', acceptedNames.id),
    ...section('Tags', acceptedNames.tags),
    '## Names within longer names',
    '',
    ...section('Questions, as a word', questionWords),
    ...section('Answers, as a word', answerWords),
    ...section('At the start or end of a word', [...questionStems, ...answerStems]),
  ].join('\n');
}

function section(title: string, names: readonly string[]): string[] {
  return [`**${title}**: ${names.map((name) => `\`${name}\``).join(', ')}`, ''];
}
