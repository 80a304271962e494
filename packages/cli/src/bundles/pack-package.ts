import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** Bundles a package with its dependencies. It is downloaded when it is needed. */
const bundler = 'esbuild@0.28.2';

/**
 * What replaces modules that the sandbox cannot run. The old framework compiles validators of flows when it is loaded. This generates
 * code, which the sandbox refuses, and no action uses them. tiktoken reads its code from a file, and pieces count tokens with it to stay
 * below a limit: a token has about four characters. playwright starts browsers; the actions of a piece that start none need it only loaded.
 */
const replacements: Readonly<Record<string, string>> = {
  '@sinclair/typebox/compiler': 'exports.TypeCompiler = { Compile: () => ({ Check: () => true, Errors: () => [] }) };',
  tiktoken: `const encoder = () => ({ encode: (text) => new Uint32Array(Math.ceil(text.length / 4)), free: () => {} });
    Object.assign(exports, { encoding_for_model: encoder, get_encoding: encoder });`,
  playwright: `const launch = () => { throw new Error('This piece starts a browser, which Quartermaster does not allow.'); };
    exports.chromium = { launch };`,
};

export interface PackedPackage {
  readonly file: string;
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
}

/**
 * Bundles a package and its dependencies into one file, and writes a package without dependencies that names its origin. Uses npm with
 * the settings of the user. No script of a package runs. Creates the folder `out`. The name of the file is another one than that of
 * `npm pack`, so that an unmodified package in the same folder stays.
 */
export async function packPackage(wanted: string, out: string): Promise<PackedPackage> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-pack-'));
  const run: Run = async (program, ...args) =>
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
    await bundle(folder, entry, run);
    const facts = { name, version, license, main: 'index.js', dependencies: {}, quartermaster: { integrity } };
    await writeFile(join(packed, 'package.json'), `${JSON.stringify(facts, null, 2)}\n`);
    const listed = await run('npm', 'pack', './packed', '--ignore-scripts', '--json', '--pack-destination', folder);
    const [{ filename }] = JSON.parse(listed);
    const file = join(out, `${basename(filename, '.tgz')}-packed.tgz`);
    await copyFile(join(folder, filename), file);
    return { file, package: name, version, integrity };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Run = (program: string, ...args: string[]) => Promise<string>;

/** Writes `packed/index.js`. */
async function bundle(folder: string, entry: string, run: Run): Promise<void> {
  const aliases: string[] = [];
  for (const [module, source] of Object.entries(replacements)) {
    const file = `./replaced-${aliases.length}.js`;
    await writeFile(join(folder, file), source);
    aliases.push(`--alias:${module}=${file}`);
  }
  const form = ['--bundle', '--platform=node', '--format=cjs', '--target=node24', '--log-level=error'];
  const options = [...aliases, ...form, '--outfile=packed/index.js'];
  await run(process.execPath, 'node_modules/esbuild/bin/esbuild', entry, ...options);
}
