import { CredentialPlaces } from '@quartermaster/plugin-kit';
import { Value } from 'typebox/value';
import type { EgressRequest } from '../../../platform/outbound.ts';
import { withQuery } from '../wire-request.ts';
import { createPlaceholderFinder } from './placeholders.ts';
import { type CredentialPlace, mapParts } from './request-parts.ts';

/** What a request shows about the credentials of its handler. */
export interface LearntPlaces {
  readonly host: string;
  readonly places: readonly CredentialPlace[];
  /** The parts with a placeholder that cannot be places of credentials. */
  readonly elsewhere: readonly string[];
}

/** Finds the places in which a request holds placeholders. Undefined when it has no https:// URL. */
export function learnPlaces(request: EgressRequest, placeholders: readonly string[]): LearntPlaces | undefined {
  const url = URL.parse(request.url);
  if (url?.protocol !== 'https:') return undefined;
  url.search = withQuery(url.search, request.query ?? []);
  url.hash = '';
  const finder = createPlaceholderFinder(placeholders);
  const places: CredentialPlace[] = [];
  const elsewhere: string[] = [];
  const see = (where: string, text: string | Uint8Array) => {
    if (finder.isIn(text)) elsewhere.push(where);
  };
  const fill = (where: string, text: string, place: CredentialPlace) => {
    const rest = placeholders.reduce((left, one) => left.replaceAll(one, ' '), text);
    const isPlace =
      rest !== text && !finder.isIn(rest) && Value.Check(CredentialPlaces, { hosts: [], places: [place] });
    if (isPlace) places.push(place);
    else see(where, text);
    return text;
  };
  const { method, headers = {}, body } = request;
  mapParts({ url, method, headers, body }, { see, fill }, placeholders);
  return { host: url.host, places, elsewhere };
}
