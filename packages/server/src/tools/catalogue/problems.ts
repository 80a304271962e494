import type { ErrorDetail } from '@quartermaster/contract';
import { Problem, problemsOf } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { didYouMean } from '../../platform/validation/field-errors.ts';
import { fieldInvalid, quote, quoteNames, validationFailed } from '../../platform/validation/validation-error.ts';
import { type Catalogue, type CompiledBundle, type CompiledPlugin, isRetired } from './catalogue.ts';

export const { bundleNotFound, iconNotFound } = problemsOf('OBJECT_NOT_FOUND', {
  /** @param meant a similar id, if there is one */
  bundleNotFound: (bundleId: string, meant?: string) =>
    `No bundle with the id ${quoteText(bundleId)} is installed.${suggest(meant)} GET /v1/bundles lists the bundles.`,
  iconNotFound: (bundleId: string) => `The bundle ${quoteText(bundleId)} has no icon, or is not installed.`,
});

/** The service has just started and has not read this bundle yet. */
function bundleLoading(bundleId: string): Problem {
  const message = `The bundle ${quoteText(bundleId)} is still loading. Retry in a few seconds.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 5 });
}

export function bundleRetired({ id, manifest }: Pick<CompiledBundle, 'id' | 'manifest'>): Problem {
  const { date, reason, successor } = manifest.retired ?? {};
  return new Problem('OBJECT_NOT_FOUND', `The bundle ${quoteText(id)} was retired on ${date}. ${reason} ${successor}`);
}

type Found = Pick<Catalogue, 'findBundle' | 'loading' | 'bundles'>;

/** The reason why a bundle cannot be used: it is unknown, not read yet, or retired. */
export function bundleMissing({ findBundle, loading, bundles }: Found, bundleId: string): Problem {
  const bundle = findBundle(bundleId);
  if (bundle !== undefined && isRetired(bundle)) return bundleRetired(bundle);
  if (loading.includes(bundleId)) return bundleLoading(bundleId);
  const known = [...bundles.values()].filter((one) => !isRetired(one)).map(({ id }) => id);
  return bundleNotFound(bundleId, didYouMean(bundleId, known));
}

/** @throws Problem when the bundle is unknown, not read yet, or retired */
export function getBundle(catalogue: Found, bundleId: string): CompiledBundle {
  const bundle = catalogue.findBundle(bundleId);
  if (bundle === undefined || isRetired(bundle)) throw bundleMissing(catalogue, bundleId);
  return bundle;
}

/** @throws Problem when the bundle cannot be used or has no such plugin */
export function getPlugin(catalogue: Found, bundleId: string, pluginId: string): CompiledPlugin {
  const plugin = getBundle(catalogue, bundleId).plugins.get(pluginId);
  if (plugin === undefined) throw pluginMissing(catalogue, bundleId, pluginId);
  return plugin;
}

export function pluginMissing(catalogue: Found, bundleId: string, pluginId: string): Problem {
  const known = catalogue.findBundle(bundleId);
  if (known === undefined || isRetired(known)) return bundleMissing(catalogue, bundleId);
  const [plugin, bundle] = [quoteText(pluginId), quoteText(bundleId)];
  const meant = didYouMean(pluginId, [...known.plugins.keys()]);
  return new Problem(
    'OBJECT_NOT_FOUND',
    `The bundle ${bundle} has no plugin with the id ${plugin}.${suggest(meant)} GET /v1/bundles/{bundle_id} lists its plugins.`,
  );
}

function suggest(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean ${quoteText(meant)}?`;
}

/** @param meant a similar name, if there is one */
export function toolNameUnknown(name: string, meant: string | undefined): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `No plugin has the tool name ${quoteText(name)}.${suggest(meant)} GET /v1/plugins?format=openai lists the names; with q it searches.`,
  );
}

/** The service has just started and has not read every bundle yet. */
export function toolNamesLoading(name: string): Problem {
  const message = `No plugin has the tool name ${quoteText(name)}, but bundles are still loading. Retry in a few seconds.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 5 });
}

/** The maximum number of names that an error lists. */
const maxListedNames = 10;

/** @param names the unambiguous names of the plugins that have the name */
export function toolNameAmbiguous(name: string, names: readonly string[]): Problem {
  const listed = quoteNames(names.slice(0, maxListedNames));
  return fieldInvalid(
    'body/tool_name',
    quote(name),
    `the name of one plugin, such as ${listed}, or be sent with bundle_id`,
  );
}

export function listFormatUnknown(found: string, supported: readonly string[]): Problem {
  return fieldInvalid('query/format', quote(found), `one of ${quoteNames(supported)}`);
}

/**
 * @param part `credentials` or `input_params`
 * @param violations at least one; none shows a value of the credentials
 */
export function valueInvalid(part: string, violations: readonly ErrorDetail[]): Problem {
  const [first, ...others] = violations.map(({ path, ...rest }) => ({ path: `body/${part}${pointer(path)}`, ...rest }));
  if (first === undefined) throw new Error(`No error was found in body/${part}.`);
  return validationFailed([first, ...others]);
}

/** Normalises a path: a check may return `/a/b`, `a/b` or an empty text for the value itself. */
function pointer(path: string): string {
  return path === '' || path.startsWith('/') ? path : `/${path}`;
}
