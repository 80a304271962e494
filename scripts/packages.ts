// `npm run script -- packages` builds the archives that a release publishes, in dist/packages: quartermaster (server, console, command
// line), @quartermaster/client and @quartermaster/plugin-kit. Node.js refuses to strip types below node_modules, so that they
// hold compiled JavaScript. The same sources give the same bytes. `npm run script -- packages --measure` also prints the figures of
// RELEASING.md: sizes, and the seconds of an installation and of its first use.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildLibraries } from './packages/build-libraries.ts';
import { buildServer } from './packages/build-server.ts';
import { compile } from './packages/compile.ts';
import { measurePackages } from './packages/measure-packages.ts';

const root = resolve(import.meta.dirname, '..');
const [target] = process.argv.slice(2).filter((argument) => argument !== '--measure');
const out = resolve(target ?? join(root, 'dist/packages'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const build = join(out, 'build');
const compiled = join(build, 'compiled');
compile(root, compiled);
const folders = [await buildServer(root, compiled, build), ...buildLibraries(root, compiled, build)];
const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', `--pack-destination=${out}`, ...folders], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
const archives = Object.values(JSON.parse(packed)) as { filename: string; size: number; entryCount: number }[]; // npm's own shape
if (archives.length !== folders.length) throw new Error(`npm packed ${archives.length} of ${folders.length} folders`);
for (const { filename, entryCount, size } of archives) {
  console.log(`${filename}: ${entryCount} files, ${(size / 2 ** 20).toFixed(2)} MiB`);
}
if (process.argv.includes('--measure')) await measurePackages(root, out);
