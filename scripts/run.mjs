// `npm run script -- NAME …` runs scripts/NAME.ts, after it has installed what scripts need. CONTRIBUTING.md lists them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { refuse } from './set-up/refuse.mjs';

const [name = ''] = process.argv.splice(2, 1);
const file = join(import.meta.dirname, `${name}.ts`);
if (!/^[a-z-]+$/.test(name) || !existsSync(file)) refuse(`scripts/${name}.ts does not exist.`);
await import(file);
