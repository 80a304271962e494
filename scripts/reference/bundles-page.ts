import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiFacts } from '@quartermaster/plugin-kit';
import { parse } from 'yaml';
import {
  type CompiledBundle,
  type CompiledPlugin,
  isRetired,
} from '../../packages/server/src/tools/catalogue/catalogue.ts';
import { loadFolder } from '../../packages/server/src/tools/catalogue/load/load-folder.ts';

const bundlesFolder = resolve(import.meta.dirname, '../../bundles');

/** Plugins that are not available, the reason, and a replacement. */
export interface AbsentPlugins {
  readonly plugins: readonly string[];
  readonly reason: string;
  readonly instead?: readonly string[];
}

export function readAbsentPlugins(): readonly AbsentPlugins[] {
  return parse(readFileSync(join(import.meta.dirname, 'absent-plugins.yaml'), 'utf8'));
}

/** Renders docs/reference/bundles.md. */
export async function describeBundles(): Promise<Record<string, string>> {
  const { bundles } = await loadFolder(bundlesFolder);
  const byRetirement = Object.groupBy(bundles.values(), (bundle) => (isRetired(bundle) ? 'retired' : 'all'));
  const { all = [], retired = [] } = byRetirement;
  const count = all.reduce((sum, { plugins }) => sum + plugins.size, 0);
  const page = [
    '# Bundles',
    '',
    'Generated from `bundles/` by `npm run reference`; do not edit.',
    '',
    `${all.length} bundles with ${count} plugins. Plugins of tier T0 are declarative and run no code. Plugins of tier T1 run code in`,
    'a child process without network access, files or secrets.',
    '',
    'No API was called. *Verified* says what the requests and answers of a bundle were compared with: a document of the vendor, or',
    'public sources of the named date; `npm run test:vendors` repeats the comparison. *As of* is the month up to which the knowledge',
    'of an API is believed to be current. To test a plugin against the API of today, verify your credentials or run',
    '`quartermaster bundle record`.',
    '',
    '| Bundle | Plugins | Credentials | Hosts |',
    '|---|---|---|---|',
    ...all.map(describeRow),
    '',
    ...all.flatMap(describeBundle),
    ...describeRetired(retired),
    ...describeAbsent(),
  ];
  return { 'docs/reference/bundles.md': page.join('\n') };
}

function describeRow(bundle: CompiledBundle): string {
  const cells = [
    `[${textOf(bundle.manifest.name)}](#${bundle.id})`,
    String(bundle.plugins.size),
    credentialsOf(bundle).join(', ') || '–',
    hostsOf(bundle),
  ];
  return tableRow(cells);
}

function describeBundle(bundle: CompiledBundle): string[] {
  const { manifest } = bundle;
  return [
    `## ${bundle.id}`,
    '',
    `**${textOf(manifest.name)}.** ${textOf(manifest.description)}`,
    '',
    ...describeFacts(bundle),
    '| Plugin | What it does | Tier | Effects | Described at | As of |',
    '|---|---|---|---|---|---|',
    ...[...bundle.plugins.values()].map(describePlugin),
    '',
  ];
}

function describeFacts(bundle: CompiledBundle): string[] {
  const { manifest, plugins } = bundle;
  const { api = {} } = manifest;
  const own = [...plugins.values()].flatMap((plugin) => notesOf(plugin.manifest.api, `\`${plugin.id}\`: `));
  const facts = [
    ...(bundle.callsOut ? [`Hosts: ${hostsOf(bundle)}`, verificationOf(api)] : []),
    ...notesOf(api, ''),
    ...own,
  ];
  return facts.length === 0 ? [] : [...facts.map((fact) => `* ${fact}`), ''];
}

function verificationOf({ verified }: ApiFacts): string {
  return verified === undefined ? 'Unverified' : `Verified against ${verified.against} of ${verified.date}`;
}

function notesOf(api: ApiFacts | undefined, start: string): string[] {
  const payloads = api?.payloads === undefined ? [] : [`${start}Payloads: ${api.payloads}`];
  return [...payloads, ...(api?.note === undefined ? [] : [`${start}${api.note}`])];
}

/** Returns the hosts, or a sentence when the operator chooses them. */
function hostsOf({ hosts, hostsBy }: CompiledBundle): string {
  return hostsBy === 'operator' ? 'those the operator allows (`QUARTERMASTER_BUNDLE_HOSTS`)' : hosts.join(', ') || '–';
}

function describePlugin({ id, bundle, manifest }: CompiledPlugin): string {
  const { documentation, as_of } = { ...bundle.manifest.api, ...manifest.api };
  const cells = [
    `\`${id}\``,
    textOf(manifest.description),
    manifest.handler === undefined ? 'T0' : 'T1',
    manifest.effects,
    documentation === undefined ? '–' : `[${new URL(documentation).host}](${documentation})`,
    as_of ?? '–',
  ];
  return tableRow(cells);
}

function describeRetired(bundles: readonly CompiledBundle[]): string[] {
  const rows = bundles.map(({ id, manifest: { retired } }) =>
    tableRow([`\`${id}\``, retired?.date ?? '', `${retired?.reason} ${retired?.successor}`]),
  );
  return ['## Retired', '', '| Bundle | Since | Why, and what to use instead |', '|---|---|---|', ...rows, ''];
}

function describeAbsent(): string[] {
  const rows = readAbsentPlugins().map(({ plugins, reason, instead = [] }) =>
    tableRow([code(plugins), reason, code(instead) || '–']),
  );
  return ['## Not there, and why', '', '| Plugin | Why | Instead |', '|---|---|---|', ...rows, ''];
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function credentialsOf({ manifest }: CompiledBundle): string[] {
  const properties: unknown = Reflect.get(manifest.credentials_schema ?? {}, 'properties');
  return Object.keys(Object(properties)).map((name) => `\`${name}\``);
}

function textOf(text: string | { readonly en: string }): string {
  return typeof text === 'string' ? text : text.en;
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
