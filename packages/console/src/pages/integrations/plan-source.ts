import { type BundlePlan, type BundlePlanRequest, packageOfWords } from '@quartermaster/contract';
import { toDataUrl } from '../../components/data-url.ts';

export const kinds = ['piece', 'openapi', 'mcp', 'archive'] as const satisfies ReadonlyArray<BundlePlan['kind']>;

/** What the form has. Fields of other kinds are ignored. */
export interface Wanted {
  readonly kind: BundlePlan['kind'];
  readonly bundleId: string;
  readonly name: string;
  readonly version: string;
  /** '' imports what the fields choose. */
  readonly recipe: string;
  readonly url: string;
  readonly server: string;
  readonly operations: string;
  readonly tags: string;
  readonly paths: string;
  readonly access: 'none' | 'bearer' | 'header';
  readonly header: string;
  readonly credential: string;
  readonly value: string;
  readonly file: File | null;
}

export const nothingWanted: Wanted = {
  kind: 'piece',
  bundleId: '',
  name: '',
  version: '',
  recipe: '',
  url: '',
  server: '',
  operations: '',
  tags: '',
  paths: '',
  access: 'none',
  header: 'X-Api-Key',
  credential: 'ACCESS_TOKEN',
  value: '',
  file: null,
};

const base64Of = async (file: File) => (await toDataUrl(file)).replace(/^[^,]*,/, '');
const given = <Name extends string>(name: Name, text: string) =>
  (text.trim() === '' ? {} : { [name]: text.trim() }) as Partial<Record<Name, string>>;

/** A tag may have spaces, so commas separate. */
const listed = <Name extends string>(name: Name, text: string) => {
  const names = text.split(',').flatMap((one) => one.trim() || []);
  return (names.length === 0 ? {} : { [name]: names }) as Partial<Record<Name, string[]>>;
};

export async function requestOf(wanted: Wanted): Promise<BundlePlanRequest> {
  // An archive keeps its id.
  return { source: await sourceOf(wanted), ...given('bundle_id', wanted.kind === 'archive' ? '' : wanted.bundleId) };
}

async function sourceOf(wanted: Wanted): Promise<BundlePlanRequest['source']> {
  const { kind, file, url } = wanted;
  const operations = listed('operations', wanted.operations.replaceAll(/\s+/g, ','));
  if (kind === 'mcp') return { kind, url: url.trim(), ...accessOf(wanted), ...operations };
  if (kind === 'openapi') {
    const document = file === null ? given('url', url) : { content: await file.text() };
    const chosen =
      wanted.recipe === ''
        ? { ...listed('tags', wanted.tags), ...listed('paths', wanted.paths) }
        : { recipe: wanted.recipe };
    return { kind, ...document, ...chosen, ...given('server', wanted.server), ...operations };
  }
  if (file !== null) return { kind: kind === 'archive' ? kind : 'piece_file', content: await base64Of(file) };
  return { kind: 'piece', package: packageOfWords(wanted.name), ...given('version', wanted.version) };
}

function accessOf({ access, header, credential, value }: Wanted) {
  if (access === 'none') return {};
  const name = credential.trim();
  const sent = access === 'bearer' ? { bearer: name } : { headers: { [header.trim()]: name } };
  return { ...sent, credentials: { [name]: value } };
}
