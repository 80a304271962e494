import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { EgressPolicy } from './broker.ts';
import type { ResolvedAddress } from './connections.ts';
import {
  apiHost,
  apiOrigin,
  never,
  policyFor,
  startBroker,
  startServer,
  type TestServer,
} from './testing/broker.suite.ts';

/** Starts a server that no request may reach. */
const startTrap = (t: TestContext) => startServer(t, (_request, response) => response.end('secret of the network'));

const publicAddress = { address: '93.184.216.34', family: 4 };
const loopback = { address: '127.0.0.1', family: 4 };

/** Allows everything by policy, so that only the address can be refused. */
function openPolicy(trap: TestServer, host: string): EgressPolicy {
  return policyFor({ hosts: new Set([apiHost, host, `${host}:${trap.port}`]), schemes: new Set(['http', 'https']) });
}

const literals =
  `0 0.0.0.0 127.0.0.1 127.1 127.0.1 0x7f.1 0x7f000001 017700000001 0177.0.0.1 2130706433 ①②⑦.⓪.⓪.① 127。0。0。1
    127.0.0.1. %31%32%37.0.0.1 [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1]
    [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [::127.0.0.1] [2002:7f00:1::] [2001:0:7f00:1::] [fe80::1] [fd00::1]
    [fec0::1] [ff02::1] 169.254.169.254 [::ffff:a9fe:a9fe] 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1
    198.18.0.1 192.0.0.1 224.0.0.1 240.0.0.1 255.255.255.255`.split(/\s+/);

describe('the egress policy', () => {
  it(`refuses ${literals.length} spellings of forbidden addresses, directly and behind each kind of redirect`, async (t) => {
    const trap = await startTrap(t);
    let location = '';
    let status = 302;
    const redirector = await startServer(t, (_request, response) => response.writeHead(status, { location }).end());
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, redirector.origin]]) });
    for (const literal of literals) {
      const url = `https://${literal}:${trap.port}/`;
      const policy = openPolicy(trap, new URL(url).hostname.replace(/^\[|\]$/g, ''));
      assert.equal((await broker.send({ method: 'GET', url }, policy, never)).kind, 'refused', url);
      location = url;
      // A header cannot carry other characters.
      const isAscii = /^[\x21-\x7e]*$/.test(url);
      for (status of isAscii ? [301, 302, 303, 307, 308] : []) {
        const result = await broker.send({ method: 'GET', url: apiOrigin }, policy, never);
        assert.deepEqual([result.kind, status], ['refused', status], url);
      }
    }
    assert.equal(trap.connections(), 0);
  });

  const answers: Readonly<Record<string, readonly ResolvedAddress[]>> = {
    loopback: [loopback],
    'loopback in IPv6': [{ address: '::1', family: 6 }],
    'a mapped address': [{ address: '::ffff:127.0.0.1', family: 6 }],
    'a translated address': [{ address: '64:ff9b::7f00:1', family: 6 }],
    'a link-local address with a zone': [{ address: 'fe80::1%lo', family: 6 }],
    'the metadata address': [{ address: '169.254.169.254', family: 4 }],
    'a public address first': [publicAddress, loopback],
    'a public address last': [loopback, publicAddress],
    'a public address between': [{ address: '10.0.0.1', family: 4 }, publicAddress, { address: '::1', family: 6 }],
    'no address': [],
  };
  for (const [name, addresses] of Object.entries(answers)) {
    it(`refuses a name that resolves to ${name}, directly and behind a redirect`, async (t) => {
      const trap = await startTrap(t);
      const url = `http://evil.example.com:${trap.port}/`;
      const redirector = await startServer(t, (_request, response) => response.writeHead(307, { location: url }).end());
      const overrides = new Map([['http://first.example.com', redirector.origin]]);
      const broker = startBroker(t, { overrides, resolve: async () => addresses });
      const policy = policyFor({
        hosts: new Set(['first.example.com', `evil.example.com:${trap.port}`]),
        schemes: new Set(['http']),
      });
      assert.equal((await broker.send({ method: 'GET', url }, policy, never)).kind, 'refused');
      const redirected = await broker.send({ method: 'GET', url: 'http://first.example.com/' }, policy, never);
      assert.equal(redirected.kind, 'refused');
      assert.equal(redirector.requests.length, 1);
      assert.equal(trap.connections(), 0);
    });
  }

  it('resolves a name once for each connection and dials the checked address, so that a second lookup changes nothing', async (t) => {
    const trap = await startTrap(t);
    let lookups = 0;
    // The first address is allowed and has no server. A second lookup would lead to the trap.
    const resolve = async () => {
      lookups += 1;
      return [lookups === 1 ? { address: '127.0.0.9', family: 4 } : loopback];
    };
    const broker = startBroker(t, { resolve, allow: ['127.0.0.9'] });
    const policy = openPolicy(trap, 'rebinding.example.com');
    const send = () =>
      broker.send({ method: 'POST', url: `http://rebinding.example.com:${trap.port}/` }, policy, never);
    assert.equal((await send()).kind, 'unreachable');
    assert.equal(lookups, 1);
    assert.equal((await send()).kind, 'refused');
    assert.equal(trap.connections(), 0);
  });

  it('does not allow other requests to use the address of an override', async (t) => {
    const trap = await startTrap(t);
    const inside = `http://inside.example.com:${trap.port}`;
    const broker = startBroker(t, { overrides: new Map([[apiOrigin, inside]]), resolve: async () => [loopback] });
    const policy = openPolicy(trap, 'inside.example.com');
    assert.equal((await broker.send({ method: 'GET', url: apiOrigin }, policy, never)).kind, 'response');
    assert.equal((await broker.send({ method: 'GET', url: inside }, policy, never)).kind, 'refused');
    assert.equal(trap.requests.length, 1);
  });

  it('reaches an address that the operator allows, by literal and by name', async (t) => {
    const server = await startServer(t, (_request, response) => response.end('inside'));
    const broker = startBroker(t, { allow: ['127.0.0.1/32'], resolve: async () => [loopback] });
    for (const host of ['127.0.0.1', 'inside.example.com']) {
      const url = `http://${host}:${server.port}/`;
      assert.equal((await broker.send({ method: 'GET', url }, openPolicy(server, host), never)).kind, 'response');
    }
  });

  const undeclared = [
    'https://evil.com\\@api.example.com/',
    '',
    'not a url',
    ...`https://other.example.com/ https://api.example.com.evil.com/ https://api.example.com./
    https://api.example.com:8443/ https://evil.com#@api.example.com/ https://api.example.com@evil.com/
    https://user:pass@api.example.com/ https://user@api.example.com/ http://api.example.com/
    https://xapi.example.com/ https://api-example.com/ https://api.example.com%2eevil.com/
    ftp://api.example.com/ file:///etc/passwd data:text/plain,a gopher://api.example.com/
    blob:https://api.example.com/a javascript:alert(1) ws://api.example.com/ //api.example.com/ /path https://`.split(
      /\s+/,
    ),
  ];
  it(`refuses ${undeclared.length} addresses whose scheme, host or port is not declared, without a lookup`, async (t) => {
    let lookups = 0;
    const resolve = async () => {
      lookups += 1;
      return [publicAddress];
    };
    const broker = startBroker(t, { resolve });
    for (const url of undeclared) {
      assert.equal((await broker.send({ method: 'GET', url }, policyFor(), never)).kind, 'refused', url);
    }
    assert.equal(lookups, 0);
  });

  it('allows web pages only over https, on the default port and at public addresses', async (t) => {
    const trap = await startTrap(t);
    const broker = startBroker(t, { resolve: async () => [loopback] });
    const policy = policyFor({ hosts: 'any' });
    for (const url of [
      'http://page.example.com/',
      'https://page.example.com:8443/',
      `https://127.0.0.1:${trap.port}/`,
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://page.example.com/',
      'https://localhost/',
      'https://a:b@page.example.com/',
    ]) {
      assert.equal((await broker.send({ method: 'GET', url }, policy, never)).kind, 'refused', url);
    }
    assert.equal(trap.connections(), 0);
  });
});
