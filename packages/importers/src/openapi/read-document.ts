import { upgrade } from '@scalar/openapi-upgrader';
import { parse, YAMLParseError } from 'yaml';
import { isDiscovery, openApiOf } from './discovery.ts';
import { documentOf, isJson, type OpenApiDocument, type SchemaChecks, textOf } from './document.ts';

/** @throws Error that names what is not supported */
export function readDocument(text: string, checks: SchemaChecks): OpenApiDocument {
  const parsed = parseText(text);
  if (!isJson(parsed)) throw new Error('The document must be a JSON or YAML object.');
  if (isDiscovery(parsed)) return documentOf(`discovery ${textOf(parsed.discoveryVersion)}`, openApiOf(parsed), checks);
  const version = parsed.openapi ?? parsed.swagger;
  if (typeof version !== 'string' || !/^(2\.0|3\.[01])/.test(version)) {
    throw new Error(
      `The document must be OpenAPI 2.0, 3.0 or 3.1, or a Google Discovery document; received ${JSON.stringify(version ?? 'no version')}.`,
    );
  }
  // A copy, because the upgrader modifies its argument.
  const root: unknown = upgrade(structuredClone(parsed), '3.1');
  if (!isJson(root)) throw new Error('The document cannot be converted to OpenAPI 3.1. Check it with a validator.');
  return documentOf(version, root, checks);
}

function parseText(text: string): unknown {
  try {
    // `JSON.parse` is tried first: it is a hundred times faster, and most large documents are JSON.
    return JSON.parse(text);
  } catch {
    return parseYaml(text);
  }
}

function parseYaml(text: string): unknown {
  try {
    // The check for unique keys compares each key with all others.
    return parse(text, { maxAliasCount: 1_000, uniqueKeys: false });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    // The other lines quote the document.
    const [reason = ''] = error.message.split(/:?\n/);
    throw new Error(`The document is neither JSON nor YAML: ${reason}.`, { cause: error });
  }
}
