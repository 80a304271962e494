import { Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';

/** The package cannot be installed, whatever the registry says. @param reason a clause without a full stop @param remedy a sentence */
export function packageRefused(reason: string, remedy: string, cause?: unknown): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `The package was not accepted: ${reason}. ${remedy}`, { cause });
}

export function packageNotFound(wanted: string, registry: string, known: string | null): Problem {
  const remedy = known === null ? 'Check the name.' : `Its latest version is ${known}.`;
  return new Problem('OBJECT_NOT_FOUND', `The registry ${registry} has no package ${wanted}. ${remedy}`);
}

/** The registry answers by names only. */
export function searchMissing(wanted: string, registry: string): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `The registry ${registry} has no search, and no package ${wanted}. Type the full name of the package, such as @activepieces/piece-slack.`,
  );
}

export function noLatestVersion(name: string, registry: string): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `The registry ${registry} names no latest version of ${name}. Name a version, such as ${name}@1.0.0.`,
  );
}

/** A command sends what the API would refuse by its schema. */
export function nameInvalid(what: string, found: string, expected: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `The ${what} ${quoteText(found)} is not valid. ${expected}`);
}

/** @param reason a clause without a full stop */
export function registryFailed(registry: string, reason: string): Problem {
  return new Problem(
    'PROVIDER_ERROR',
    `The request to the registry ${registry} failed: ${reason}. Check QUARTERMASTER_PACKAGE_REGISTRY, or install a downloaded file.`,
  );
}

export function planChanged(digest: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `The digest is not that of the plan, which is ${digest}. Read the plan again, then confirm its digest.`,
  );
}

/** The plan would undo what was installed, changed or removed since it was made. */
export function basisChanged(bundleId: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `The bundle ${bundleId} was installed, changed or removed after this plan was made. Plan again, then confirm the new plan.`,
  );
}

export function tooManyInstalled(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `At most ${most} bundles can be installed from packages. Remove one first.`,
  );
}

/** An OpenAPI document or a list of tools cannot be converted. @param reason a clause without a full stop */
export function importRefused(reason: string): Problem {
  // Some reasons end with advice of their own.
  const remedy = /\. [A-Z]/.test(reason) ? '' : ' Correct the source, or choose fewer operations.';
  return new Problem('REQUEST_VALIDATION_ERROR', `The import failed: ${reason.replace(/\.$/, '')}.${remedy}`);
}

/** An OpenAPI document or a list of tools cannot be fetched. */
export function definitionsFailed(cause: unknown): Problem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Problem(
    'PROVIDER_ERROR',
    `The import failed: ${reason.replace(/\.$/, '')}. Check the URL and, for an MCP server, its credentials.`,
    { cause },
  );
}

export function idOfArchive(bundleId: string): Problem {
  return new Problem(
    'REQUEST_VALIDATION_ERROR',
    `An archive keeps the id of its bundle, ${bundleId}. Leave out the id.`,
  );
}

export function reachFixed(): Problem {
  return new Problem(
    'REQUEST_VALIDATION_ERROR',
    'The hosts and places of this bundle cannot be edited, because its files define them. Leave out both lists.',
  );
}

/** Another package would get the credential profiles of the bundle. */
export function otherPackage(bundleId: string, installed: string, wanted: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `The bundle ${bundleId} is from ${installed}, not from ${wanted}. Choose another id for the bundle (--id), or remove it first.`,
  );
}
