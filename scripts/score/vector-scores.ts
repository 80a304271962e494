import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { once as onceOnly } from '../../packages/server/src/platform/concurrency/once.ts';
import { corpusFolder } from '../../test/support/corpus.ts';
import { type EmbedText, learnLatentSemantics } from './latent-semantics.ts';
import { withService } from './retrieval-service.ts';

/** The languages of the questions and of the documents, and the part that all vectors have in common. */
export interface VectorSet {
  readonly questions: Language;
  readonly documents: Language;
  /** 0.75: each cosine c becomes 0.75 + 0.25 c, as models such as e5 have it. */
  readonly common: 0 | 0.75;
}

const languages = ['ar', 'en', 'es', 'zh'] as const;
type Language = (typeof languages)[number];

export const vectorSets: readonly VectorSet[] = [
  ...languages.map((language) => ({ questions: language, documents: language, common: 0 }) as const),
  ...(
    [
      ['en', 'es'],
      ['es', 'ar'],
      ['zh', 'en'],
      ['ar', 'en'],
    ] as const
  ).map(([questions, documents]) => ({ questions, documents, common: 0 }) as const),
  { questions: 'en', documents: 'en', common: 0.75 },
  { questions: 'en', documents: 'es', common: 0.75 },
];

/** The sets whose coverage is measured. */
export const coveredSets = vectorSets.filter(
  ({ questions, documents, common }) => common === 0 && (questions === documents || documents === 'es'),
);

/** The shares of chunks with a vector. */
export const coverages = [0.05, 0.25, 0.5, 0.75, 1] as const;
/** The chunks that lose their vectors: the newest, as while a collection is embedded, or pseudo-random ones. */
export const orders = ['newest', 'random'] as const;
type Order = (typeof orders)[number];

export interface VectorScore {
  readonly set: VectorSet;
  /** nDCG@10 of each mode. */
  readonly ndcg: Readonly<Record<Mode, number>>;
  /** How well the best fused score tells questions whose best hit is right from off-topic ones; 1 is perfect. */
  readonly auc: number;
  /** The share of right answers and the number of off-topic questions whose best score reaches the threshold. */
  readonly rightAbove: number;
  readonly offTopicAbove: number;
  readonly offTopic: number;
}

export interface CoverageScore {
  readonly set: VectorSet;
  readonly order: Order;
  readonly words: number;
  /** nDCG@10 by coverage, in the order of `coverages`. */
  readonly fused: readonly number[];
}

const modes = ['words', 'vectors', 'fused'] as const;
type Mode = (typeof modes)[number];

/** The threshold that the guide recommends. */
export const threshold = 0.25;
const lanes = 4;

interface Line {
  readonly _id: string;
  readonly text: string;
}

function readLines(language: Language, file: string): Line[] {
  const text = readFileSync(join(corpusFolder, 'ir', `xquad-${language}`, file), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as Line);
}

/** Returns the right document of each question. It is the same in every language. */
function readAnswers(): ReadonlyMap<string, string> {
  const lines = readFileSync(join(corpusFolder, 'ir', 'xquad-en', 'qrels.tsv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return new Map(lines.map((line) => line.split('\t')).map(([question = '', document = '']) => [question, document]));
}

const offTopic = JSON.parse(readFileSync(new URL('./off-topic-questions.json', import.meta.url), 'utf8')) as Readonly<
  Record<Language, readonly string[]>
>;

/** Learns one model from the passages of all languages. Equal ids are translations of each other. */
const learnModel = onceOnly((): EmbedText => {
  const texts = languages.map(
    (language) => new Map(readLines(language, 'docs.jsonl').map(({ _id, text }) => [_id, text])),
  );
  const ids = [...(texts[0]?.keys() ?? [])];
  return learnLatentSemantics(ids.map((id) => texts.map((ofLanguage) => ofLanguage.get(id) ?? '').join('\n')));
});

/** The members that are read of a collection or a chunk. */
interface AnswerData {
  readonly collection_id?: string;
  readonly chunk_id?: string;
  readonly vectors?: string;
}

type Ask = (body: object) => Promise<{ ranking: string; data: ReadonlyArray<{ chunk_id: string; score: number }> }>;

interface Loaded {
  readonly ask: Ask;
  readonly documents: ReadonlyMap<string, string>;
  /** Changes chunks while the embedding service does not answer, so that they lose their vectors. */
  readonly removeVectors: (chunkIds: readonly string[]) => Promise<void>;
}

/** Opens a service with the vectors, loads the documents of a language and calls `act`. */
async function withDocuments(
  embed: EmbedText,
  { documents: language, common }: Omit<VectorSet, 'questions'>,
  act: (loaded: Loaded) => Promise<void>,
): Promise<void> {
  const withheld = new Set<string>();
  const stub = await startStub((text) => {
    const vector = withheld.has(text) ? null : embed(text);
    return vector && [...vector.map((value) => value * Math.sqrt(1 - common)), Math.sqrt(common)];
  });
  const settings = { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: stub.url, EMBEDDING_MODEL: 'latent-semantics' };
  try {
    await withService(settings, async ({ url, apiKey }) => {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
      async function call(path: string, body?: object): Promise<unknown> {
        const response = await fetch(`${url}/v1/${path}`, {
          ...{ method: body === undefined ? 'GET' : 'POST', headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return response.json();
      }
      const dataOf = (answer: unknown) => (answer as { data: AnswerData }).data; // every answer has it
      const collection = `collections/${dataOf(await call('collections', { name: language })).collection_id}`;
      const documents = new Map<string, string>();
      const texts = new Map<string, string>();
      for (const { _id, text } of readLines(language, 'docs.jsonl')) {
        const chunkId = String(dataOf(await call(`${collection}/chunks`, { content: text })).chunk_id);
        documents.set(chunkId, _id);
        texts.set(chunkId, text);
      }
      while (dataOf(await call(collection)).vectors !== 'current') await new Promise((done) => setTimeout(done, 100));
      const ask = (body: object) => call(`${collection}/chunks/query`, body) as ReturnType<Ask>;
      const removeVectors = async (chunkIds: readonly string[]) => {
        for (const id of chunkIds) withheld.add(texts.get(id) ?? '');
        for (const id of chunkIds) await call(`${collection}/chunks/${id}`, { content: texts.get(id) });
      };
      await act({ ask, documents, removeVectors });
    });
  } finally {
    stub.close();
  }
}

/** Starts an embedding service with OpenAI's API. It does not answer requests with a text that has no vector. */
async function startStub(embed: (text: string) => readonly number[] | null) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { input } = JSON.parse(body) as { input: string[] };
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: embed(text) }));
    if (data.some(({ embedding }) => embedding === null)) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  function close(): void {
    server.closeAllConnections();
    server.close();
  }
  return { url: `http://127.0.0.1:${port}/v1`, close };
}

async function mapLanes<Item, Result>(items: readonly Item[], map: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const [place, item] of queue) results[place] = await map(item);
    }),
  );
  return results;
}

interface Asked {
  readonly best: number;
  readonly gain: number;
}

/** Asks questions in one mode. Another ranking than the mode is an error. */
function askAll({ ask, documents }: Loaded, questions: ReadonlyArray<readonly [string, string?]>, mode: Mode) {
  return mapLanes(questions, async ([query_text, right]): Promise<Asked> => {
    const { data, ranking } = await ask({ query_text, mode, top_k: 10 });
    if (ranking !== mode) throw new Error(`"${query_text}" was answered by ${ranking} instead of ${mode}`);
    const place = data.findIndex(({ chunk_id }) => documents.get(chunk_id) === right);
    return { best: data[0]?.score ?? 0, gain: place === -1 ? 0 : 1 / Math.log2(place + 2) };
  });
}

const meanGain = (asked: readonly Asked[]) => asked.reduce((sum, { gain }) => sum + gain, 0) / asked.length;

/** Measures every set. `every`: 1 asks all questions, 3 every third. */
export async function measureVectors(sets: readonly VectorSet[], every = 1): Promise<VectorScore[]> {
  const embed = learnModel();
  const scores: VectorScore[] = [];
  for (const group of Map.groupBy(sets, ({ documents, common }) => `${documents} ${common}`).values()) {
    const [first] = group;
    if (first === undefined) continue;
    await withDocuments(embed, first, async (loaded) => {
      for (const set of group) scores.push(await measureSet(loaded, set, every));
    });
  }
  return sets.flatMap((set) => scores.filter((score) => score.set === set));
}

async function measureSet(loaded: Loaded, set: VectorSet, every: number): Promise<VectorScore> {
  const questions = questionsOf(set, every);
  const asked = {
    words: await askAll(loaded, questions, 'words'),
    vectors: await askAll(loaded, questions, 'vectors'),
    fused: await askAll(loaded, questions, 'fused'),
  };
  const off = (
    await askAll(
      loaded,
      offTopic[set.questions].map((text) => [text]),
      'fused',
    )
  ).map(({ best }) => best);
  const right = asked.fused.filter(({ gain }) => gain === 1).map(({ best }) => best);
  return {
    set,
    ndcg: { words: meanGain(asked.words), vectors: meanGain(asked.vectors), fused: meanGain(asked.fused) },
    auc: areaUnderCurve(right, off),
    rightAbove: right.filter((score) => score >= threshold).length / right.length,
    offTopicAbove: off.filter((score) => score >= threshold).length,
    offTopic: off.length,
  };
}

function questionsOf(set: VectorSet, every: number): Array<readonly [string, string?]> {
  const answers = readAnswers();
  const lines = readLines(set.questions, 'queries.jsonl').filter((_, place) => place % every === 0);
  return lines.map(({ _id, text }) => [text, answers.get(_id) ?? ''] as const);
}

/** Returns the probability that a right answer scores higher than an off-topic question. */
function areaUnderCurve(right: readonly number[], off: readonly number[]): number {
  let above = 0;
  for (const score of right) for (const other of off) above += score > other ? 1 : score === other ? 0.5 : 0;
  return above / (right.length * off.length);
}

/** Measures collections whose chunks lose their vectors step by step, after their similarities were measured. */
export async function measureCoverage(
  sets: readonly VectorSet[],
  every: number,
  inOrders: readonly Order[] = orders,
): Promise<CoverageScore[]> {
  const embed = learnModel();
  const scores: CoverageScore[] = [];
  for (const set of sets) {
    /** By words alone, and fused with all vectors. The order makes no difference to either. */
    let whole: { readonly words: number; readonly fused: number } | undefined;
    for (const order of inOrders) {
      await withDocuments(embed, set, async (loaded) => {
        const questions = questionsOf(set, every);
        const gain = async (mode: Mode) => meanGain(await askAll(loaded, questions, mode));
        // The first answer measures the similarities, which needs all vectors.
        await askAll(loaded, questions.slice(0, 1), 'fused');
        whole ??= { words: await gain('words'), fused: await gain('fused') };
        const { words } = whole;
        const fused: number[] = [whole.fused];
        const chunkIds = sortChunks([...loaded.documents.keys()], order);
        for (const coverage of coverages.toReversed().slice(1)) {
          const left = Math.round(coverage * loaded.documents.size);
          await loaded.removeVectors(chunkIds.splice(left));
          fused.unshift(await gain('fused'));
        }
        scores.push({ set, order, words, fused });
      });
    }
  }
  return scores;
}

/** Returns the chunks in the order in which they get vectors. A step of 47 visits all of 120 in a scattered order. */
function sortChunks(chunkIds: readonly string[], order: Order): string[] {
  const step = order === 'newest' ? 1 : 47;
  return chunkIds.map((_, place) => chunkIds[(place * step) % chunkIds.length] ?? '');
}
