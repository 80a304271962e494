// A process that changes a collection while its index is rebuilt and merged, until it ends itself at a chosen message to
// a SQLite thread. Without such a message it ends after its work, and prints how many messages of each kind it has sent.
import { MessagePort } from 'node:worker_threads';
import { createLogger } from '../../../kernel/log/logger.ts';
import { until } from '../../../kernel/testing/until.ts';
import { openDatabase } from '../../database/open-database.ts';
import { openChangingCollection } from './changing-collection.suite.ts';
import { findWork, type KillPoint, kindOf } from './kill-points.ts';

interface Plan {
  readonly folder: string;
  readonly collectionId: string;
  readonly seed: number;
  readonly point: KillPoint | null;
}

const { folder, collectionId, seed, point }: Plan = JSON.parse(process.argv[2] ?? '');
const counts: Record<string, number> = {};
const { postMessage } = MessagePort.prototype;
MessagePort.prototype.postMessage = function (...values: unknown[]) {
  const kind = kindOf(values[0]);
  const nth = (counts[kind] ?? 0) + 1;
  counts[kind] = nth;
  if (point !== null && point.kind === kind && point.nth === nth) {
    if (point.delay === 0) process.kill(process.pid, 'SIGKILL');
    else setTimeout(() => process.kill(process.pid, 'SIGKILL'), point.delay);
  }
  Reflect.apply(postMessage, this, values);
};

const database = await openDatabase({ url: null, dataFolder: folder, logger: createLogger('silent') });
const collection = await openChangingCollection(database, { collectionId, seed });
database.startMerging(async () => true);
for (let round = 0; round < 80; round++) await collection.changeSomehow();
await until(async () => !(await findWork(database)));
await database.close();
console.log(JSON.stringify(counts));
