import { writeSync } from 'node:fs';
import { tryAll } from './hostile-attempts.fixture.ts';

/** The reader as it is when its first document comes, taken over. */
await import('../child.ts');
const outcomes = await tryAll();
writeSync(2, JSON.stringify(outcomes));
process.exit();
