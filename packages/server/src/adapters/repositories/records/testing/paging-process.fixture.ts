import { setTimeout } from 'node:timers/promises';
import { createAdmission } from '../../../../kernel/admission/admission.ts';
import { createLogger } from '../../../../kernel/log/logger.ts';
import { startPageBuilder } from '../../../../search/vector-pages/page-builder.ts';
import { createVectors } from '../../../../search/vector-pages/testing/random-vectors.fixture.ts';
import { openDatabase } from '../../../database/open-database.ts';
import { createCollectionRepositories } from '../collection-repositories.ts';
import { openStoredVectors } from './stored-vectors.fixture.ts';

/* Adds, changes and deletes vectors while pages are built and compacted, until it is killed. Prints its collection. */

const { folder, url } = JSON.parse(process.argv[2] ?? '') as { folder: string; url: string | null };
const logger = createLogger('silent');
const database = await openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger });
const stored = await openStoredVectors(database);
const { pages } = createCollectionRepositories(database).vectors;
startPageBuilder({ pages, hasFreeSpace: async () => true, logger, pauseMs: 1, compactMs: 1 });
console.log(stored.collectionId);
const { vectors, queries } = createVectors('topics', { count: 2100, dimensions: 16 });
for (;;) {
  const seqs = await stored.add(vectors);
  await stored.change(new Map(queries(100).map((vector, place) => [seqs[place] as number, vector])));
  await stored.remove(seqs.filter((_, place) => place % 3 > 0));
  await setTimeout(1);
}
