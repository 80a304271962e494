import type { Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import { Secret } from '../../platform/secret.ts';
import { integrityOf } from './piece-package.ts';
import { noLatestVersion, packageNotFound, packageRefused, registryFailed } from './problems.ts';
import { packageLimits } from './read-tarball.ts';

/** Downloads packages. */
export interface Registry {
  /**
   * Downloads the archive of a package and verifies its integrity.
   * @param version null for the latest version
   * @throws Problem
   */
  download(name: string, version: string | null, signal: AbortSignal): Promise<Buffer>;
}

export const publicRegistry = 'https://registry.npmjs.org';

/** A document of a package lists all its versions. */
const mostDocumentBytes = 8 * 2 ** 20;
const limits = { maxRedirects: 3, timeoutMs: 60_000 } as const;

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

  async function get(target: string, maxResponseBytes: number, signal: AbortSignal): Promise<Buffer | null> {
    const policy: OutboundPolicy = {
      ...limits,
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
    if (result.status === 404) return null;
    if (result.status !== 200) throw registryFailed(url.host, `it answered with status ${result.status}`);
    return result.body;
  }

  return {
    async download(name, version, signal) {
      const document = await get(`${url.base}/${name.replace('/', '%2f')}`, mostDocumentBytes, signal);
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
