import { resolve } from '../components/schema/json-schema.ts';
import type { ApiDocument, Operation, Placed } from './document.ts';
import { element, sentence } from './element.ts';
import { schemaList } from './schema-list.ts';
import { word } from './words.ts';

/** One operation: summary, parameters, responses and an example call. */
export function operationView(placed: Placed, api: ApiDocument): HTMLElement {
  const { id, method, path, operation } = placed;
  const isOpen = (operation.security ?? api.security)?.some((one) => Object.keys(one).length === 0);
  const needsNone = operation.security?.length === 0 || isOpen === true;
  const body = bodyOf(operation);
  const answer = Object.values(operation.responses?.['200']?.content ?? {})[0]?.schema;
  return element(
    'article',
    { id, tabindex: '-1' },
    element(
      'h3',
      {},
      element('span', { class: 'method', 'data-method': method }, method),
      element('code', {}, path),
      needsNone ? element('span', { class: 'badge' }, word.noKey) : null,
    ),
    element('p', {}, sentence(operation.summary ?? '')),
    parametersOf(operation, api),
    section(word.body, body === undefined ? null : schemaList(body, api)),
    section(word.answer, answer === undefined ? null : schemaList(answer, api)),
    example(placed, needsNone, api),
  );
}

function section(title: string, content: HTMLElement | null): HTMLElement | null {
  return content === null ? null : element('section', {}, element('h4', {}, title), content);
}

function bodyOf(operation: Operation) {
  return Object.values(operation.requestBody?.content ?? {})[0]?.schema;
}

function parametersOf(operation: Operation, api: ApiDocument): HTMLElement | null {
  const parameters = operation.parameters ?? [];
  if (parameters.length === 0) return null;
  const properties = Object.fromEntries(
    parameters.map((one) => {
      const schema = resolve(one.schema ?? {}, api);
      const description = [`(${one.in})`, one.description ?? schema.description ?? ''].join(' ').trim();
      return [one.name, { ...schema, description }];
    }),
  );
  const required = parameters.filter((one) => one.required === true).map((one) => one.name);
  return section(word.parameters, schemaList({ type: 'object', properties, required }, api));
}

function example({ method, path, operation }: Placed, needsNone: boolean, api: ApiDocument): HTMLElement {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${location.origin}${path}'`];
  if (!needsNone) lines.push('  -H "Authorization: Bearer $QUARTERMASTER_KEY"');
  const [mediaType] = Object.keys(operation.requestBody?.content ?? {});
  const body = bodyOf(operation);
  if (mediaType === 'multipart/form-data') lines.push('  -F purpose=record_file', '  -F file=@document.pdf');
  else if (body !== undefined) {
    lines.push("  -H 'Content-Type: application/json'", `  -d '${JSON.stringify(sampleOf(body, api))}'`);
  }
  const text = lines.join(' \\\n');
  const button = element('button', { type: 'button', class: 'copy' }, word.copy);
  button.addEventListener('click', () => {
    void navigator.clipboard?.writeText(text).then(() => {
      button.textContent = word.copied;
      setTimeout(() => {
        button.textContent = word.copy;
      }, 1500);
    });
  });
  const code = element(
    'pre',
    { tabindex: '0', 'aria-label': `${word.example}: ${method} ${path}`, role: 'region' },
    text,
  );
  return element('section', {}, element('h4', {}, word.example), code, button);
}

/** An example with the required members and values of the right type. */
function sampleOf(schema: Parameters<typeof resolve>[0], api: ApiDocument, depth = 0): unknown {
  const whole = resolve(schema, api);
  if (whole.default !== undefined) return whole.default;
  if (whole.enum !== undefined) return whole.enum[0];
  if (whole.properties !== undefined || [whole.type].flat().includes('object')) {
    if (depth > 3) return {};
    const names = whole.required ?? Object.keys(whole.properties ?? {}).slice(0, 2);
    return Object.fromEntries(names.map((name) => [name, sampleOf(whole.properties?.[name] ?? {}, api, depth + 1)]));
  }
  const kind = [whole.type].flat()[0];
  if (kind === 'array') return typeof whole.items === 'object' ? [sampleOf(whole.items, api, depth + 1)] : [];
  if (kind === 'integer' || kind === 'number') return whole.minimum ?? 1;
  return kind === 'boolean' ? true : '…';
}
