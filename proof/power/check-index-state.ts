import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ChangingStore } from '../../packages/server/src/storage/search-index/testing/changing-store.ts';
import { checkChangingStore } from '../../packages/server/src/storage/search-index/testing/check-changing-store.ts';
import { rankByHand } from '../../packages/server/src/storage/search-index/testing/full-text-corpus.suite.ts';
import { type StartedService, startService } from '../../test/support/service.ts';
import type { Findings } from '../history/findings.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { checkStore } from './check-crash-state.ts';
import { digestTexts, type KnownAtCut } from './index-marks.ts';
import { databaseFile } from './record-index.ts';

export interface IndexCheck {
  /** The store in the folder after the power cut. */
  readonly store: ChangingStore;
  readonly known: KnownAtCut;
  readonly findings: Findings;
  readonly random: Random;
  /** Whether the service starts on the store before, and answers questions. */
  readonly withService: boolean;
}

/**
 * Checks the indexes after a power cut.
 * @returns the number of questions whose answers were compared with a scan of all chunks
 */
export async function checkIndexState(check: IndexCheck): Promise<number> {
  const { store, known, findings, random } = check;
  try {
    const asked = check.withService ? await askService(check) : 0;
    const { texts, readable, comparisons } = await checkChangingStore(store, random.below(2 ** 31));
    if (!known.digests.includes(digestTexts(texts))) {
      findings.add('lost', `the ${texts.size} chunks are neither those of the last commit nor of the next`);
    }
    for (const id of known.deleted) {
      if (readable.includes(id)) findings.add('resurrected', `the collection ${id} was deleted`);
    }
    return asked + comparisons;
  } catch (error) {
    findings.add('inconsistent', error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 0;
  }
}

async function askService({ store, known, findings, random }: IndexCheck): Promise<number> {
  const endings = createEndings();
  let asked = 0;
  try {
    const service = await startService(endings, { folder: store.folder });
    for (const id of known.deleted) {
      const { status } = await ask(service, id, 'red');
      if (status !== 404) findings.add('resurrected', `a question to the deleted collection ${id} gave ${status}`);
    }
    const chunks = readChunks(store);
    for (; asked < questions; asked++) await compareAnswer({ service, store, chunks }, random);
    await service.stop();
  } finally {
    await endings.end();
  }
  await checkStore(store.folder, {}, findings);
  return asked;
}

/** Questions to a service, and the number of chunks that each of them finds. */
const questions = 5;
const topK = 20;

interface Asked {
  readonly service: StartedService;
  readonly store: ChangingStore;
  readonly chunks: ReturnType<typeof readChunks>;
}

/** The only stop word of the vocabulary. Source of the factor: ADR 0135. */
const stopWords = new Map([['に', 0.3]]);

/** Compares the scores of an answer with those of a scan of all chunks. */
async function compareAnswer({ service, store, chunks }: Asked, random: Random): Promise<void> {
  const some = random.shuffle([...chunks.words.values()].flat()).slice(0, 1 + random.below(4));
  const words = [...new Set(some)];
  const { status, found } = await ask(service, store.kept, words.join(' '));
  assert.equal(status, 200);
  compareScores(found, { chunks, words });
}

interface Scan extends Pick<Asked, 'chunks'> {
  readonly words: readonly string[];
}

function compareScores(found: readonly FoundScore[], { chunks, words }: Scan): void {
  const all = rankByHand(chunks.words, words, stopWords);
  const scores = new Map(all.map(({ seq, score }) => [seq, score]));
  // Chunks with equal texts have equal scores and are one hit.
  const contentOf = (seq: number) => chunks.words.get(seq)?.join(' ');
  const ranking = [...Map.groupBy(all, ({ seq }) => contentOf(seq)).values()].map(([first]) => first);
  assert.equal(found.length, Math.min(topK, ranking.length), `number of chunks with ${words}`);
  for (const [place, { chunk_id, score }] of found.entries()) {
    const seq = chunks.seqs.get(chunk_id) ?? assert.fail(`the chunk ${chunk_id} does not exist`);
    for (const expected of [scores.get(seq), ranking[place]?.score]) {
      assert.ok(Math.abs((expected ?? -1) - score) < 1e-6, `${words}: score ${score} instead of ${expected}`);
    }
  }
}

interface FoundScore {
  readonly chunk_id: string;
  readonly score: number;
}

async function ask({ filesUrl, key }: StartedService, collectionId: string, text: string) {
  const response = await fetch(`${filesUrl}/v1/collections/${collectionId}/chunks/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query_text: text, top_k: topK, explain: true }),
  });
  const { data = [] } = (await response.json()) as { data?: Array<Found> }; // the answer to queryChunks
  const found = data.map(({ chunk_id, explanation }) => ({ chunk_id, score: explanation.words?.score ?? -1 }));
  return { status: response.status, found };
}

interface Found {
  readonly chunk_id: string;
  readonly explanation: { readonly words: { readonly score: number } | null };
}

/** Reads the words and seqs of the kept collection's chunks. The running service does not change them. */
function readChunks({ folder, kept }: ChangingStore) {
  using database = new DatabaseSync(join(folder, databaseFile), { readOnly: true });
  const rows = database.prepare('select seq, id, content from chunk where collection_id = ?').all(kept);
  return {
    words: new Map(rows.map(({ seq, content }) => [Number(seq), String(content).split(' ')])),
    seqs: new Map(rows.map(({ seq, id }) => [String(id), Number(seq)])),
  };
}
