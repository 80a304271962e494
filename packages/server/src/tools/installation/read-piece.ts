import { isDeepStrictEqual } from 'node:util';
import type { CredentialPlaces } from '@quartermaster/plugin-kit';
import { shownText } from '../../platform/plain-name.ts';
import { isPublicAddress, literalAddress } from '../egress/addresses.ts';
import { placeText } from '../egress/placeholders/request-parts.ts';
import type { PieceAuth, PieceProperty } from '../execution/pieces/child/piece-task.ts';
import type { Sandbox } from '../execution/sandbox/sandbox.ts';
import { describePiece } from '../pieces/describe-piece.ts';
import { type DryRun, dryRunPiece } from '../pieces/dry-run.ts';
import { literalHosts } from '../pieces/literal-hosts.ts';
import { pieceBundle } from '../pieces/piece-bundle.ts';
import type { ReadPiece } from './read-source.ts';

/** The bounds of a manifest. */
const most = { hosts: 100, places: 32 } as const;

export interface ReadPieceDeps {
  readonly sandbox: () => Promise<Sandbox>;
}

/** Reads pieces in the sandbox: what they declare, and in a dry run where they put their credentials. */
export function createReadPiece({ sandbox }: ReadPieceDeps): ReadPiece {
  return async (read, bundleId, signal, onProgress) => {
    const { name, version, integrity, file } = read;
    const opened = await sandbox();
    const declared = await describePiece(file, opened, signal);
    const seen = await dryRunPiece(file, declared, opened, signal, { onProgress });
    const description = { ...declared, auth: withSecrets(declared.auth, seen.clearTexts) };
    // A host that the code only names may be a link for people. If the dry run reached none, there is nothing better.
    const named = literalHosts(file).hosts.filter((host) => !seen.hosts.includes(host) && !isInside(host));
    const works = seen.computes.length < description.actions.length;
    const proposed = seen.hosts.length > 0 || !works ? seen.hosts : named;
    const hosts = proposed.filter((host) => !isInside(host)).slice(0, most.hosts);
    const credentialPlaces = description.auth.length === 0 ? undefined : placesOf(seen, hosts);
    const about = { id: bundleId ?? bundleIdOf(name), package: name, version, integrity };
    const files = pieceBundle({ ...about, description, hosts, credentialPlaces, file, repeatable: seen.repeatable });
    return { files, warnings: warningsOf(seen, { named, works }), logoUrl: description.logoUrl };
  };
}

/** `@activepieces/piece-google-sheets` becomes `piece_google_sheets`. */
export function bundleIdOf(name: string): string {
  const short = name.slice(name.indexOf('/') + 1).replace(/^piece-/, '');
  return `piece_${short.replaceAll(/[^a-z0-9]/g, '_')}`.slice(0, 64);
}

/** Texts are secrets, so that the piece gets placeholders for them, except those that it needs in clear. */
function withSecrets(auth: readonly PieceAuth[], clearTexts: readonly string[]): PieceAuth[] {
  const isSecret = ({ name, type, options }: PieceProperty) =>
    options === undefined && !typesInClear.has(type) && !clearTexts.includes(name);
  return auth.map((one) => ({
    ...one,
    props: one.props.map((field) => (isSecret(field) ? { ...field, type: 'SECRET_TEXT' } : field)),
  }));
}

const typesInClear: ReadonlySet<string> = new Set(['CHECKBOX', 'MARKDOWN', 'NUMBER']);

function placesOf({ places }: DryRun, hosts: readonly string[]): CredentialPlaces {
  const found: CredentialPlaces['places'] = [];
  const shown = places.filter(({ place }) => shownText(placeText(place)) === placeText(place));
  for (const { place } of shown) if (!found.some((one) => isDeepStrictEqual(one, place))) found.push(place);
  const getting = new Set(places.map(({ host }) => host));
  return { hosts: hosts.filter((host) => getting.has(host)), places: found.slice(0, most.places) };
}

/** Whether a host is on this machine or in its network. */
function isInside(host: string): boolean {
  const name = URL.parse(`https://${host}`)?.hostname ?? '';
  const address = literalAddress(name);
  return address === null ? /(?:^|\.)localhost$/.test(name) : !isPublicAddress(address);
}

/**
 * Whether a third party may show the content of a place to others: people read members of these names, also `message[text]`, and these
 * headers are logged or passed on.
 */
function mayBeShown(place: CredentialPlaces['places'][number]): boolean {
  if (place.in === 'path') return false;
  if (place.in === 'header') return /^(?:cookie|user-agent)$/.test(place.name);
  return /(?:^|[.[])(?:text|body|message|content|comment|title|name|description|subject)\]?$/i.test(place.name);
}

function warningsOf(
  { hosts, places, computes, untried, silent, elsewhere, clearTexts }: DryRun,
  { named, works }: { readonly named: readonly string[]; readonly works: boolean },
): string[] {
  const list = (items: readonly string[]) =>
    `${items.slice(0, 20).map(shownText).join(', ')}${items.length > 20 ? ', …' : ''}`;
  const shown = [...new Set(places.filter(({ place }) => mayBeShown(place)).map(({ place }) => placeText(place)))];
  const inside = hosts.filter(isInside);
  const isProposed = hosts.length === 0 && works;
  const use = isProposed ? 'which calls may reach because the dry run reached none' : 'which calls may not reach';
  const computing =
    'compute with their secret, for example for a signature (HMAC) or a token (JWT), or need its form. They cannot work, because a piece gets a placeholder';
  return [
    works ? '' : `No action can work: all ${computes.length} ${computing}. Use another bundle.`,
    shown.length === 0
      ? ''
      : `The credential in ${list(shown)} may be shown to others; remove it unless the documentation of the third party asks for the credential there.`,
    inside.length === 0
      ? ''
      : `The piece called these addresses of this machine or its network, which calls may not reach: ${list(inside)}.`,
    clearTexts.length === 0
      ? ''
      : `The piece gets these credentials in clear, so it can read them: ${list(clearTexts)}.`,
    named.length === 0 ? '' : `The code also names these hosts, ${use}: ${list(named)}.`,
    computes.length === 0 || !works
      ? ''
      : `These actions ${computing}: ${list(computes)}. Use another bundle for them.`,
    untried.length === 0
      ? ''
      : `The dry run ended before it tried ${untried.length} actions: ${list(untried)}. Their hosts and places may be missing from the plan.`,
    silent.length === 0
      ? ''
      : `In the dry run, ${silent.length} actions sent no credential: ${list(silent)}. An action that computes with its credential cannot work.`,
    elsewhere.length === 0 ? '' : `Requests with the credential in these places are refused: ${list(elsewhere)}.`,
  ].filter((text) => text !== '');
}
