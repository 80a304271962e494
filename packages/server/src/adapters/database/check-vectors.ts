import { checkPages } from '../../search/vector-pages/check-pages.ts';
import { createVectorPageRepository } from '../repositories/records/vector-page-repository.ts';
import type { Database } from './database.ts';

/**
 * Compares the pages of a collection with its vectors.
 * @returns one sentence for each error
 */
export async function checkVectors(database: Database, collectionId: string): Promise<readonly string[]> {
  const pages = createVectorPageRepository(database);
  const space = (await pages.listSpaces()).find((each) => each.collectionId === collectionId);
  return space === undefined ? [] : checkPages(pages, space);
}

/** Removes the pages of a collection. The service encodes its vectors again. */
export async function removeVectorPages({ write }: Database, collectionId: string): Promise<void> {
  await write.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('collection_vector')
      .set((column) => ({
        paged_change: column.ref('first_change'),
        page_version: column('page_version', '+', 1),
      }))
      .where('collection_id', '=', collectionId)
      .execute();
    await transaction.deleteFrom('vector_page').where('collection_id', '=', collectionId).execute();
  });
}
