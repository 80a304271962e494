import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Bundles a package with its dependencies. It is downloaded when it is needed. */
const bundler = 'esbuild@0.28.2';

/**
 * The old framework compiles validators of flows when it is loaded. This generates code, which the sandbox refuses, and no action uses
 * them.
 */
const withoutCompiler = { module: '@sinclair/typebox/compiler', file: 'no-compiler.js' } as const;
const noCompiler = 'exports.TypeCompiler = { Compile: () => ({ Check: () => true, Errors: () => [] }) };\n';

export interface PackedPackage {
  readonly file: string;
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
}

/**
 * Bundles a package and its dependencies into one file, and writes a package without dependencies that names its origin. Uses npm with
 * the settings of the user. No script of a package runs.
 */
export async function packPackage(wanted: string, out: string): Promise<PackedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-pack-'));
  const run = async (program: string, ...args: string[]) =>
    (await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 16 * 2 ** 20 })).stdout;
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    await run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', wanted, bundler);
    const name = wanted.slice(0, wanted.indexOf('@', 1) === -1 ? undefined : wanted.indexOf('@', 1));
    const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
    const { version, integrity } = packages[`node_modules/${name}`];
    const { license, main = 'index.js' } = JSON.parse(
      await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8'),
    );
    const packed = join(folder, 'packed');
    await mkdir(packed);
    const entry = `./node_modules/${name}/${main}`;
    await writeFile(join(folder, withoutCompiler.file), noCompiler);
    const alias = `--alias:${withoutCompiler.module}=./${withoutCompiler.file}`;
    const options = [alias, '--bundle', '--platform=node', '--format=cjs', '--target=node24', '--log-level=error'];
    await run(process.execPath, 'node_modules/esbuild/bin/esbuild', entry, ...options, '--outfile=packed/index.js');
    const facts = { name, version, license, main: 'index.js', dependencies: {}, quartermaster: { integrity } };
    await writeFile(join(packed, 'package.json'), `${JSON.stringify(facts, null, 2)}\n`);
    const listed = await run(
      'npm',
      'pack',
      './packed',
      '--ignore-scripts',
      '--json',
      '--pack-destination',
      resolve(out),
    );
    const [{ filename }] = JSON.parse(listed);
    return { file: join(out, filename), package: name, version, integrity };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
