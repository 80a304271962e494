// Measures the isolation of handlers and writes the results into docs/reference/isolation.md. It needs bubblewrap and
// root, so that children run as separate users. `hostile.system.test.ts` compares the page with its own measurement.
import { readFileSync, writeFileSync } from 'node:fs';
import { measureAll } from '../packages/server/src/tools/execution/sandbox/hostile/measure-all.suite.ts';
import { pageMarks, renderMeasured } from '../packages/server/src/tools/execution/sandbox/hostile/render-page.suite.ts';

const page = new URL('../docs/reference/isolation.md', import.meta.url);
const [begin, end] = pageMarks;
const text = readFileSync(page, 'utf8');
const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
if (to < from) throw new Error(`${page.pathname} lacks its marks`);
const measured = await measureAll();
const verdicts = [measured.whole, measured.kernel].flatMap((it) => [...it.process.values(), ...it.sandbox.values()]);
if (verdicts.includes('slow')) throw new Error('the machine is too busy to measure on');
writeFileSync(page, `${text.slice(0, from)}\n\n${renderMeasured(measured)}\n${text.slice(to)}`);
