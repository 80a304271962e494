import { copyText } from '../components/copy-text.ts';
import { resolve } from '../components/schema/json-schema.ts';
import type { ApiDocument, Operation, Placed } from './document.ts';
import { element, paragraphs, sentence } from './element.ts';
import { schemaList } from './schema-list.ts';
import { language, word } from './words.ts';

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
      needsNone ? element('span', { class: 'badge', lang: language }, word.noKey) : null,
    ),
    element('p', {}, sentence(operation.summary ?? '')),
    ...paragraphs(operation.description),
    parametersOf(operation, api),
    section(word.body, body === undefined ? null : schemaList(body, api)),
    section(word.answer, answer === undefined ? null : schemaList(answer, api)),
    errorsOf(operation, api),
    examples(placed),
  );
}

function section(title: string, content: HTMLElement | null): HTMLElement | null {
  return content === null ? null : element('section', {}, element('h4', { lang: language }, title), content);
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

/** The error responses, with their status and codes. */
function errorsOf({ responses = {} }: Operation, api: ApiDocument): HTMLElement | null {
  const refusals = Object.entries(responses).filter(([status]) => !status.startsWith('2'));
  if (refusals.length === 0) return null;
  const rows = refusals.map(([status, response]) =>
    element(
      'div',
      { class: 'member' },
      element('dt', {}, element('code', { class: 'name' }, status)),
      element('dd', {}, sentence(resolve(response, api).description ?? '')),
    ),
  );
  return section(word.errors, element('dl', {}, ...rows));
}

/** The example requests of the document, unchanged: a test runs them. */
function examples({ method, path, operation }: Placed): HTMLElement {
  const samples = operation['x-codeSamples'] ?? [];
  return element(
    'section',
    {},
    element('h4', { lang: language }, word.example),
    ...samples.map(({ label, source }) => {
      const name = `${word.example}: ${method} ${path}: ${label}`;
      const code = element('pre', { tabindex: '0', 'aria-label': name, role: 'region' }, source);
      return element(
        'div',
        { class: 'sample' },
        element('p', {}, sentence(label)),
        code,
        copyButton(source, `${method} ${path}: ${label}`),
      );
    }),
  );
}

/** @param what names the text, so that the buttons of a page differ */
function copyButton(text: string, what: string): HTMLElement {
  const name = `${word.copy}: ${what}`;
  const button = element('button', { type: 'button', class: 'copy', lang: language, 'aria-label': name }, word.copy);
  button.addEventListener('click', () => {
    void copyText(text).then(() => {
      button.textContent = word.copied;
      announce(`${word.copied}: ${what}`);
      setTimeout(() => {
        button.textContent = word.copy;
      }, 1500);
    });
  });
  return button;
}

/** Tells screen readers, because the name of a button is read only when it gets the focus. */
function announce(text: string): void {
  const status = document.getElementById('copied');
  if (status !== null) status.textContent = text;
}
