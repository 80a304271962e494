import type { Violation } from '@quartermaster/contract';
import { fieldInvalid, Problem } from '../kernel/problem.ts';
import { quoteText } from '../kernel/quote-text.ts';

export function bundleNotFound(bundleId: string): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `No bundle with the id ${quoteText(bundleId)} is installed. GET /v1/bundles lists the bundles.`,
  );
}

/** The service has just started and has not yet read this bundle. */
export function bundleLoading(bundleId: string): Problem {
  const message = `The bundle ${quoteText(bundleId)} is still loading. Retry in a few seconds.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 5 });
}

export function pluginNotFound(bundleId: string, pluginId: string): Problem {
  const [plugin, bundle] = [quoteText(pluginId), quoteText(bundleId)];
  return new Problem(
    'OBJECT_NOT_FOUND',
    `The bundle ${bundle} has no plugin with the id ${plugin}. GET /v1/bundles/{bundle_id} lists its plugins.`,
  );
}

export function iconNotFound(bundleId: string): Problem {
  return new Problem('OBJECT_NOT_FOUND', `The bundle ${quoteText(bundleId)} has no icon, or is not installed.`);
}

export function listFormatUnknown(found: string, supported: readonly string[]): Problem {
  return fieldInvalid('query/format', quoteText(found), `one of ${supported.join(', ')}`);
}

/** `part` is `credentials` or `input_params`; the checks name paths and rules, never values. */
export function valueInvalid(part: string, violations: readonly Violation[]): Problem {
  const details = violations.map(({ path, ...rest }) => ({ path: `body/${part}${pointer(path)}`, ...rest }));
  const [first] = details;
  const message =
    first === undefined
      ? `body/${part}: not valid.`
      : `${first.path}: found ${first.found}; expected ${first.expected}.`;
  return new Problem('REQUEST_VALIDATION_ERROR', message, { details });
}

/** A check may say `/a/b`, `a/b` or nothing for the value itself. */
function pointer(path: string): string {
  return path === '' || path.startsWith('/') ? path : `/${path}`;
}
