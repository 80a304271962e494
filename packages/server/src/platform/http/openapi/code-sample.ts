import { consoleTokenHeader, csrfHeader } from '@quartermaster/contract';
import { type Example, type ExampleVariable, exampleVariables } from '@quartermaster/contract/operations';
import type { Placed } from './document.ts';

/**
 * Writes the example as shell commands. Leading comments explain the origin of each variable.
 * @param address the variable that contains the URL of the service
 */
export function writeCodeSample(placed: Placed, example: Example, address: 'FILES' | 'PLUGINS'): string {
  const url = `$${address}${fillPath(placed.path, example)}${queryOf(example)}`;
  const options = [
    ...(placed.method === methodOf(example) ? [] : [`-X ${placed.method}`]),
    ...authorization(placed),
    ...Object.entries(example.headers ?? {}).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(example.keepsCookies === true ? ['-c cookies.txt'] : []),
    ...(example.body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(example.body))}`]),
    ...formOf(example),
    ...(example.content === undefined ? [] : ['--data-binary @-']),
  ];
  const piped = example.form?.file ?? example.content;
  const input = piped === undefined ? '' : `printf '${piped.replaceAll('\n', '\\n')}' | `;
  const command = `${input}${['curl', quote(url)].join(' ')}${options.map((option) => ` \\\n  ${option}`).join('')}`;
  return [...meaningsOf(command), command].join('\n');
}

/** Returns the value for the document: JSON in which realistic values replace the variables. */
export function showValue(value: unknown): unknown {
  if (typeof value === 'string')
    return isVariable(value.slice(1)) ? exampleVariables[value.slice(1) as ExampleVariable].value : value;
  if (Array.isArray(value)) return value.map(showValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, showValue(member)]));
}

/** Returns the variable for a path parameter that the example does not provide. */
export function pathValue(name: string, example: Example): string {
  return example.path?.[name] ?? `$${name.toUpperCase()}`;
}

const variable = /\$([A-Z][A-Z_]+)/g;

function isVariable(name: string): name is ExampleVariable {
  return Object.hasOwn(exampleVariables, name);
}

/** Returns the method that curl uses by default. */
function methodOf({ body, form, content }: Example): string {
  return [body, form, content].every((sent) => sent === undefined) ? 'GET' : 'POST';
}

function fillPath(path: string, example: Example): string {
  return path.replace(/\{([^{}]+)\}/g, (_, name: string) => pathValue(name, example));
}

function queryOf({ query }: Example): string {
  // The shell replaces variables, so their `$` is not encoded.
  return query === undefined ? '' : `?${new URLSearchParams(query)}`.replaceAll('%24', '$');
}

function authorization({ security, method }: Placed): string[] {
  if (security.some((needed) => 'apiKey' in needed)) return ['-H "Authorization: Bearer $QM_API_KEY"'];
  if (!security.some((needed) => 'session' in needed)) return [];
  const isUnsafe = method !== 'GET';
  return [
    '-b cookies.txt',
    `-H "${consoleTokenHeader}: $CONSOLE_TOKEN"`,
    ...(isUnsafe ? [`-H '${csrfHeader}: 1'`] : []),
  ];
}

function formOf({ form }: Example): string[] {
  return form === undefined ? [] : [`-F purpose=${form.purpose}`, `-F 'file=@-;filename=${form.fileName}'`];
}

/** Uses double quotes for plain text and variables, otherwise single quotes that end around each variable. */
function quote(text: string): string {
  if (!/["\\`!]/.test(text)) return text.includes('$') ? `"${text}"` : `'${text}'`;
  const parts = text
    .replaceAll("'", "'\\''")
    .replace(variable, (whole, name) => (isVariable(name) ? `'"${whole}"'` : whole));
  return `'${parts}'`;
}

/** Returns one comment for each variable that only this request needs. */
function meaningsOf(command: string): string[] {
  const names = new Set([...command.matchAll(variable)].map(([, name = '']) => name).filter(isVariable));
  for (const known of ['FILES', 'PLUGINS', 'QM_API_KEY'] as const) names.delete(known);
  return [...names].map((name) => `# ${name}: ${exampleVariables[name].meaning}`);
}
