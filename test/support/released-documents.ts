import { strToU8, zipSync } from 'fflate';
import { pdfOf } from '../../packages/server/src/extraction/formats/testing/documents.fixture.ts';

/** The documents in the released stores: one of each format, written for the tests. */

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relation = (id: string, kind: string, target: string) =>
  `<Relationship Id="${id}" Type="${office}/${kind}" Target="${target}"/>`;
const contentType = (part: string, kind: string) =>
  `<Types><Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${kind}.main+xml"/></Types>`;

function zip(parts: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));
}

function wordDocumentOf(paragraphs: readonly string[]): Uint8Array {
  const namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  return zip({
    '[Content_Types].xml': contentType('/word/document.xml', 'wordprocessingml.document'),
    '_rels/.rels': `<Relationships>${relation('a', 'officeDocument', 'word/document.xml')}</Relationships>`,
    'word/document.xml': `<w:document ${namespace}><w:body>${body}</w:body></w:document>`,
  });
}

function workbookOf(rows: ReadonlyArray<readonly [string, string]>): Uint8Array {
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const sheet = rows.map((row, index) => `<row r="${index + 1}">${row.map(cell).join('')}</row>`).join('');
  return zip({
    '[Content_Types].xml': contentType('/xl/book.xml', 'spreadsheetml.sheet'),
    '_rels/.rels': `<Relationships>${relation('a', 'officeDocument', '/xl/book.xml')}</Relationships>`,
    'xl/book.xml': '<workbook xmlns:r="r"><sheets><sheet name="Pairs" r:id="b"/></sheets></workbook>',
    'xl/_rels/book.xml.rels': `<Relationships>${relation('b', 'worksheet', 'worksheets/first.xml')}</Relationships>`,
    'xl/worksheets/first.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
  });
}

const csv = `question,answer,id
How do I restart the espresso machine?,Hold the copper lever for ten seconds.,1
Where are the spare umbrellas?,"In the blue cabinet, second shelf.",2
这台打印机在哪里？,在三楼的会议室旁边。,3
A question without an answer?,,4
Where are the spare umbrellas?,In the blue cabinet.,2
`;

export const files: Readonly<Record<string, Uint8Array | string>> = {
  'garden.txt': 'The walled garden opens at dawn.\n\nQuinces ripen in October and keep until February.\n',
  'bees.md':
    '# Bees\n\n## Winter\n\nA colony clusters around its queen and eats forty pounds of honey.\n\n## Spring\n\nWillow pollen comes first.\n',
  'ferry.html':
    '<!doctype html><html><head><title>Ferry</title></head><body><h1>Ferry</h1><p>The ferry to Skerryvore sails at noon.</p><table><tr><th>Day</th><th>Sailings</th></tr><tr><td>Sunday</td><td>one</td></tr></table></body></html>',
  'clock.pdf': pdfOf([
    [
      { x: 60, y: 740, text: 'The tower clock', size: 18, font: 'Helvetica-Bold' },
      { x: 60, y: 700, text: 'The tower clock is wound with a crank every Thursday.' },
    ],
    [{ x: 60, y: 740, text: 'Its pendulum weighs ninety kilograms and hangs from an ash beam.' }],
  ]),
  'lease.docx': wordDocumentOf(['Lease of the boathouse', 'The tenant repaints the slipway each April.']),
  'chinese.txt': '茶馆的规矩\n\n茶馆每天早上六点开门，下雨天提供姜茶。\n',
  'pairs.csv': csv,
  'pairs.xlsx': workbookOf([
    ['question', 'answer'],
    ['Who feeds the peacocks?', 'The night porter, from the tin by the gate.'],
    ['When is the kiln fired?', 'On the last Friday of the month.'],
  ]),
};

export const texts: Readonly<Record<string, string>> = {
  Lanterns: 'Paper lanterns are lit when the harvest moon rises over the mill.',
  Naïve: 'The café’s naïve façade was rebuilt after the flood; Straße and 東京 are spelled as they are.',
};

export const cutText =
  'Ravens are counted on the first of May.---Jackdaws are never counted.---Owls are heard, not seen.';

export const directChunks = ['The signal flag for a pilot is quartered in white and red.', 'A halyard is a rope.'];

interface DocumentedQuestion {
  readonly of: 'text' | 'pairs';
  readonly query: { readonly query_text: string; readonly filters?: unknown };
}

const onText = (query_text: string): DocumentedQuestion => ({ of: 'text', query: { query_text } });
const onPairs = (query_text: string): DocumentedQuestion => ({ of: 'pairs', query: { query_text } });

export const questions: readonly DocumentedQuestion[] = [
  onText('When do quinces ripen?'),
  onText('How much honey does a colony eat in winter?'),
  onText('ferry to Skerryvore'),
  onText('How heavy is the pendulum?'),
  onText('tenant repaints the slipway'),
  onText('茶馆几点开门'),
  onText('paper lanterns harvest moon'),
  onText('naïve façade'),
  onText('Jackdaws'),
  onText('signal flag for a pilot'),
  { of: 'text', query: { query_text: 'sails at noon', filters: { type: 'eq', key: 'source', value: 'ferry.html' } } },
  onPairs('How do I restart the espresso machine?'),
  onPairs('Where are the spare umbrellas?'),
  onPairs('打印机在哪里'),
  onPairs('Who feeds the peacocks?'),
];

/** A third-party bundle with a credential and one plugin that returns its hash. */
export const bundle = {
  'bundle.yaml': {
    id: 'released',
    version: '1.0.0',
    name: 'Released',
    description: 'Tells the hash of the token it was called with.',
    provider: 'Example',
    developer: 'Example',
    hosts: ['api.example.com'],
    credentials_schema: {
      type: 'object',
      required: ['KEY'],
      additionalProperties: false,
      properties: { KEY: { type: 'string', description: 'The token.', 'x-secret': true } },
    },
    inject: [{ in: 'bearer', credential: 'KEY' }],
  },
  'who.yaml': {
    id: 'who',
    name: 'Who',
    description: 'Tells the hash of the token.',
    effects: 'read',
    idempotent: true,
    input_schema: { type: 'object', additionalProperties: false, properties: {} },
    output_schema: { type: 'object', properties: { token: { type: 'string', description: 'Its hash.' } } },
    request: { method: 'GET', url: 'https://api.example.com/who' },
    response: { output: '{token: body.token}' },
  },
};
