// The process whose writes are recorded: it changes collections and deletes some, while indexes are rebuilt and merged. It
// marks its steps and commits in the log of the shim.
import { changeStore } from '../../packages/server/src/storage/search-index/testing/changing-store.ts';
import { openMarkWriter } from '../shim/disk-log.ts';
import { digestTexts, type IndexPlan, writeIndexMark } from './index-marks.ts';

const { store, seed }: IndexPlan = JSON.parse(process.argv[2] ?? '');
const { mark } = openMarkWriter(process.env.PROOF_LOG ?? '');

await changeStore(store, {
  seed,
  onStep: (step) => mark(writeIndexMark({ step })),
  onCommit: (texts) => mark(writeIndexMark({ committed: digestTexts(texts) })),
  onDeletion: (deleted) => mark(writeIndexMark({ deleted })),
});
