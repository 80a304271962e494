import { readFileSync } from 'node:fs';
import { formatEntries } from '../../packages/contract/src/contract.ts';
import { describeReader } from '../../packages/server/src/stores/extraction/formats/read-document.ts';

const path = 'docs/reference/formats.md';
const [begin, end] = ['<!-- formats: begin -->', '<!-- formats: end -->'];

/** Renders the table of docs/reference/formats.md, whose other text is hand-written. */
export function describeFormats(): string {
  const page = readFileSync(path, 'utf8');
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start === -1 || stop === -1) throw new Error(`${path} has no place for the table of formats`);
  return page.slice(0, start + begin.length) + table() + page.slice(stop);
}

function table(): string {
  const rows = formatEntries.flatMap(([extension, { purposes, aliases = [] }]) => {
    const names = [extension, ...aliases].map((name) => `\`.${name}\``).join(', ');
    const { becomes, omits } = describeReader(extension);
    const documents = purposes.filter((purpose) => purpose !== 'qa_record_file');
    const written = documents.map((purpose) => `\`${purpose}\``).join(', ');
    return [
      ...(purposes.includes('qa_record_file')
        ? [
            `| ${names} | \`qa_record_file\` | [questions and answers](sheets.md) | hidden sheets, rows and columns (a warning names them) |`,
          ]
        : []),
      ...(documents.length === 0 ? [] : [`| ${names} | ${written} | ${becomes} | ${omits} |`]),
    ];
  });
  const head = ['| format | purposes | what becomes text | what does not |', '| --- | --- | --- | --- |'];
  return `\n${[...head, ...rows].join('\n')}\n`;
}
