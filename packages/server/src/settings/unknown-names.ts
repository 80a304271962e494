import { didYouMean } from '../kernel/validation/did-you-mean.ts';
import type { Environment } from './environment.ts';
import { settings } from './settings.ts';

/** The prefix of the name of each setting. */
export const prefix = 'QUARTERMASTER_';
/** Variables of the command line, which may be set where the service starts. */
const namesOfCommandLine: readonly string[] = ['URL', 'PLUGINS_URL', 'API_KEY'];
/** More suggestions than this help no more than the list of all settings. */
const maxSuggestions = 3;

/** Returns an error for each variable with the prefix that is no setting. */
export function findUnknownNames(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !name.startsWith(`${prefix}TEST_`) && name !== `${prefix}CORPUS`)
    .filter((name) => !namesOfCommandLine.includes(name.slice(prefix.length)))
    .filter((name) => !Object.hasOwn(settings, name.slice(prefix.length)))
    .map((name) => `${name} is not a setting. ${suggestName(name)}docs/reference/settings.md lists all settings.`);
}

/** Suggests the misspelt setting, or those that add words to the written one: FILES_PORT and PLUGINS_PORT for PORT. */
function suggestName(name: string): string {
  const written = name.slice(prefix.length);
  const known = Object.keys(settings);
  const misspelt = didYouMean(written, known);
  const similar =
    misspelt === undefined
      ? known.filter((each) => each.startsWith(`${written}_`) || each.endsWith(`_${written}`))
      : [misspelt];
  if (similar.length === 0 || similar.length > maxSuggestions) return '';
  return `Did you mean ${similar.map((each) => prefix + each).join(' or ')}? `;
}
