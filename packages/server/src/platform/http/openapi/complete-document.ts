import { type OperationText, textKeyword } from '@quartermaster/contract/operations';
import { pathValue, showValue, writeCodeSample } from './code-sample.ts';
import { type CodeSample, listOperations, type OpenApiDocument, type Placed } from './document.ts';
import { errorComponents, errorReferences } from './error-responses.ts';
import { nameSchemas } from './named-schemas.ts';

/**
 * Adds scopes, examples, errors and named schemas to the document that the schemas of the routes produce. Changes the
 * document in place.
 * @param address the variable that contains the URL of the service in examples
 */
export function completeDocument(document: OpenApiDocument, address: 'FILES' | 'PLUGINS'): OpenApiDocument {
  for (const placed of listOperations(document)) {
    const { operation } = placed;
    const text = operation[textKeyword];
    if (text !== undefined) {
      delete operation[textKeyword];
      addScope(placed, text);
      addExamples(placed, text, address);
    }
    for (const response of Object.values(operation.responses)) {
      if (response.description === 'Default Response') response.description = 'Success.';
    }
    operation.responses = { ...operation.responses, ...errorReferences(placed) };
  }
  document.components.responses = errorComponents();
  nameSchemas(document);
  return document;
}

/** OpenAPI 3.1 allows a requirement to list the scopes of a bearer token. The description repeats them for readers. */
function addScope({ operation, security }: Placed, { scope, description }: OperationText): void {
  const isOpen = security.length === 0 || security.some((needed) => Object.keys(needed).length === 0);
  const session = security.some((needed) => 'session' in needed) ? 'the session of the administrator' : undefined;
  const key = scope === undefined ? undefined : `a key with the scope \`${scope}\``;
  const needed = [key, session].filter((one) => one !== undefined).join(', or ');
  const sentence = isOpen ? key && `A key that is sent needs the scope \`${scope}\`.` : `Needs ${needed}.`;
  const text = [description, sentence].filter(Boolean).join('\n\n');
  if (text !== '') operation.description = text;
  if (scope === undefined) return;
  operation.security = security.map((one) => ('apiKey' in one ? { ...one, apiKey: [scope] } : one));
}

function addExamples(placed: Placed, { summary, examples }: OperationText, address: 'FILES' | 'PLUGINS'): void {
  const { operation } = placed;
  operation['x-codeSamples'] = Object.values(examples).map((example): CodeSample => {
    return { lang: 'Shell', label: example.summary ?? summary, source: writeCodeSample(placed, example, address) };
  });
  const content = operation.requestBody?.content['application/json'];
  const bodies = Object.entries(examples).filter(([, { body }]) => body !== undefined);
  if (content !== undefined && bodies.length > 0) {
    const shown = bodies.map(([name, one]) => [name, { summary: one.summary ?? summary, value: showValue(one.body) }]);
    content.examples = Object.fromEntries(shown);
  }
  const [first = {}] = Object.values(examples);
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === 'path') parameter.example = showValue(pathValue(parameter.name, first));
  }
}
