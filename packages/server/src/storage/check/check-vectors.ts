import { isDeepStrictEqual } from 'node:util';
import type { VectorSetKey } from '../../stores/search/vector-repository.ts';
import type { Database } from '../database/database.ts';
import { lockCounts, recount } from '../repositories/records/vector-counts.ts';
import { setId, slots } from '../repositories/records/vector-sets.ts';

/** Compares the stored counts of a collection with its vectors. @returns one sentence for each error */
export async function checkVectors(database: Database, collectionId: string): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const slot of slots) findings.push(...(await checkCounts(database, { collectionId, slot })));
  return findings;
}

async function checkCounts({ read }: Database, key: VectorSetKey): Promise<readonly string[]> {
  const counts = await recount(read, key);
  if (counts === undefined || isDeepStrictEqual(counts.stored, counts.counted)) return [];
  const { stored, counted } = counts;
  return [
    `the stored counts are ${stored.embedded} embedded and ${stored.refused} refused chunks, but there are ${counted.embedded} and ${counted.refused}`,
  ];
}

/** Stores the counts of the vectors that are there. */
export async function correctCounts({ write }: Database, collectionId: string): Promise<void> {
  await write.transaction().execute(async (transaction) => {
    for (const slot of slots) {
      const key = { collectionId, slot };
      await lockCounts(transaction, key);
      const counts = await recount(transaction, key);
      if (counts === undefined) continue;
      await transaction
        .updateTable('collection_vector')
        .set({ num_embedded: counts.counted.embedded, num_refused: counts.counted.refused })
        .where('id', '=', setId(key))
        .execute();
    }
  });
}
