import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { packageNamePattern, packageVersionPattern } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { shownText } from '../../platform/plain-name.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { packageRefused } from './problems.ts';
import { readTarball } from './read-tarball.ts';

/** A package of a piece: one file of code without dependencies. */
export interface PiecePackage {
  readonly name: string;
  readonly version: string;
  /** That of the archive, as `sha512-…`. */
  readonly integrity: string;
  /** What the package states, at most 100 characters; null when it states none. */
  readonly licence: string | null;
  /** The integrity of the package that `bundle pack` bundled into this one; null for an unmodified package. */
  readonly packedFrom: string | null;
  readonly file: Buffer;
}

export const pieceLimits = { warnBytes: 2 * 2 ** 20, bytes: 8 * 2 ** 20 } as const;

// composed: the pattern of the contract; neither class has the character that follows it.
const isName = new RegExp(packageNamePattern);
// composed: the pattern of the contract; neither class has the character that follows it.
const isVersion = new RegExp(packageVersionPattern);

/**
 * Reads the archive of a package. No script of it runs.
 * @throws Problem REQUEST_VALIDATION_ERROR
 */
export async function readPiecePackage(archive: Buffer): Promise<PiecePackage> {
  const files = await readTarball(archive);
  const facts = readFacts(files.get('package.json'));
  const { name, version, main, dependencies, type } = facts;
  if (typeof name !== 'string' || !isName.test(name) || typeof version !== 'string' || !isVersion.test(version))
    throw packageRefused('its package.json has no name with a scope, or no version', 'Choose a package of a piece.');
  const needed = Object.keys(Object(dependencies));
  if (needed.length > 0)
    throw packageRefused(
      `${name}@${version} needs ${needed.length} other packages, such as ${quoteText(needed[0] ?? '')}`,
      `Run "${commandName} bundle pack ${name}@${version}" on a workstation, then "${commandName} bundle add FILE.tgz".`,
    );
  const file = findMain(files, main);
  if (file === undefined || type === 'module')
    throw packageRefused('it has no CommonJS file as "main"', 'Choose a package of a piece.');
  if (file.length > pieceLimits.bytes)
    throw packageRefused(
      `its code has ${file.length} bytes; at most ${pieceLimits.bytes} are allowed`,
      'Choose a smaller version.',
    );
  const packed: unknown = Object(facts.quartermaster).integrity;
  return {
    name,
    version,
    integrity: integrityOf(archive),
    licence: findLicence(facts.license, files),
    packedFrom: typeof packed === 'string' ? shownText(packed.slice(0, 200)) : null,
    file,
  };
}

export function integrityOf(archive: Uint8Array): string {
  return `sha512-${createHash('sha512').update(archive).digest('base64')}`;
}

function readFacts(bytes: Buffer | undefined): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(bytes?.toString('utf8') ?? ''));
  } catch (cause) {
    throw packageRefused('its package.json is missing or is not valid JSON', 'Choose a package of a piece.', cause);
  }
}

function findMain(files: ReadonlyMap<string, Buffer>, main: unknown): Buffer | undefined {
  const path = posix.normalize(typeof main === 'string' ? main : 'index.js');
  return files.get(path) ?? files.get(`${path}.js`) ?? files.get(posix.join(path, 'index.js'));
}

/** Returns the expression of package.json, or the first line of a licence file. */
function findLicence(stated: unknown, files: ReadonlyMap<string, Buffer>): string | null {
  const path = [...files.keys()].find((name) => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  const text = path === undefined ? '' : (files.get(path)?.toString('utf8', 0, 1024) ?? '');
  const licence = typeof stated === 'string' ? stated : (text.split('\n').find((line) => line.trim() !== '') ?? '');
  return licence.trim() === '' ? null : shownText(licence.trim().slice(0, 100));
}
