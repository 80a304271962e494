import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Compiles the packages and their types into `out`, with their folders as in the checkout, so that relative paths between them stay true. */
export function compile(root: string, out: string): void {
  execFileSync('node', ['scripts/client-types.ts'], { cwd: root, stdio: 'inherit' });
  execFileSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', join(out, 'packages')], {
    cwd: root,
    stdio: 'inherit',
  });
  const entries = readEntries(root);
  for (const file of filesBelow(join(out, 'packages')).filter((path) => /\.(js|d\.ts)$/.test(path))) {
    const source = readFileSync(file, 'utf8');
    const linked = source.replace(
      // Not in comments, which show imports as an author writes them.
      /^((?! *(?:\*|\/\/)).*(?:\bfrom |\bimport\())'(@quartermaster\/[^']+)'/gm,
      (_whole, before: string, name: string) => {
        const entry = entries.get(name);
        if (entry === undefined) throw new Error(`${file} imports ${name}, which no package exports`);
        const path = relative(dirname(file), join(out, entry));
        return `${before}'${path.startsWith('.') ? path : `./${path}`}'`;
      },
    );
    if (linked !== source) writeFileSync(file, linked);
  }
}

/** The compiled file of each specifier such as `@quartermaster/server/administration`. */
function readEntries(root: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const folder of ['client', 'contract', 'importers', 'plugin-kit', 'server']) {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as {
      name: string;
      exports: Record<string, string>;
    };
    for (const [path, file] of Object.entries(exports)) {
      entries.set(name + path.slice(1), join('packages', folder, file.replace(/\.ts$/, '.js')));
    }
  }
  return entries;
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The repository that the root names, if it names one. The release sets it, because npm compares it with the provenance of a package. */
export function repositoryOf(root: string): unknown {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository?: unknown }).repository;
}
