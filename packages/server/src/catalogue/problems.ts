import { fieldInvalid, objectNotFound, Problem } from '../kernel/problem.ts';

export function bundleNotFound(bundleId: string): Problem {
  return objectNotFound('bundle', bundleId);
}

/** The service has just started with bundles that it has not read before. */
export function bundleLoading(bundleId: string): Problem {
  const message = `The bundle ${JSON.stringify(bundleId)} is still being read. Try again in a few seconds.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 5 });
}

export function pluginNotFound(bundleId: string, pluginId: string): Problem {
  const [plugin, bundle] = [JSON.stringify(pluginId), JSON.stringify(bundleId)];
  return new Problem('OBJECT_NOT_FOUND', `The bundle ${bundle} has no plugin with the id ${plugin}.`);
}

export function iconNotFound(bundleId: string): Problem {
  return objectNotFound('icon of a bundle', bundleId);
}

export function listFormatUnknown(found: string, supported: readonly string[]): Problem {
  return fieldInvalid('query/format', JSON.stringify(found.slice(0, 64)), `one of ${supported.join(', ')}`);
}
