import { type ApiOperation, readOperations, type Schema } from '../hostile/operations.ts';
import type { Random } from '../support/random.ts';
import { type Amplifier, asciiRuns, brokenJson, coreAmplifiers, differentRuns, jsonAmplifiers } from './amplifiers.ts';
import { exampleOf, type Place, pathOf, placesOf, withValue } from './body-places.ts';
import { type Choose, createChooser } from './choose.ts';
import { settled } from './document-cases.ts';
import { type HoldCase, payloadBytes } from './hold-case.ts';
import type { HoldService } from './hold-service.ts';

/** Bytes of a parameter. The header block of a request is limited to 16 KiB. */
const parameterBytes = 12 * 1024;
/** The length for a text without a bound: that of the largest payload. */
const unbounded = payloadBytes;

/** Operations that would end the measurement because they revoke its key. */
const leftOut = new Set(['revokeKey', 'rotateKey']);

export interface OperationCases {
  readonly operations: number;
  readonly cases: HoldCase[];
}

/**
 * Returns cases for every place of every operation: texts, lists, objects, names of members, parameters, and the body
 * as bytes.
 */
export async function operationCases(
  target: HoldService,
  { slice, random }: { slice: boolean; random: Random },
): Promise<OperationCases> {
  const operations = (await readOperations(target.service)).filter(({ id }) => !leftOut.has(id));
  const some = createChooser({ slice, random });
  const cases = operations.flatMap((operation) => [
    ...operation.parameters.flatMap((parameter) =>
      some(texts, 2).map((amplifier) => parameterCase(operation, parameter, amplifier)),
    ),
    ...Object.entries(operation.bodies).flatMap(([type, schema]) =>
      type === 'application/json' ? bodyCases(operation, schema, some) : [],
    ),
  ]);
  return { operations: operations.length, cases };
}

const texts = [...coreAmplifiers, ...asciiRuns];
/** Characters of a text that is tokenized and whose terms are all looked up. */
const longText = 10_000;
const jsonTexts = [...jsonAmplifiers, ...brokenJson];

function bodyCases(operation: ApiOperation, schema: Schema, some: Choose): HoldCase[] {
  const whole = some(jsonTexts, 3).map((amplifier) =>
    jsonCase(operation, `body: ${amplifier.name}`, () => amplifier.text(payloadBytes)),
  );
  const places = placesOf(schema).flatMap((place) => placeCases(operation, schema, place, some));
  return [...whole, ...places];
}

function placeCases(operation: ApiOperation, schema: Schema, place: Place, some: Choose): HoldCase[] {
  const send = (name: string, value: () => string) =>
    jsonCase(operation, `${place.name}: ${name}`, (ids) =>
      withValue(exampleOf(operation, schema, ids), place, value()),
    );
  if (place.kind === 'text') {
    const bound = place.schema.maxLength;
    return [
      ...(bound === undefined
        ? []
        : [...some(texts, 4), ...(bound < longText ? [] : differentRuns)].map((amplifier) =>
            send(`${amplifier.name}, at the bound`, () => JSON.stringify(cut(amplifier, bound))),
          )),
      ...some(texts, bound === undefined ? 4 : 1).map((amplifier) =>
        send(amplifier.name, () => fill(amplifier, unbounded)),
      ),
      ...some(jsonAmplifiers, 1).map((amplifier) => send(amplifier.name, () => amplifier.text(payloadBytes - 4_096))),
    ];
  }
  const values = some(jsonAmplifiers, 3).map((amplifier) =>
    send(amplifier.name, () => amplifier.text(payloadBytes - 4_096)),
  );
  const names = some(texts, 1).map((amplifier) =>
    send(`name of ${amplifier.name}`, () => `{${fill(amplifier, unbounded)}:1}`),
  );
  return [...values, ...names];
}

/** Cuts the text to the number of characters that the bound allows. */
function cut(amplifier: Amplifier, bound: number): string {
  return [...amplifier.text(Math.min(bound * 4, payloadBytes))].slice(0, bound).join('');
}

/** Returns JSON of at most the given number of bytes. Escapes take additional space. */
function fill(amplifier: Amplifier, bytes: number): string {
  const text = JSON.stringify(amplifier.text(bytes - 4_096));
  if (Buffer.byteLength(text) <= bytes - 4_096) return text;
  const share = (bytes - 4_096) / Buffer.byteLength(text);
  return JSON.stringify(amplifier.text(Math.floor((bytes - 4_096) * share)));
}

function jsonCase(operation: ApiOperation, payload: string, body: (ids: HoldService['ids']) => string): HoldCase {
  const { address, method } = operation;
  return {
    target: nameOf(operation),
    payload,
    send: async ({ sender, ids }) => {
      const request = { address, method, path: pathOf(operation, ids), body: body(ids) };
      if (operation.id !== 'createRecord') return await sender.send(request);
      // The service continues to work on a record after the response.
      const answer = await sender.ask(request);
      const recordId = /"record_id":"(\w+)"/.exec(answer.text)?.[1];
      return recordId === undefined ? String(answer.status) : await settled(sender, `${request.path}/${recordId}`);
    },
  };
}

function parameterCase(
  operation: ApiOperation,
  { name, in: place }: ApiOperation['parameters'][number],
  amplifier: Amplifier,
): HoldCase {
  const text = amplifier.text(parameterBytes).toWellFormed();
  // A percent escape takes three bytes for each byte.
  const encoded = encodeURIComponent(text.slice(0, 4_000).toWellFormed()).slice(0, parameterBytes).replace(/%.?$/, '');
  return {
    target: nameOf(operation),
    payload: `${place} ${name}: ${amplifier.name}`,
    send: ({ sender, ids }) => {
      const path = pathOf(operation, place === 'path' ? { ...ids, [name]: decodeURIComponentSafely(encoded) } : ids);
      return sender.send({
        address: operation.address,
        method: operation.method,
        path: place === 'query' ? `${path}?${encodeURIComponent(name)}=${encoded}` : path,
        ...(place === 'header' ? { headers: { [name]: headerText(text) } } : {}),
        ...(operation.method === 'POST' ? { body: '{}' } : {}),
      });
    },
  };
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return 'x'.repeat(200);
  }
}

/** Replaces control characters, which Node refuses to send. */
export function headerText(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, parameterBytes);
}

export function nameOf({ address, method, path }: ApiOperation): string {
  return `${address} ${method} ${path}`;
}
