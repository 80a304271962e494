import { loadavg } from 'node:os';
import { sql } from 'kysely';
import { createAdmission } from '../../packages/server/src/platform/admission/admission.ts';
import { createNewId } from '../../packages/server/src/platform/identifier.ts';
import { createLogger } from '../../packages/server/src/platform/log/logger.ts';
import type { Database } from '../../packages/server/src/storage/database/database.ts';
import { openDatabase } from '../../packages/server/src/storage/open-database.ts';
import { startService } from '../processes.ts';
import type { Row } from '../table.ts';
import { describeFigures } from './search-engine.ts';
import { searchTexts } from './search-texts.ts';
import { askService, openSearchedService } from './searched-service.ts';

const collections = 10_000;
const chunksOfCollection = 100;
/** Milliseconds: the largest p50 with one connection. */
const most = 0.5;
const newId = createNewId();

/** Measures questions that are each about another of 10,000 collections. */
export async function manyCollectionsRow(data: string): Promise<Row> {
  const { collection, close } = await openSearchedService({ name: 'template', data, size: chunksOfCollection });
  await close();
  const ids = await copyCollection(data, collection);
  const service = await startService(data, { QUARTERMASTER_LOG_LEVEL: 'warn' });
  try {
    const figures = await askService(service, ids, { connections: 1, seconds: 3 });
    return {
      bench: `search, ${collections} collections of ${chunksOfCollection} chunks, 1 connection`,
      ours: `${describeFigures(figures)}; load ${loadavg()[0]?.toFixed(1)}`,
      floor: '',
      bar: `p50 ≤ ${most} ms`,
      met: figures.p50 <= most,
    };
  } finally {
    await service.stop();
  }
}

/** Fills the database directly, because 10,000 imports take minutes. */
async function copyCollection(data: string, template: string): Promise<string[]> {
  const database = await openDatabase({
    admission: createAdmission(),
    url: null,
    dataFolder: data,
    logger: createLogger('silent'),
  });
  try {
    const ids: string[] = [];
    for (let n = 0; n < collections; n++) ids.push(await copyOnce(database, template));
    return ids;
  } finally {
    await database.close();
  }
}

const texts = [...searchTexts(chunksOfCollection)].map((text) =>
  text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' '),
);

async function copyOnce({ read, write, searchIndex }: Database, template: string): Promise<string> {
  const id = newId('collection');
  const found = await read.selectFrom('collection').selectAll().where('id', '=', template).executeTakeFirstOrThrow();
  await write.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('collection')
      .values({ ...found, id })
      .execute();
    const { rows } = await sql<{ seq: number }>`
      insert into chunk (id, project_id, collection_id, record_id, generation, ordinal, content, question, answer,
        num_tokens, metadata, locator, created_at, updated_at)
      select ${id} || ordinal, project_id, ${id}, null, 0, ordinal, content, question, answer,
        num_tokens, metadata, locator, created_at, updated_at
      from chunk where collection_id = ${template} order by ordinal returning seq`.execute(transaction);
    const added = rows.map(({ seq }, place) => ({ seq, words: texts[place] ?? '' }));
    await searchIndex.add(transaction, id, added);
  });
  return id;
}
