import { runUntilSignal } from './run.ts';

await runUntilSignal();
