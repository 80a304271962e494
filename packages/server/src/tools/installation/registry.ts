import { type FoundPackage, packageNamePattern, packageOfWords, packageVersionPattern } from '@quartermaster/contract';
import type { Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import { shownText } from '../../platform/plain-name.ts';
import { Secret } from '../../platform/secret.ts';
import { integrityOf } from './piece-package.ts';
import { noLatestVersion, packageNotFound, packageRefused, registryFailed, searchMissing } from './problems.ts';
import { packageLimits } from './read-tarball.ts';

/** Downloads packages. */
export interface Registry {
  /**
   * Downloads the archive of a package and verifies its integrity.
   * @param version null for the latest version
   * @throws Problem
   */
  download(name: string, version: string | null, signal: AbortSignal): Promise<Buffer>;
  /**
   * Finds packages of pieces by words. A package with exactly this name is found in every registry.
   * @throws Problem, also when the registry has no search and no package with this name
   */
  search(words: string, signal: AbortSignal): Promise<FoundPackage[]>;
}

export const publicRegistry = 'https://registry.npmjs.org';

/** A document of a package lists all its versions. */
const mostDocumentBytes = 8 * 2 ** 20;
const limits = { maxRedirects: 3, timeoutMs: 60_000 } as const;
const searchLimits = { results: 50, bytes: 2 ** 20, timeoutMs: 15_000 } as const;
/** What registries without a search answer. */
const noSearch = [404, 405, 501];

/** @param setting the URL of the registry; its user is a token, or its user and password are sent as Basic authentication */
export function createRegistry(outbound: Outbound, setting: Secret | null): Registry {
  const { username, password, ...url } = partsOf(setting?.reveal() ?? publicRegistry);
  const credentials = new Map([
    ['username', new Secret(decodeURIComponent(username))],
    ['password', new Secret(decodeURIComponent(password))],
  ]);
  const inject: OutboundPolicy['inject'] =
    username === ''
      ? []
      : password === ''
        ? [{ in: 'bearer', credential: 'username' }]
        : [{ in: 'basic', username: 'username', password: 'password' }];

  /** @param missing statuses for which it returns null */
  async function get(
    target: string,
    maxResponseBytes: number,
    signal: AbortSignal,
    { missing = [404], timeoutMs = limits.timeoutMs }: { missing?: readonly number[]; timeoutMs?: number } = {},
  ): Promise<Buffer | null> {
    const policy: OutboundPolicy = {
      ...limits,
      timeoutMs,
      hosts: new Set([url.host, new URL(target).host]),
      hostsBy: 'registry',
      credentialsHost: url.host,
      schemes: new Set(url.protocol === 'http:' ? ['https', 'http'] : ['https']),
      credentials: inject.length === 0 ? new Map() : credentials,
      inject,
      maxResponseBytes,
    };
    const headers = { accept: 'application/vnd.npm.install-v1+json, application/json;q=0.8, */*;q=0.1' };
    const result = await outbound.send({ method: 'GET', url: target, headers }, policy, signal);
    if (result.kind === 'timed_out') throw registryFailed(url.host, `it did not answer within ${result.limitMs} ms`);
    if (result.kind === 'credentials_rejected')
      throw registryFailed(url.host, `it answered with status ${result.status}`);
    if (result.kind !== 'response') throw registryFailed(url.host, result.message);
    if (missing.includes(result.status)) return null;
    if (result.status !== 200) throw registryFailed(url.host, `it answered with status ${result.status}`);
    return result.body;
  }

  const readDocument = (name: string, signal: AbortSignal) =>
    get(`${url.base}/${name.replace('/', '%2f')}`, mostDocumentBytes, signal);

  return {
    async search(words, signal) {
      const name = packageOfWords(words);
      const target = `${url.base}/-/v1/search?text=${encodeURIComponent(name)}&size=${searchLimits.results}`;
      const { bytes, timeoutMs } = searchLimits;
      const answer = await get(target, bytes, signal, { missing: noSearch, timeoutMs });
      const { objects } = answer === null ? {} : parse(answer, url.host);
      const found = (Array.isArray(objects) ? objects.slice(0, searchLimits.results) : []).flatMap((one) =>
        foundOf(Object(one).package),
      );
      if (found.some((one) => one.package === name) || !isPackageName.test(name)) return found;
      const document = await readDocument(name, signal);
      if (document === null && answer === null) throw searchMissing(name, url.host);
      const { description, 'dist-tags': tags } = document === null ? {} : parse(document, url.host);
      return [...foundOf({ name, description, version: Object(tags).latest }), ...found];
    },
    async download(name, version, signal) {
      const document = await readDocument(name, signal);
      if (document === null) throw packageNotFound(name, url.host, null);
      const { versions, 'dist-tags': tags } = parse(document, url.host);
      const latest: unknown = Object(tags).latest;
      const wanted = version ?? latest;
      if (typeof wanted !== 'string') throw noLatestVersion(name, url.host);
      const found = Object.entries(Object(versions)).find(([one]) => one === wanted)?.[1];
      if (found === undefined)
        throw packageNotFound(`${name}@${wanted}`, url.host, typeof latest === 'string' ? latest : null);
      const { integrity, tarball } = Object(Object(found).dist);
      const expected = sha512Of(integrity);
      if (expected === undefined)
        throw packageRefused(`the registry states no sha512 for ${name}@${wanted}`, 'Ask its operator.');
      if (typeof tarball !== 'string' || !/^https?:/.test(tarball) || !URL.canParse(tarball))
        throw registryFailed(url.host, 'it names no address of the package');
      const archive = await get(tarball, packageLimits.packedBytes, signal);
      if (archive === null) throw registryFailed(url.host, 'it does not have the file that it names');
      if (integrityOf(archive) !== expected)
        throw packageRefused(
          `the integrity of ${name}@${wanted} is wrong`,
          'The file was changed on its way; download it again.',
        );
      return archive;
    },
  };
}

function partsOf(text: string) {
  const { username, password, origin, pathname, protocol, host } = new URL(text);
  return {
    username,
    password,
    protocol,
    host,
    base: origin + (pathname.endsWith('/') ? pathname.slice(0, -1) : pathname),
  };
}

// composed: the patterns of the contract; no class has the character that follows it.
const isPackageName = new RegExp(packageNamePattern);
// composed: a pattern of the contract, as above.
const isVersion = new RegExp(packageVersionPattern);

/** Returns what the registry says about a package of a piece, and nothing for other packages. */
function foundOf(stated: unknown): FoundPackage[] {
  const { name, version, description } = Object(stated);
  const isPiece = typeof name === 'string' && isPackageName.test(name) && name.includes('/piece-');
  if (!isPiece || typeof version !== 'string' || !isVersion.test(version)) return [];
  return [
    {
      package: name,
      version,
      description: typeof description === 'string' ? shownText(description.slice(0, 300)) : '',
    },
  ];
}

function parse(document: Buffer, registry: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(document.toString('utf8')));
  } catch {
    throw registryFailed(registry, 'its document of the package is not valid JSON');
  }
}

/** Returns the sha512 of a list of hashes. */
function sha512Of(integrity: unknown): string | undefined {
  const hashes = typeof integrity === 'string' ? integrity.slice(0, 1000).split(' ') : [];
  return hashes.find((hash) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(hash));
}
