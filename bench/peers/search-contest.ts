import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createVectors,
  findNearest,
} from '../../packages/server/src/stores/search/vector-codes/testing/random-vectors.fixture.ts';
import { connectClient } from '../../test/support/client.ts';
import { openRequests, requestBytes, runLoad } from '../load.ts';
import { type Service, startService } from '../processes.ts';
import { searchQuestions, searchTexts } from '../search/search-texts.ts';
import { importSheet, openSearchedService, untilMerged } from '../search/searched-service.ts';
import { type Contestant, type Effort, type Figures, hold, startHost, versionOf } from './contest.ts';

/** A system that answers questions over HTTP. */
interface Answering extends Omit<Contestant, 'checked' | 'open'> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds until everything could be found. */
  readonly built: number;
  body(question: string): object;
  close(): Promise<unknown>;
}

interface Questions {
  readonly group: string;
  readonly work: string;
  readonly questions: readonly string[];
  /** Asks what has a known answer. Returns how good the answers were. */
  check(ask: (question: string) => Promise<string>): Promise<string>;
}

interface Size extends Effort {
  readonly version: string;
  readonly size: number;
}

/** Rows of a sheet, so that a busy machine reads each within the time limit. */
const rows = 10_000;
/** The passages that are asked for by the number and seven of their words. */
const knownItems = 100;

/** Asks each engine the same questions about the same passages, for five results with their texts. */
export async function contestQuestions(folder: string, given: Size): Promise<Figures[]> {
  const sphinx = spawnSync('searchd', ['--help'], { encoding: 'utf8' }).stdout?.match(/^Sphinx ([\d.]+)/)?.[1];
  if (sphinx === undefined) console.error('Sphinx is not measured: install the Debian package sphinxsearch');
  const searched = await openSearchedService({ name: 'ours', data: join(folder, 'ours'), size: given.size, rows });
  await untilMerged(searched.data);
  const { service, collection, imported } = searched;
  const systems = [
    { ...ourService(service, given, { collection, limit: 5 }), built: imported.seconds },
    await openHost(['FTS5', folder, given.size], { version: `SQLite ${process.versions.sqlite}`, limit: 5 }),
    await openHost(['LanceDB', folder, given.size], { version: versionOf('@lancedb/lancedb'), limit: 5 }),
    ...(sphinx === undefined ? [] : [await openHost(['Sphinx', folder, given.size], { version: sphinx, limit: 5 })]),
  ];
  const known = [...searchTexts(given.size)].filter((_, place) => place % (given.size / knownItems) === 0);
  const work = `${given.size.toLocaleString('en')} passages`;
  const questions: Questions = {
    ...{ group: 'questions', work, questions: searchQuestions() },
    async check(ask) {
      let found = 0;
      for (const text of known) {
        const [question = '', answer = ''] = text.split('? ');
        const words = question.split(' ');
        if ((await ask([...words.slice(0, 7), words.at(-1)].join(' '))).includes(answer.slice(-60))) found++;
      }
      return `${found} of ${knownItems} known passages found`;
    },
  };
  return await contest(systems, questions, given);
}

const dimensions = 384;
const nearest = 10;

/** Asks for the nearest vectors. Each system gets the vector of a question from the same embedding service. */
export async function contestVectors(folder: string, given: Size): Promise<Figures[]> {
  mkdirSync(folder, { recursive: true });
  const { vectors, queries } = createVectors('topics', { count: given.size, dimensions });
  const asked = queries(100);
  for (const [name, rows] of Object.entries({ vectors, questions: asked })) {
    writeFileSync(join(folder, name), Buffer.concat(rows.map((row) => new Uint8Array(row.buffer))));
  }
  const embeddings = await startHost('host.mjs', ['embeddings', folder, dimensions]);
  const service = await startService(join(folder, 'ours'), {
    ...{ QUARTERMASTER_EMBEDDING_PROVIDER: 'openai', QUARTERMASTER_EMBEDDING_URL: embeddings.url },
    QUARTERMASTER_LOG_LEVEL: 'warn',
  });
  const began = performance.now();
  const collection = await importPairs(service, given.size);
  const built = (performance.now() - began) / 1000;
  const systems: Answering[] = [{ ...ourService(service, given, { collection, limit: nearest }), built }];
  for (const name of ['hnswlib-node', 'sqlite-vec']) {
    const args = [name, folder, dimensions, embeddings.url];
    systems.push(await openHost(args, { version: versionOf(name), limit: nearest }));
  }
  // No passage has such a word, so that vectors alone decide.
  const words = asked.map((_, place) => String(place).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''));
  const exact = asked.map((vector) => findNearest(vectors, vector, nearest));
  const questions: Questions = {
    ...{ group: 'vectors', work: `${given.size.toLocaleString('en')} × ${dimensions}`, questions: words },
    async check(ask) {
      let right = 0;
      for (const [place, word] of words.entries()) {
        const found = Array.from((await ask(word)).matchAll(/The answer of pair (\d+)\./g), ([, number]) =>
          Number(number),
        );
        right += exact[place]?.filter((seq) => found.includes(seq)).length ?? 0;
      }
      return `recall@10 ${(right / (exact.length * nearest)).toFixed(3)}`;
    },
  };
  return await contest(systems, questions, given).finally(embeddings.stop);
}

function ourService(
  { pid, filesUrl, key, stop }: Service,
  { version }: Size,
  { collection, limit }: { collection: string; limit: number },
) {
  const url = `${filesUrl}/v1/collections/${collection}/chunks/query`;
  const body = (query_text: string) => ({ query_text, top_k: limit });
  return { name: 'Quartermaster', version, pid, url, headers: { Authorization: `Bearer ${key}` }, body, close: stop };
}

/** Imports pairs whose texts have the number of their vector, and waits until each has its vector. */
async function importPairs(service: Service, count: number): Promise<string> {
  const client = connectClient(service, service.key);
  const { collection_id: collection } = await client.collections.create({ name: 'pairs', type: 'qa' });
  const lines = Array.from({ length: count }, (_, place) => `pair ${place},The answer of pair ${place}.`);
  await importSheet(service, { collection, csv: ['question,answer', ...lines].join('\n'), rows: count });
  while ((await client.collections.get(collection)).vectors === 'catching_up') await pause(500);
  return collection;
}

async function openHost(
  args: ReadonlyArray<string | number>,
  { version, limit }: { version: string; limit: number },
): Promise<Answering> {
  const { pid, url, seconds, stop } = await startHost('host.mjs', args);
  const body = (query: string) => ({ query, limit });
  return { name: String(args[0]), version, pid, url, built: seconds, headers: {}, body, close: stop };
}

/** Checks the answers of all systems, then measures them with one connection and with eight. */
async function contest(systems: readonly Answering[], given: Questions, effort: Effort): Promise<Figures[]> {
  const contestants: Contestant[] = [];
  try {
    for (const { url, body, headers: own, built, close: _, ...system } of systems) {
      const headers = { 'Content-Type': 'application/json', ...own };
      const bodies = given.questions.map((question) => JSON.stringify(body(question)));
      const request = bodies.map((each) => requestBytes('POST', new URL(url).pathname, { headers, body: each }));
      await runLoad({ url, request, connections: 4, seconds: 3 }); // fills the caches
      const good = await given.check(async (question) => {
        const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body(question)) });
        return response.ok ? JSON.stringify(await response.json()) : Promise.reject(new Error(await response.text()));
      });
      const checked = `${good}; built in ${built.toFixed(1)} s`;
      contestants.push({ ...system, checked, open: openRequests({ url, request }) });
    }
    return await hold({ group: given.group, work: given.work, connections: [1, 8] }, contestants, effort);
  } finally {
    for (const { close } of systems) await close();
  }
}
