import { newCollection } from '../../../../stores/collections/testing/fixtures.suite.ts';
import type { NewVector, StoredVectorSpace } from '../../../../stores/search/vector-repository.ts';
import type { Database } from '../../../database/database.ts';
import { createProjectRepository } from '../../project-repository.ts';
import { createCollectionRepositories } from '../collection-repositories.ts';
import { dropVectors } from '../vector-sets.ts';

/** A collection of direct chunks with vectors. Its chunks are not indexed by words. */
export interface StoredVectors {
  readonly collectionId: string;
  /** Adds chunks with these vectors. @returns their seqs */
  add(vectors: readonly Float32Array[]): Promise<number[]>;
  /** Stores other vectors of these chunks. */
  change(vectors: ReadonlyMap<number, Float32Array>): Promise<void>;
  /** Deletes chunks. */
  remove(seqs: readonly number[]): Promise<void>;
  find(): Promise<StoredVectorSpace>;
}

const model = 'model';
const createdAt = 1;
const batch = 128;

export async function openStoredVectors(database: Database): Promise<StoredVectors> {
  const { collections, vectors } = createCollectionRepositories(database);
  const collection = newCollection();
  const { id: collectionId, projectId } = collection;
  await createProjectRepository(database).addProject({ id: projectId, name: projectId, createdAt }, { most: 1000 });
  await collections.add(collection, 1000);
  await vectors.adopt(collectionId, model);
  let chunks = 0;

  async function save(rows: ReadonlyArray<readonly [number, Float32Array]>): Promise<void> {
    for (let from = 0; from < rows.length; from += batch) {
      const part = rows.slice(from, from + batch);
      await vectors.save(
        { collectionId, slot: 0 },
        model,
        part.map(([seq, embedded]): NewVector => ({ seq, updatedAt: createdAt, embedded })),
      );
    }
  }

  async function addChunks(count: number): Promise<number[]> {
    const rows = Array.from({ length: count }, (_, place) => ({
      ...{ id: `${collectionId} ${chunks + place}`, project_id: projectId, collection_id: collectionId },
      ...{ record_id: null, generation: 0, ordinal: 0, content: '', num_tokens: 0, metadata: '{}' },
      ...{ created_at: createdAt, updated_at: createdAt },
    }));
    chunks += count;
    const inserted = await database.write.insertInto('chunk').values(rows).returning('seq').execute();
    return inserted.map(({ seq }) => seq).sort((a, b) => a - b);
  }

  return {
    collectionId,
    async add(added) {
      const seqs: number[] = [];
      for (let from = 0; from < added.length; from += batch) {
        seqs.push(...(await addChunks(Math.min(batch, added.length - from))));
      }
      await save(added.map((vector, place) => [seqs[place] as number, vector]));
      return seqs;
    },
    change: (changed) => save([...changed]),
    async remove(seqs) {
      for (let from = 0; from < seqs.length; from += 1000) {
        const part = seqs.slice(from, from + 1000);
        await database.write.transaction().execute(async (transaction) => {
          await dropVectors(transaction, collectionId, part);
          await transaction.deleteFrom('chunk').where('seq', 'in', part).execute();
        });
      }
    },
    async find() {
      const space = await vectors.find(collectionId);
      if (space === undefined) throw new Error('the collection has no vectors');
      return space;
    },
  };
}
