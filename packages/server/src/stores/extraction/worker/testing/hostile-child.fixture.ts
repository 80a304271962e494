import { writeSync } from 'node:fs';
import { tryAll } from './hostile-attempts.fixture.ts';

/** Simulates a reader that is compromised before its first document arrives. */
await import('../child.ts');
const outcomes = await tryAll();
writeSync(2, JSON.stringify(outcomes));
process.exit();
