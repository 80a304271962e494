import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isJsonObject } from '../../packages/server/src/platform/json/json-object.ts';
import type { CompiledPlugin } from '../../packages/server/src/tools/catalogue/catalogue.ts';
import { completeOutput } from '../../packages/server/src/tools/catalogue/schema/complete-output.ts';
import {
  compileAnswerRules,
  interpretAnswer,
} from '../../packages/server/src/tools/execution/declarative/interpret-answer.ts';
import { answersOf, openWorld } from './bundle-fixture.ts';

/**
 * Changes the realistic answers of our bundles one member after another, as an API does that drifts: no member, null, an empty text,
 * another type. No change may end a run with an error of ours.
 */
const world = await openWorld();
after(() => world.close());
const never = new AbortController().signal;
const plugins = [...world.catalogue.bundles.values()].flatMap(({ plugins }) => [...plugins.values()]);

/** What comes in place of a member; `undefined` leaves it out. */
const drifts: readonly unknown[] = [undefined, null, '', 'text', 0, true, [], {}, [null], [0], ['']];

/** Yields copies of a value, each with one changed member. Of a list, only the first item changes. */
function* driftsOf(value: unknown, changes = drifts): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const name of Array.isArray(value) ? Object.keys(value).slice(0, 1) : Object.keys(value)) {
    for (const change of changes) yield withMember(value, name, change);
    for (const inner of driftsOf(Reflect.get(value, name), changes)) yield withMember(value, name, inner);
  }
}

function withMember(value: object, name: string, member: unknown): unknown {
  if (Array.isArray(value)) return member === undefined ? value.slice(1) : [member, ...value.slice(1)];
  const { [name]: _, ...others } = value as Record<string, unknown>;
  return member === undefined ? others : { ...others, [name]: member };
}

const ofJson = plugins.filter(({ manifest }) => manifest.request !== undefined);
for (const plugin of ofJson) {
  const { bundle, id, manifest } = plugin;
  test(`no changed answer makes ${bundle.id}/${id} fail, and every list is one`, () => {
    for (const { upstream, input } of manifest.examples ?? []) {
      for (const { contentType, body } of upstream === undefined ? [] : answersOf(bundle.id, upstream)) {
        if (contentType.includes('json')) for (const drifted of changesOf(body)) assertMapped(plugin, input, drifted);
      }
    }
  });
}

function changesOf(body: string | Buffer): unknown[] {
  const answer: unknown = JSON.parse(String(body));
  return [...driftsOf(answer), null, '', 0, [], {}];
}

function assertMapped({ manifest }: CompiledPlugin, input: Record<string, unknown>, answer: unknown): void {
  const response = { status: 200, headers: { 'content-type': 'application/json' } };
  const outcome = interpretAnswer(
    compileAnswerRules(manifest.response ?? {}),
    { ...response, body: Buffer.from(JSON.stringify(answer)) },
    { input, maxOutputBytes: 1024 * 1024 },
  );
  const shown = `${JSON.stringify(answer).slice(0, 500)} gives ${JSON.stringify(outcome).slice(0, 500)}`;
  assert.notEqual(outcome.kind, 'failed', shown);
  if (outcome.kind !== 'returned' || !isJsonObject(outcome.output)) return;
  const output = Object(completeOutput(outcome.output, manifest.output_schema));
  for (const [name, schema] of Object.entries(Object(Object(manifest.output_schema).properties))) {
    if (Reflect.get(Object(schema), 'type') === 'array')
      assert.notEqual(output[name] ?? null, null, `${name}: ${shown}`);
  }
}

/** Handlers run in a process, so that fewer changes are tried. */
const ofHandlers = plugins.filter(({ bundle, manifest }) => manifest.handler !== undefined && bundle.hosts.length > 0);
for (const { bundle, id, manifest } of ofHandlers) {
  test(`no changed answer makes the handler of ${bundle.id}/${id} fail`, async () => {
    for (const { input, upstream } of manifest.examples ?? []) {
      const answers = upstream === undefined ? [] : answersOf(bundle.id, upstream);
      for (const [place, answer] of answers.entries()) {
        if (!answer.contentType.includes('json')) continue;
        for (const drifted of driftsOf(JSON.parse(String(answer.body)), [undefined, null, '', 0])) {
          world.willAnswer(...answers.with(place, { ...answer, body: JSON.stringify(drifted) }));
          const call = { bundle_id: bundle.id, plugin_id: id, input_params: input, credentials: credentialsOf(bundle) };
          const { outcome } = await world.executor.execute(call, never);
          const shown = `${JSON.stringify(drifted).slice(0, 500)} gives ${JSON.stringify(outcome).slice(0, 500)}`;
          assert.ok(outcome.kind !== 'failed' && outcome.kind !== 'crashed', shown);
        }
      }
    }
  });
}

function credentialsOf({ credentialNames }: CompiledPlugin['bundle']): Record<string, string> {
  return Object.fromEntries([...credentialNames].map((name) => [name, 'a-credential']));
}
