import assert from 'node:assert/strict';
import type { Transaction } from 'kysely';
import { createNewId } from '../../../platform/identifier.ts';
import { countFieldTerms } from '../../../stores/search/analysis/field-terms.ts';
import { frequencySeparator, tokenize } from '../../../stores/search/analysis/tokenizer.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { insertCollection, noProject } from '../../database/testing/insert-rows.ts';
import { changeChunkBytes, correctUsage } from '../../repositories/project-usage.ts';
import { assertSameRanking, createRandom, rankByHand } from './full-text-corpus.suite.ts';

const newId = createNewId();
const countTerms = (content: string) => countFieldTerms({ content });

/** Each word is one term of the analysis, so that the words of a text are its terms. */
const vocabulary = [
  ...['red', 'blue', 'amber', 'violet', 'crimson', 'indigo', 'teal', 'gold', '7', '1963', '10.5', 'e.g'],
  ...['uber', 'strass', 'οδοσ', 'елк', '世', '界', 'に', '東', '한', '글', 'ภาษา', 'ไทย', 'हिन्दी', 'में', 'كتاب'],
];
for (const word of vocabulary)
  assert.deepEqual([tokenize(word), countTerms(word)], [[word], `${word}${frequencySeparator}1`]);

/** A term that only the index has, as if an earlier version of the analysis had found it. */
export const earlierTerm = 'earlierterm7';

/** The words of each chunk, by its seq. */
export type Texts = ReadonlyMap<number, readonly string[]>;

export interface ChangingOptions {
  readonly seed: number;
  /** The project of the new collection; by default one that does not exist. */
  readonly projectId?: string;
}

export async function createChangingCollection(database: Database, { seed, projectId = noProject }: ChangingOptions) {
  const collectionId = await insertCollection(database, { project_id: projectId });
  await correctUsage(database, projectId);
  return openChangingCollection(database, { collectionId, seed });
}

/** Makes the index of a collection one of an earlier version of the analysis, so that a rebuild is due. */
export async function markRebuildDue({ write }: Pick<Database, 'write'>, collectionId: string): Promise<void> {
  await write.updateTable('index_segment').set({ analysis: 0 }).where('collection_id', '=', collectionId).execute();
}

export interface OpenOptions {
  readonly collectionId: string;
  readonly seed: number;
  /** Called after each commit with all texts. */
  readonly onCommit?: (texts: Texts) => void;
}

/** A collection that is changed as the repositories do it, and a copy of its texts to compare with. */
export async function openChangingCollection(database: Database, { collectionId, seed, onCommit }: OpenOptions) {
  const { write, searchIndex, read } = database;
  const random = createRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = () => vocabulary[below(vocabulary.length)] as string;
  const newText = () => Array.from({ length: 1 + below(8) }, pick);
  const stored = await read
    .selectFrom('chunk')
    .select(['seq', 'content'])
    .where('collection_id', '=', collectionId)
    .execute();
  let texts = new Map<number, readonly string[]>(stored.map(({ seq, content }) => [seq, content.split(' ')]));
  onCommit?.(texts);
  const committed = (changed: typeof texts) => {
    texts = changed;
    onCommit?.(texts);
  };
  const { project_id } = await read
    .selectFrom('collection')
    .select('project_id')
    .where('id', '=', collectionId)
    .executeTakeFirstOrThrow();
  const countBytes = (db: Transaction<Tables>, bytes: number) =>
    changeChunkBytes(db, { projectId: project_id, recordId: null }, bytes);

  async function insert(db: Transaction<Tables>, { count, analysed }: { count: number; analysed: string }) {
    const words = new Map(Array.from({ length: count }, () => [newId('chunk'), newText()]));
    const place = { ...emptyChunk, project_id, collection_id: collectionId };
    const rows = [...words].map(([id, text]) => ({ ...place, id, content: text.join(' ') }));
    const inserted: Array<{ seq: number; id: string }> = [];
    for (let from = 0; from < count; from += rowsAtOnce) {
      const some = db.insertInto('chunk').values(rows.slice(from, from + rowsAtOnce));
      inserted.push(...(await some.returning(['seq', 'id']).execute()));
    }
    await countBytes(db, bytesOf([...words.values()]));
    const added = new Map(inserted.map(({ seq, id }) => [seq, words.get(id) ?? []]));
    const chunks = added
      .entries()
      .map(([seq, words]) => ({ seq, words: countTerms(`${words.join(' ')} ${analysed}`) }));
    await searchIndex.add(db, collectionId, [...chunks]);
    return added;
  }
  const anySeqs = (count: number) => {
    const seqs = [...texts.keys()];
    return [...new Set(Array.from({ length: Math.min(count, seqs.length) }, () => seqs[below(seqs.length)] as number))];
  };
  return {
    id: collectionId,
    random,
    get texts(): Texts {
      return texts;
    },
    /** @param analysed further terms that only the index gets */
    async add(count: number, analysed = '') {
      const added = await write.transaction().execute((db) => insert(db, { count, analysed }));
      committed(new Map([...texts, ...added]));
    },
    async addAndRollBack(count: number) {
      const undone = write.transaction().execute(async (db) => {
        await insert(db, { count, analysed: '' });
        await searchIndex.remove(db, collectionId, anySeqs(count));
        throw new Error('undo');
      });
      await assert.rejects(undone, /undo/);
    },
    async remove(count: number) {
      const seqs = anySeqs(count);
      await write.transaction().execute(async (db) => {
        await db.deleteFrom('chunk').where('seq', 'in', seqs).execute();
        await countBytes(db, -bytesOf(seqs.map((seq) => texts.get(seq) ?? [])));
        await searchIndex.remove(db, collectionId, seqs);
      });
      committed(new Map([...texts].filter(([seq]) => !seqs.includes(seq))));
    },
    /** Gives chunks another text under the same number. */
    async change(count: number) {
      for (const seq of anySeqs(count)) {
        const words = newText();
        await write.transaction().execute(async (db) => {
          await db
            .updateTable('chunk')
            .set({ content: words.join(' ') })
            .where('seq', '=', seq)
            .execute();
          await countBytes(db, bytesOf([words]) - bytesOf([texts.get(seq) ?? []]));
          await searchIndex.remove(db, collectionId, [seq]);
          await searchIndex.add(db, collectionId, [{ seq, words: countTerms(words.join(' ')) }]);
        });
        committed(new Map([...texts, [seq, words]]));
      }
    },
    /** Does one of the changes above, or none. */
    async changeSomehow() {
      const changes = [this.add, this.remove, this.change, this.addAndRollBack, async () => {}];
      await changes[below(changes.length)]?.call(this, 1 + below(12));
    },
    ask: (words: readonly string[], limit = 10_000) => searchIndex.ask(read, { collectionId, words, limit }),
    /**
     * Compares random questions with a scan of all texts.
     * @returns the number of comparisons
     */
    async compare(expected: Texts = texts) {
      const questions = [[pick()], [pick(), pick(), 'missing'], Array.from({ length: 6 }, pick)];
      for (const words of questions) {
        const distinct = [...new Set(words)];
        assertSameRanking(await this.ask(distinct), rankByHand(expected, distinct));
      }
      return questions.length;
    },
    /** Does one step of a rebuild. @returns true after the last one */
    rebuild: () => write.transaction().execute((db) => searchIndex.rebuild(db, collectionId)),
  };
}
export type ChangingCollection = Awaited<ReturnType<typeof createChangingCollection>>;

/** Number of rows that one statement inserts. */
const rowsAtOnce = 100;

const emptyChunk = {
  record_id: null,
  generation: 0,
  ordinal: 0,
  question: null,
  answer: null,
  num_tokens: 0,
  metadata: '{}',
  locator: null,
  created_at: 1,
  updated_at: 1,
};

/** The bytes of chunks with these words that count in the quota of their project. */
function bytesOf(texts: ReadonlyArray<readonly string[]>): number {
  return texts.reduce((sum, words) => sum + Buffer.byteLength(words.join(' ') + emptyChunk.metadata), 0);
}
