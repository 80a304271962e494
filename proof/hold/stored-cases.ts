import { blendedPage, largePicture, longHeading, longSheetName } from '../starvation/payloads.ts';
import type { Random } from '../support/random.ts';
import { memberOf, uploadFile, withRecord } from './document-cases.ts';
import { allRuns, type HostileFile, runsInFiles, structuredFiles } from './document-files.ts';
import type { HoldCase } from './hold-case.ts';
import type { HoldService } from './hold-service.ts';
import type { HoldUpstream } from './hold-upstream.ts';

interface Options {
  readonly slice: boolean;
  readonly random: Random;
  readonly upstream: HoldUpstream;
}

/**
 * Returns cases for what the service has stored and reads again: the text of records, the chunks and boxes of their
 * pages, files in the inputs of plugins, and artifacts.
 */
export function storedCases(options: Options): HoldCase[] {
  return [...textCases(options), ...boxCases(options), ...fileInputCases(options), ...artifactCases(options)];
}

const paragraphs = { type: 'separator', separators: ['\n\n'], chunk_size: 60, chunk_overlap: 0 };

/** Documents whose names of places are long, or whose places are many. */
const placedFiles: readonly HostileFile[] = [
  {
    name: 'a heading of 200,000 characters',
    extension: 'md',
    splitter: paragraphs,
    bytes: () => longHeading(200_000, 400),
  },
  {
    name: 'a heading of 20,000 characters above 5,000 paragraphs',
    extension: 'md',
    splitter: paragraphs,
    bytes: () => longHeading(20_000, 5_000),
  },
  {
    name: 'a sheet name of 100,000 characters',
    extension: 'xlsx',
    purpose: 'document_file',
    bytes: () => longSheetName(100_000, 300),
  },
  { name: '1,000 headings, each deeper', extension: 'html', bytes: () => nestedHeadings(1_000) },
];

function nestedHeadings(count: number): Buffer {
  const parts = Array.from(
    { length: count },
    (_, at) => `<h${(at % 6) + 1}>${'heading '.repeat(100)}</h1><p>text ${at}`,
  );
  return Buffer.from(parts.join('').slice(0, 1_000_000));
}

function textCases({ slice, random }: Options): HoldCase[] {
  const texts = [...structuredFiles, ...runsInFiles(allRuns)].filter(({ extension }) =>
    /^(?:md|html|txt)$/.test(extension),
  );
  return [...placedFiles, ...random.shuffle(texts).slice(0, slice ? 2 : 40)].flatMap((file) => [
    useRecord('text of a record', file, (path) => `${path}/text?max_characters=100000`),
    useRecord('chunks of a record', file, (path) => `${path}/chunks?limit=100`),
  ]);
}

function useRecord(target: string, file: HostileFile, pathOf: (record: string) => string): HoldCase {
  return {
    target,
    payload: `${file.extension}: ${file.name}`,
    send: (service) =>
      withRecord(service, file, (record) =>
        service.sender.send({ address: 'files', method: 'GET', path: pathOf(record) }),
      ),
  };
}

function boxCases({ slice, random }: Options): HoldCase[] {
  const pages = [...structuredFiles, ...runsInFiles(allRuns)].filter(({ extension }) => extension === 'pdf');
  // Each rectangle takes up to a second, and a response that takes longer than 8 s counts as none.
  const slow: HostileFile = { name: '3 blended rectangles', extension: 'pdf', bytes: () => blendedPage(3) };
  const picture = 'pages/1/picture?width=1000';
  return [slow, ...random.shuffle(pages).slice(0, slice ? 2 : 30)].flatMap((file) => [
    { ...useRecord('picture of a page', file, (record) => `${record}/${picture}`), mostAnswer: 30_000 },
    {
      target: 'boxes of a chunk',
      payload: `${file.extension}: ${file.name}`,
      mostAnswer: 30_000,
      send: (service: HoldService) => withRecord(service, file, (record) => askBoxes(service, record)),
    },
  ]);
}

async function askBoxes({ sender }: HoldService, record: string): Promise<string | undefined> {
  const { text } = await sender.ask({ address: 'files', method: 'GET', path: `${record}/chunks?limit=1` });
  const chunk = memberOf(text, 'chunk_id');
  if (chunk === undefined) return undefined;
  const path = record.replace(/records\/.*/, `chunks/${chunk}/boxes`);
  return await sender.send({ address: 'files', method: 'GET', path });
}

const mebibyte = 1024 * 1024;

/** Files in inputs: one of the largest size that a run accepts, and many small ones, with schemas that read their text. */
function fileInputCases({ slice, upstream }: Options): HoldCase[] {
  const sizes = slice ? [8 * mebibyte] : [60_000, mebibyte, 8 * mebibyte];
  return sizes
    .flatMap((size) =>
      ['file', 'picture'].map((name) =>
        fileInput(upstream, `${name} of ${size} bytes`, size, (file) => ({ [name]: file })),
      ),
    )
    .concat(fileInput(upstream, '16 files', (8 * mebibyte) / 16, (file) => ({ files: Array(16).fill(file) })));
}

function fileInput(upstream: HoldUpstream, payload: string, size: number, inputOf: (file: string) => object): HoldCase {
  return {
    target: 'files in inputs',
    payload,
    mostAnswer: 30_000,
    send: async ({ sender }) => {
      upstream.answer('application/json', '{}');
      const uploaded = await uploadFile(sender, { extension: 'png', bytes: () => largePicture(size) }, 'document_file');
      const file = memberOf(uploaded.text, 'file_id');
      const input_params = inputOf(`file:${file}`);
      const request = { bundle_id: 'hold', plugin_id: 'files', input_params, credentials: { KEY: 'abcd1234' } };
      const body = JSON.stringify(request);
      const outcome = await sender.send({ address: 'plugins', method: 'POST', path: '/v1/execute', body });
      await sender.ask({ address: 'files', method: 'DELETE', path: `/v1/files/${file}` });
      return outcome;
    },
  };
}

/** Outputs that are stored as artifacts, read again, and used as the input of another run. */
function artifactCases({ slice, random, upstream }: Options): HoldCase[] {
  const some = random.shuffle(allRuns).slice(0, slice ? 2 : 40);
  return some.map((each) => ({
    target: 'artifacts',
    payload: each.name,
    mostAnswer: 30_000,
    send: async ({ sender }) => {
      upstream.answer('text/plain', each.text(1.5 * mebibyte));
      const execute = async (plugin_id: string, input_params: object) => {
        const body = JSON.stringify({ bundle_id: 'hold', plugin_id, input_params, credentials: { KEY: 'abcd1234' } });
        return await sender.ask({ address: 'plugins', method: 'POST', path: '/v1/execute', body });
      };
      const { status, text } = await execute('text', {});
      const artifact = memberOf(text, 'artifact_id');
      if (artifact === undefined) return String(status);
      const path = `/v1/artifacts/${artifact}`;
      await sender.ask({ address: 'plugins', method: 'GET', path: `${path}/content` });
      upstream.answer('application/json', '{}');
      const used = await execute('files', { file: `artifact:${artifact}` });
      await sender.ask({ address: 'plugins', method: 'DELETE', path });
      return String(used.status);
    },
  }));
}
