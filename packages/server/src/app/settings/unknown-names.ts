import { didYouMean } from '../../platform/validation/did-you-mean.ts';
import type { Environment } from './environment.ts';
import { prefix } from './read-settings.ts';
import { isSecretFile, settings } from './settings.ts';

/** Variables of the command line and of the set-up, which may be set where the service starts. */
const otherNames: readonly string[] = ['URL', 'PLUGINS_URL', 'API_KEY', 'NODE', 'CORPUS'];
/** More suggestions than this help no more than the list of all settings. */
const maxSuggestions = 3;

/** Returns an error for each variable with the prefix that is not a setting. */
export function findUnknownNames(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !name.startsWith(`${prefix}TEST_`))
    .map((name) => name.slice(prefix.length))
    .filter((key) => !otherNames.includes(key) && !Object.hasOwn(settings, key) && !isSecretFile(key))
    .map(describeUnknownName);
}

function describeUnknownName(key: string): string {
  const similar = findSimilar(key).map((each) => prefix + each);
  const question = similar.length === 0 ? '' : `Did you mean ${similar.join(' or ')}? `;
  return `${prefix}${key} is not a setting. ${question}docs/reference/settings.md lists all settings.`;
}

/** Finds the misspelt setting, or those that add words to the written key: FILES_PORT and PLUGINS_PORT for PORT. */
function findSimilar(key: string): string[] {
  const known = Object.keys(settings);
  const misspelt = didYouMean(key, known);
  if (misspelt !== undefined) return [misspelt];
  const longer = known.filter((each) => each.startsWith(`${key}_`) || each.endsWith(`_${key}`));
  return longer.length > maxSuggestions ? [] : longer;
}
