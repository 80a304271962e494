import type { Schema } from '../hostile/operations.ts';
import type { Random } from '../support/random.ts';
import { type Amplifier, asciiRuns, coreAmplifiers, jsonAmplifiers } from './amplifiers.ts';
import { type Place, placesOf, withValue } from './body-places.ts';
import { type HoldCase, payloadBytes } from './hold-case.ts';
import type { HoldService } from './hold-service.ts';
import type { HoldUpstream } from './hold-upstream.ts';

interface Options {
  readonly slice: boolean;
  readonly random: Random;
  readonly upstream: HoldUpstream;
}
interface Plugin {
  readonly bundle_id: string;
  readonly plugin_id: string;
  readonly input_schema: Schema;
}

const honest = { type: 'application/json', body: '{}' };

/** Returns cases for the inputs of every shipped plugin, for credentials, and for the responses of third parties. */
export async function pluginCases(target: HoldService, options: Options): Promise<HoldCase[]> {
  const { slice, random } = options;
  const { text } = await target.sender.ask({ address: 'plugins', method: 'GET', path: '/v1/plugins' });
  const { data } = JSON.parse(text) as { data: Plugin[] };
  const inputs = data.flatMap((plugin) => {
    const places = placesOf(plugin.input_schema);
    const chosen = slice && plugin.bundle_id !== 'hold' ? random.shuffle(places).slice(0, 1) : places;
    return chosen.flatMap((place) => inputCases(plugin, place, options));
  });
  return [...inputs, ...credentialCases(options), ...answerCases(options)];
}

function inputCases(plugin: Plugin, place: Place, { slice, random, upstream }: Options): HoldCase[] {
  const texts = [...coreAmplifiers, ...asciiRuns];
  const count = slice ? 1 : 8;
  const values =
    place.kind === 'text'
      ? random
          .shuffle(texts)
          .slice(0, count)
          .flatMap((each) =>
            [Math.min(place.schema.maxLength ?? 100_000, 300_000), 900_000]
              .slice(0, slice ? 1 : 2)
              .map((size) => [`${each.name} of ${size}`, () => JSON.stringify(each.text(size / 2))] as const),
          )
      : random
          .shuffle(jsonAmplifiers)
          .slice(0, count)
          .map((each) => [each.name, () => each.text(payloadBytes - 4_096)] as const);
  return values.map(([name, value]) => ({
    target: `plugin ${plugin.bundle_id}/${plugin.plugin_id}`,
    payload: `${place.name}: ${name}`,
    mostAnswer: 30_000,
    send: ({ sender }) => {
      upstream.answer(honest.type, honest.body);
      const around = place.around[0]?.value;
      const input = withValue(around ?? {}, place, value());
      const { bundle_id, plugin_id } = plugin;
      const credentials = '{"KEY":"abcd1234"}';
      return sender.send({
        ...{ address: 'plugins', method: 'POST', path: '/v1/execute' },
        body: `{"bundle_id":"${bundle_id}","plugin_id":"${plugin_id}","input_params":${input},"credentials":${credentials}}`,
      });
    },
  }));
}

const calculator = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '1+1' } };
const read = { bundle_id: 'hold', plugin_id: 'read', input_params: { q: 'a' } };
/** Characters that encodings expand, and letters. */
const manyForms = '"<&\'/+ é一';

/**
 * Returns cases for credentials: many members, long values, and values with many encodings, which redaction searches
 * for.
 */
function credentialCases({ slice, random, upstream }: Options): HoldCase[] {
  const texts = [...coreAmplifiers, ...asciiRuns];
  const some = slice ? random.shuffle(texts).slice(0, 8) : texts;
  const members = (count: number, value: (index: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value(index)]));
  const many = [32, 1_000, 3_000, 20_000].map(
    (count) => [`${count} members`, () => members(count, (index) => `${manyForms}${index}`)] as const,
  );
  const long = some.flatMap((each) =>
    [8_100, 200_000].map((size) => [`one of ${size}: ${each.name}`, () => ({ KEY: each.text(size) })] as const),
  );
  const quotes = [8_100, 200_000, 900_000].map(
    (size) => [`quotation marks, ${size}`, () => ({ KEY: '"'.repeat(size / 2) })] as const,
  );
  const fields = [...many, ...quotes, ...long].flatMap(([name, credentials]) =>
    [read, calculator].map(
      (request): HoldCase => ({
        target: 'credentials',
        payload: `${request.bundle_id}: ${name}`,
        send: ({ sender }) => {
          upstream.answer(honest.type, honest.body);
          const body = JSON.stringify({ ...request, credentials: credentials() });
          return sender.send({ address: 'plugins', method: 'POST', path: '/v1/execute', body });
        },
      }),
    ),
  );
  return fields;
}

const mebibyte = 1024 * 1024;
/** Sizes of the largest response that the event loop reads, that a run may return, and that is accepted. */
const answerSizes = [60_000, mebibyte - 100, 10 * mebibyte - 100];

/** Returns cases for the responses of a third party. The caller does not write them but may choose the third party. */
function answerCases({ slice, random, upstream }: Options): HoldCase[] {
  const json = slice ? random.shuffle(jsonAmplifiers).slice(0, 3) : jsonAmplifiers;
  const texts = slice
    ? random.shuffle([...coreAmplifiers, ...asciiRuns]).slice(0, 4)
    : [...coreAmplifiers, ...asciiRuns];
  /** The short run uses one size for each text, in rotation. */
  const sizesOf = (index: number) => (slice ? answerSizes.slice(index % 3, (index % 3) + 1) : answerSizes);
  const bodies = (list: readonly Amplifier[], plugin: string, type: string) =>
    list.flatMap((each, index) => sizesOf(index).map((size) => answerCase(upstream, { plugin, type, size, each })));
  return [
    ...['read', 'write', 'sort'].flatMap((plugin) => bodies(json, plugin, 'application/json')),
    ...bodies(texts, 'text', 'text/plain; charset=utf-8'),
    ...bodies(texts.slice(0, 4), 'bytes', 'application/octet-stream'),
    ...bodies([...xmlAnswers, ...texts.slice(0, 4)], 'xml', 'application/xml'),
    ...bodies([nearlySecret, nearlySecretJson], 'read', 'application/json'),
    ...bodies([nearlySecret], 'text', 'text/plain'),
  ];
}

/** A text that repeats the beginning of the credential many times. */
const nearlySecret: Amplifier = {
  name: 'pieces of the credential',
  text: (bytes) => 'secret-canar'.repeat(bytes / 12),
};
const nearlySecretJson: Amplifier = {
  name: 'texts with the credential',
  text: (bytes) =>
    `[${Array(Math.floor(bytes / 20))
      .fill('"secret-canary-1234"')
      .join(',')}]`.slice(0, bytes),
};
const xmlAnswers: readonly Amplifier[] = [
  { name: 'many elements', text: (bytes) => `<r>${'<a/>'.repeat(bytes / 4 - 2)}</r>` },
  { name: 'deep elements', text: (bytes) => `${'<a>'.repeat(bytes / 7)}${'</a>'.repeat(bytes / 7)}` },
  {
    name: 'many attributes',
    text: (bytes) => `<r ${Array.from({ length: bytes / 12 }, (_, index) => `a${index}=""`).join(' ')}/>`,
  },
  { name: 'many texts', text: (bytes) => `<r>${'a<b/>'.repeat(bytes / 5 - 2)}</r>` },
];

interface Answered {
  readonly plugin: string;
  readonly type: string;
  readonly size: number;
  readonly each: Amplifier;
}

function answerCase(upstream: HoldUpstream, { plugin, type, size, each }: Answered): HoldCase {
  return {
    target: `answers of third parties, ${(size / mebibyte).toFixed(1)} MiB`,
    payload: `${plugin}: ${each.name}`,
    mostAnswer: 30_000,
    send: async ({ sender }) => {
      upstream.answer(type, each.text(size));
      const request = {
        bundle_id: 'hold',
        plugin_id: plugin,
        input_params: {},
        credentials: { KEY: 'secret-canary-1234' },
      };
      return await sender.send({
        ...{ address: 'plugins', method: 'POST', path: '/v1/execute' },
        body: JSON.stringify(request),
      });
    },
  };
}
