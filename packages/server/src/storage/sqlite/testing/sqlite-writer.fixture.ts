import { once } from 'node:events';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { openDatabase } from '../../open-database.ts';

/** Runs as a second process on the same file; `sqlite.system.test.ts` starts it. */
const [dataFolder = '', name = ''] = process.argv.slice(2);
const database = await openDatabase({
  admission: createAdmission(),
  url: null,
  dataFolder,
  logger: createLogger('silent'),
});
process.send?.('open');
await once(process, 'message');
for (let place = 0; place < 100; place += 1) {
  await database.write.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('project')
      .values({ id: `${name}${place}`, name: `${name}${place}`, created_at: place })
      .execute();
  });
}
await database.close();
process.disconnect?.();
