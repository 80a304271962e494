import assert from 'node:assert/strict';
import { applicationWays } from './canary-applications.ts';
import type { CanaryService } from './canary-service.ts';
import { upstreamModes } from './echoing-upstream.ts';
import { type Scheme, schemes, secretsOf } from './scheme-bundles.ts';

/** A case in which a run fails, or an upstream returns too much. */
export interface Way {
  readonly name: string;
  readonly go: (canary: CanaryService) => Promise<unknown>;
}

/**
 * A non-secret text in all inputs, and so in everything that may contain inputs. The search finds it, which proves that
 * it would also find a secret there.
 */
export const marker = 'Marker-5d1f0c77-that-is-no-secret';
const hurried = schemes.filter(({ id }) => id === 'hurried');
const usual = schemes.filter(({ id }) => id !== 'hurried');
const [bearer = usual[0] as Scheme] = usual.filter(({ id }) => id === 'bearer'); // the table is not empty

/** The schemes with a handler process. The output of a handler does not depend on how its credential is sent. */
const handled = usual.filter(({ id }) => ['bearer', 'query', 'refreshed'].includes(id));

const all = (of: readonly Scheme[], go: (scheme: Scheme) => Promise<unknown>) => Promise.all(of.map(go));

/** Modes in which the upstream or the handler does not answer in time. */
const endless = ['no-answer', 'no-end'];
const upstreamWays: Way[] = upstreamModes.map((mode) => ({
  name: `upstream ${mode}, in every scheme, to a declarative plugin and to a handler`,
  go: async (canary) => {
    const [asking, acting] = endless.includes(mode) ? [hurried, hurried] : [usual, handled];
    await all(asking, (scheme) => canary.execute(scheme, 'ask', { mode, q: marker }));
    await all(acting, (scheme) => canary.execute(scheme, 'act', { mode: `from-${mode}`, q: marker }));
  },
}));

const handlerModes = ['throws', 'throws-text', 'throws-turned', 'rejects', 'logs', 'progresses', 'deep', 'large'];
const furtherModes = ['shapeless', 'elsewhere', 'named', 'header', 'header-name', 'often', 'names', 'echo'];
const handlerWays: Way[] = [...handlerModes, ...furtherModes].map((mode) => ({
  name: `handler ${mode}`,
  go: (canary) =>
    all(mode === 'throws' ? usual : handled, (scheme) => canary.execute(scheme, 'act', { mode, q: marker })),
}));

/** Crash modes. A successful run follows each of them, because consecutive crashes would pause the bundle. */
const crashModes = ['prints', 'exits', 'aborts', 'throws-late'];
const crashWays: Way[] = [...crashModes, 'spins', 'waits', 'fills'].map((mode) => ({
  name: `handler ${mode}`,
  go: (canary) =>
    all(crashModes.includes(mode) ? [bearer, ...hurried] : hurried, async (scheme) => {
      await canary.execute(scheme, 'act', { mode, q: marker });
      await canary.execute(scheme, 'act', { mode: 'echo', q: marker });
    }),
}));

/** Cases in which the caller puts the credential into the input by mistake. */
const callerWays: Way[] = ['echo', 'in-error', 'error-500', 'bad-json', 'redirect-named'].map((mode) => ({
  name: `the credential in the input too, upstream ${mode}`,
  go: (canary) => all(usual, (scheme) => canary.execute(scheme, 'ask', { mode, q: secretsOf(scheme)[0] ?? '' })),
}));
const callerHandlerWays: Way[] = [...handlerModes, ...furtherModes, 'prints', 'throws-late']
  .filter((mode) => mode !== 'throws-turned')
  .map((mode) => ({
    name: `the credential in the input too, handler ${mode}`,
    go: async (canary) => {
      const q = secretsOf(bearer)[0] ?? '';
      await canary.execute(bearer, 'act', { mode, q });
      await canary.execute(bearer, 'act', { mode: 'echo', q });
    },
  }));

const refusedWays: Way[] = [
  ['as an unknown input', { input_params: { [secretsOf(bearer)[0] ?? '']: 1, mode: 'echo' } }],
  ['as an input of the wrong type', { input_params: { mode: [secretsOf(bearer)[0]] } }],
  ['too long for its schema', { credentials: { KEY: (secretsOf(bearer)[0] ?? '').repeat(20) } }],
  ['of the wrong type', { credentials: { KEY: [secretsOf(bearer)[0]] } }],
  ['under another name', { credentials: { OTHER: secretsOf(bearer)[0] } }],
  ['as a name', { credentials: { [secretsOf(bearer)[0] ?? '']: 'a' } }],
  ['with a line break', { credentials: { KEY: `${secretsOf(bearer)[0]}\n` } }],
  ['for an unknown bundle', { bundle_id: 'nothing' }],
  ['for an unknown plugin', { plugin_id: 'nothing' }],
].map(([name, change]) => ({
  name: `a call is refused: the credential ${name}`,
  go: async (canary) => {
    const usualCall = { bundle_id: 'bearer', plugin_id: 'ask', input_params: {}, credentials: bearer.credentials };
    const { status, text } = await canary.call('POST', '/v1/execute', { ...usualCall, ...Object(change) });
    assert.ok(status >= 400 && status < 500, text);
  },
}));

const broken = `{"bundle_id":"bearer","credentials":${JSON.stringify(bearer.credentials)},,}`;
const spilledWays: Way[] = [
  {
    name: 'the body is not JSON',
    go: (canary) => canary.call('POST', '/v1/execute', broken),
  },
  {
    name: 'the credential stands in the address and in headers of the call',
    go: async (canary) => {
      const secret = encodeURIComponent(secretsOf(bearer)[0] ?? '');
      await canary.call('GET', `/v1/bundles?lang=${secret}`);
      await canary.call('GET', `/v1/plugins?bundle_id=bearer&key=${secret}`, undefined, { cookie: `a=${secret}` });
      await canary.call('POST', '/v1/execute', {}, { 'x-credential-key': secret, 'user-agent': secret });
    },
  },
];

const verifyWays: Way[] = [
  'echo',
  'error-401',
  'error-403',
  'error-500',
  'as-utf16le',
  'reset',
  'redirect-refused',
].map((mode) => ({
  name: `credentials are verified, upstream ${mode}`,
  go: async (canary) => {
    canary.upstream.answers.verify = mode;
    await all(usual, ({ id, credentials }) =>
      canary.call('POST', '/v1/verify_credentials', { bundle_id: id, credentials }),
    );
  },
}));

const tokenModes = ['granted', 'invalid-client', 'error-500', 'error-401', 'bad-json', 'as-text', 'in-error', 'reset'];
const tokenWays: Way[] = [...tokenModes, 'as-utf16le', 'not-http', 'redirect-refused', 'too-large'].map((mode) => ({
  name: `an access token is asked for, token endpoint ${mode}`,
  go: async (canary) => {
    Object.assign(canary.upstream.answers, { verify: 'error-401', token: mode });
    const oauth = usual.filter(({ id }) => id === 'client' || id === 'refreshed');
    // A verification requests its own token, even if one is cached.
    await all(oauth, ({ id, credentials }) =>
      canary.call('POST', '/v1/verify_credentials', { bundle_id: id, credentials }),
    );
    canary.upstream.answers.token = 'granted';
  },
}));

const wireModes = ['echo', 'in-error', 'error-401', 'error-500', 'as-utf16le', 'reset'];
const directWays: Way[] = wireModes.map((mode) => ({
  name: `the direct call, upstream ${mode}`,
  go: (canary) =>
    all(usual, async ({ id, credentials }) => {
      const headers = { 'x-plugin-credentials': Buffer.from(JSON.stringify(credentials)).toString('base64url') };
      await canary.call('POST', `/v1/bundles/${id}/plugins/ask/execute`, { mode, q: marker }, headers);
    }),
}));

const isHandlerMode = (mode: string) => handlerModes.includes(mode) || mode === 'exits';
const mcpWays: Way[] = [...wireModes, 'throws', 'logs', 'exits'].map((mode) => ({
  name: `a tool of MCP, ${mode}`,
  go: (canary) =>
    all(mode === 'exits' ? [bearer] : isHandlerMode(mode) ? handled : usual, async ({ id, credentials }) => {
      const params = {
        name: `${id}__${isHandlerMode(mode) ? 'act' : 'ask'}`,
        arguments: { mode, q: marker },
        _meta: { 'quartermaster/credentials': credentials, progressToken: 1 },
      };
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
      const { status, text } = await canary.call('POST', '/mcp', message, headers);
      assert.equal(status, 200, text);
      assert.match(text, /"result"/, text);
    }),
}));

const replayWays: Way[] = [...wireModes, 'redirect-named'].map((mode) => ({
  name: `an idempotency key is used twice and after a crash, upstream ${mode}`,
  go: async (canary) => {
    const twice = () =>
      all(usual, async (scheme) => {
        for (const plugin of handled.includes(scheme) ? ['ask', 'act'] : ['ask']) {
          const input = { mode: plugin === 'act' ? `from-${mode}` : mode, q: marker };
          await canary.execute(scheme, plugin, input, { 'idempotency-key': `${scheme.id}-${plugin}-${mode}` });
        }
      });
    await twice();
    await twice();
    if (mode !== 'echo') return;
    await canary.restart();
    await twice();
  },
}));

const profileWays: Way[] = ['echo', 'in-error', 'error-401', 'as-utf16le', 'reset'].map((mode) => ({
  name: `a credential profile, upstream ${mode}`,
  go: (canary) =>
    all(mode === 'echo' ? usual : handled, async ({ id, credentials }) => {
      await canary.call('POST', '/v1/credential_profiles', { name: `of-${id}`, bundle_id: id, credentials });
      for (const plugin_id of ['ask', 'act']) {
        const input_params = { mode: plugin_id === 'act' ? `from-${mode}` : mode, q: marker };
        const call = { bundle_id: id, plugin_id, input_params, credentials: { $profile: `of-${id}` } };
        const { status, text } = await canary.call('POST', '/v1/execute', call);
        if (mode === 'echo') assert.equal(status, 200, text);
      }
      await canary.call('GET', `/v1/credential_profiles/of-${id}`);
    }),
}));

const endings: Way[] = [
  {
    name: 'the caller goes away',
    go: (canary) =>
      // Excludes the schemes with short time limits, which may expire before the upstream call on a busy machine.
      all([bearer], async ({ id, credentials }) => {
        const before = canary.upstream.count(id);
        const leaving = new AbortController();
        const gone = fetch(`${canary.service.pluginsUrl}/v1/execute`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            bundle_id: id,
            plugin_id: 'act',
            input_params: { mode: 'waits', q: marker },
            credentials,
          }),
          signal: leaving.signal,
        }).catch(() => 'gone');
        while (canary.upstream.count(id) === before) await canary.call('GET', '/v1/ready');
        leaving.abort();
        assert.equal(await gone, 'gone');
      }),
  },
  ...(['SIGKILL', 'SIGABRT'] as const).map((signal) => ({
    name: `the service dies of ${signal} while it runs`,
    go: async (canary: CanaryService) => {
      const before = canary.upstream.count('bearer');
      const dying = all([bearer, bearer], (scheme) =>
        canary.execute(scheme, 'act', { mode: 'waits', q: marker }).catch(() => 'died'),
      );
      while (canary.upstream.count('bearer') < before + 2) await canary.call('GET', '/v1/ready');
      canary.service.process.kill(signal);
      await dying;
      await canary.restart();
    },
  })),
];

export const ways: readonly Way[] = [
  ...[...upstreamWays, ...handlerWays, ...crashWays, ...callerWays, ...callerHandlerWays, ...refusedWays],
  ...[
    ...spilledWays,
    ...verifyWays,
    ...tokenWays,
    ...directWays,
    ...mcpWays,
    ...replayWays,
    ...profileWays,
    ...applicationWays,
    ...endings,
  ],
];
