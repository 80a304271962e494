import { once } from '../../packages/server/src/platform/concurrency/once.ts';
import type { Attack } from './attack.ts';
import type { Caller } from './caller.ts';
import { blendedPage, differentWords, emptyElements, longHeading, longSheetName } from './payloads.ts';

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const slowDocuments = [
  { name: 'heading.md', type: 'text/markdown', bytes: once(() => longHeading(2_400_000, 20_000)) },
  { name: 'elements.docx', type: word, bytes: once(() => emptyElements(120)) },
] as const;
const slowDocument = (index: number) => slowDocuments[index % slowDocuments.length] ?? slowDocuments[0];
function buildSlowDocuments(): void {
  for (const { bytes } of slowDocuments) bytes();
}
/** The limit of one document. With it, the proof of a queue of slow documents takes minutes instead of hours. */
const shortReading = { EXTRACTION_SECONDS: '10' };
const slowNames = 'a long heading above 20,000 paragraphs, and 120 MiB of empty elements';
const small = { type: 'token', chunk_size: 60, chunk_overlap: 0 };

/** Attacks with documents: their readers, the worker of records, dry runs, pages, texts and questions. */
export const documentAttacks: readonly Attack[] = [
  {
    queue: 'readers of documents',
    payload: `documents at /openwebui/process: ${slowNames}`,
    width: 24,
    own: ['dry run'],
    build: buildSlowDocuments,
    settings: shortReading,
    prepare: async (caller) => async (index) => {
      const { name, type, bytes } = slowDocument(index);
      const headers = { 'X-Filename': name, 'Content-Type': type };
      const body = Uint8Array.from(bytes());
      return String((await caller.ask({ method: 'PUT', path: '/openwebui/process', headers, body })).status);
    },
  },
  {
    queue: 'worker of records',
    payload: `records of ${slowNames}`,
    width: 24,
    own: ['dry run'],
    build: buildSlowDocuments,
    settings: shortReading,
    prepare: async (caller) => {
      const collection = await caller.createCollection();
      const files = await Promise.all(slowDocuments.map(({ name, bytes }) => caller.upload(name, bytes())));
      return async (index) => {
        const path = await caller.createRecord(collection, files[index % files.length] ?? '');
        const status = await caller.settle(path);
        await caller.ask({ method: 'DELETE', path });
        return `2xx ${status}`;
      };
    },
  },
  {
    queue: 'dry runs',
    payload: `dry runs of ${slowNames}`,
    width: 8,
    own: ['dry run'],
    build: buildSlowDocuments,
    settings: shortReading,
    prepare: async (caller) => {
      const collection = await caller.createCollection();
      const files = await Promise.all(slowDocuments.map(({ name, bytes }) => caller.upload(name, bytes())));
      return async (index) => {
        const path = `/v1/collections/${collection}/records?dry_run=true`;
        const json = { type: 'file', file_id: files[index % files.length], title: '' };
        return String((await caller.ask({ method: 'POST', path, json })).status);
      };
    },
  },
  {
    queue: 'page pictures',
    payload: 'pictures of a page of 20,000 blended rectangles',
    width: 80,
    prepare: async (caller) => {
      const pdf = await readyRecord(caller, 'slow.pdf', blendedPage(20_000));
      return async (index) => {
        const path = `${pdf}/pages/1/picture?width=${200 + (index % 2_000)}`;
        return String((await caller.ask({ path })).status);
      };
    },
  },
  {
    queue: 'text of a record',
    payload: 'GET …/text of a document with a heading of 200,000 characters',
    width: 24,
    own: ['record text'],
    prepare: (caller) =>
      textRequests(caller, 'heading.md', longHeading(200_000, 500), {
        text_splitter: { type: 'separator', separators: ['\n\n'], chunk_size: 60, chunk_overlap: 0 },
      }),
  },
  {
    queue: 'text of a record',
    payload: 'GET …/text of a workbook whose sheet has a name of 100,000 characters',
    width: 24,
    own: ['record text'],
    prepare: (caller) => textRequests(caller, 'sheet.xlsx', longSheetName(100_000, 400), { text_splitter: small }),
  },
  {
    queue: 'rankings of questions',
    payload: 'questions of 32,000 characters to a collection of 200,000 different words',
    width: 48,
    prepare: async (caller) => {
      const words = Buffer.from(differentWords(200_000));
      const record = await readyRecord(caller, 'words.txt', words, { text_splitter: small });
      const path = record.replace(/records\/.*/, 'chunks/query');
      return async (index) => {
        const json = { query_text: differentWords(5_300, (index * 5_300) % 190_000), top_k: 100 };
        return String((await caller.ask({ method: 'POST', path, json })).status);
      };
    },
  },
  {
    queue: 'embedding of questions',
    payload: 'questions to a model that takes 150 ms',
    width: 600,
    own: ['question with vectors'],
    embeds: true,
    prepare: async (caller) => {
      const record = await readyRecord(caller, 'words.txt', Buffer.from('Ordinary words.'));
      const path = record.replace(/records\/.*/, 'chunks/query');
      return async (index) => {
        const json = { query_text: `other words ${index}` };
        return String((await caller.ask({ method: 'POST', path, json })).status);
      };
    },
  },
];

async function readyRecord(caller: Caller, name: string, bytes: Buffer, more: object = {}): Promise<string> {
  const file = await caller.upload(name, bytes, 'document_file');
  const path = await caller.createRecord(await caller.createCollection(), file, more);
  const status = await caller.settle(path);
  if (status !== 'ready' && status !== 'partial') throw new Error(`${name} is ${status}`);
  return path;
}

async function textRequests(caller: Caller, name: string, bytes: Buffer, more: object) {
  const path = await readyRecord(caller, name, bytes, more);
  return async (index: number) => {
    // The text begins with the long heading, whose chunks are many.
    const start = index % 2 === 0 ? 0 : 150_000;
    return String((await caller.ask({ path: `${path}/text?char_start=${start}&max_characters=100000` })).status);
  };
}
