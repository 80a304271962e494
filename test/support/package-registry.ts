import { integrityOf } from '../../packages/server/src/tools/installation/piece-package.ts';
import { packageOf } from '../../packages/server/src/tools/installation/testing/tarball.suite.ts';
import { serve } from './http.ts';
import type { Ending } from './service.ts';

/** The code of a package by its version. The last one is the latest. */
type Versions = Readonly<Record<string, string>>;

/** Starts a registry of npm with one package. Returns its URL. */
export async function servePackage(t: Ending, name: string, versions: () => Versions): Promise<string> {
  const url: string = await serve(t, (request, response) => {
    const archives = Object.entries(versions()).map(
      ([version, code]) => [version, packageOf(code, { name, version })] as const,
    );
    const wanted = archives.find(([version]) => request.url === `/${version}.tgz`);
    if (wanted !== undefined) return void response.end(wanted[1]);
    const described = archives.map(([version, archive]) => {
      return [version, { dist: { tarball: `${url}/${version}.tgz`, integrity: integrityOf(archive) } }] as const;
    });
    const latest = archives.at(-1)?.[0];
    response.end(JSON.stringify({ 'dist-tags': { latest }, versions: Object.fromEntries(described) }));
  });
  return url;
}

/** A piece with one action, which sends its key to a host in a header. */
export function pieceThatSends(host: string, classification = 'WRITE'): string {
  return `exports.piece = {
  displayName: 'Tea', description: 'Brews tea.', getContextInfo: () => ({ version: '2' }),
  auth: { type: 'SECRET_TEXT', displayName: 'Key', description: 'The key.', required: true },
  _actions: { brew: { name: 'brew', displayName: 'Brew', description: 'Brew tea', requireAuth: true, classification: '${classification}',
    props: { leaf: { type: 'SHORT_TEXT', displayName: 'Leaf', description: 'The leaf.', required: true } },
    run: async ({ auth, propsValue }) => {
      const answer = await fetch('https://${host}/brew', {
        method: 'POST', headers: { 'X-Key': auth.secret_text ?? auth }, body: propsValue.leaf });
      return await answer.json();
    } } },
};`;
}
