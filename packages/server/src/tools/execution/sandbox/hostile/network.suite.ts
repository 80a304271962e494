import type { HostileCase } from './hostile-case.suite.ts';

const net = `const net = await need('net');`;
const listening = (at: string): string =>
  `await new Promise((yes, no) => { const it = net.createServer().on('error', no).listen(${at}, () => it.close(yes)); });`;

/** Attempts to communicate with anything except the host. */
export const network: readonly HostileCase[] = [
  {
    does: 'connect to a server of this machine',
    body: `${net} await dial(net, { port: input.tcp, host: '127.0.0.1' });`,
  },
  { does: 'connect by IPv6', body: `${net} await dial(net, { port: input.tcp, host: '::ffff:127.0.0.1' });` },
  { does: 'connect by name', body: `${net} await dial(net, { port: input.tcp, host: 'localhost', family: 4 });` },
  { does: 'connect to an abstract socket', body: `${net} await dial(net, { path: input.abstract });` },
  { does: 'connect to a socket in a folder', body: `${net} await dial(net, { path: input.socketFile });` },
  {
    does: 'connect by the class of an existing socket',
    body: `const Socket = console._stdout?.constructor ?? (await need('net')).Socket; const it = new Socket();
      await new Promise((yes, no) => it.on('error', no).connect({ port: input.tcp, host: '127.0.0.1' }, () => { it.destroy(); yes(); }));`,
  },
  { does: 'listen by TCP', body: `${net} ${listening("{ port: 0, host: '127.0.0.1' }")}` },
  { does: 'listen on all addresses', body: `${net} ${listening("{ port: 0, host: '0.0.0.0' }")}` },
  { does: 'listen on an abstract socket', body: `${net} ${listening("{ path: '\\0qm-hostile-' + process.pid }")}` },
  { does: 'listen on a socket in a folder', body: `${net} ${listening("{ path: input.commons + '/socket' }")}` },
  {
    does: 'send a datagram',
    body: `const it = (await need('dgram')).createSocket('udp4');
      await new Promise((yes, no) => it.on('error', no).send('canary', input.udp, '127.0.0.1', (e) => e ? no(e) : yes())).finally(() => it.close());`,
  },
  {
    does: 'bind a UDP port',
    body: `const it = (await need('dgram')).createSocket('udp4');
      await new Promise((yes, no) => it.on('error', no).bind(0, '127.0.0.1', yes)).finally(() => it.close());`,
  },
  {
    does: 'join a multicast group',
    body: `const it = (await need('dgram')).createSocket({ type: 'udp4', reuseAddr: true });
      await new Promise((yes, no) => it.on('error', no).bind(0, yes)); it.addMembership('224.0.0.251', '127.0.0.1'); it.close();`,
  },
  { does: 'look up a host of the machine', body: `await (await need('dns/promises')).lookup('localhost');` },
  {
    does: 'send data to a name server',
    body: `const { Resolver } = await need('dns/promises'); const it = new Resolver({ timeout: 200, tries: 1 }); it.setServers(['127.0.0.1:' + input.udp]);
      await it.resolve4('secret.example.com').catch((cause) => { if (cause.code !== 'ETIMEOUT') throw cause; });`,
  },
  {
    does: 'fetch',
    body: `const send = globalThis.fetch; must((await send('http://127.0.0.1:' + input.tcp, { signal: AbortSignal.timeout(3000) })).ok);`,
  },
  {
    does: 'open a WebSocket',
    body: `const it = new WebSocket('ws://127.0.0.1:' + input.tcp); await new Promise((yes, no) => { it.onopen = yes; it.onerror = (e) => /101|network error|Received/.test(e.message ?? e.error?.message) ? yes() : no(e); });`,
  },
  {
    does: 'send an HTTP request',
    body: `const http = await need('http'); await new Promise((yes, no) => http.get({ port: input.tcp, host: '127.0.0.1' }, yes).on('error', no));`,
  },
  {
    does: 'send an HTTP request through an agent',
    body: `const http = await need('http'); const agent = new http.Agent({ keepAlive: false });
      await new Promise((yes, no) => http.request({ agent, port: input.tcp, host: '127.0.0.1', method: 'POST' }, yes).on('error', no).end('secret'));`,
  },
  {
    does: 'connect by TLS',
    body: `const tls = await need('tls'); await new Promise((yes, no) => { const it = tls.connect({ port: input.tcp, host: '127.0.0.1' }).on('error', (e) => /^(ERR_SSL|EPROTO)/.test(e.code) ? yes() : no(e)); it.on('secureConnect', yes); });`,
  },
  {
    does: 'connect by HTTP/2',
    body: `const h2 = await need('http2'); await new Promise((yes, no) => { const it = h2.connect('http://127.0.0.1:' + input.tcp); it.on('connect', () => { it.destroy(); yes(); }); it.on('error', no); });`,
  },
  { does: 'import a module from a server', body: `await import('http://127.0.0.1:' + input.tcp + '/a.mjs');` },
  {
    does: 'open the inspector',
    body: `const it = await need('inspector'); it.open(0, '127.0.0.1'); try { must(it.url()); } finally { it.close(); }`,
  },
  {
    does: 'debug itself and read with the objects found',
    body: `const { Session } = await need('inspector'); const it = new Session(); it.connect();
      const found = await new Promise((yes) => it.post('Runtime.evaluate', { expression: 'process', includeCommandLineAPI: true }, (e, r) => yes(!e && r)));
      must(found); reach(input, globalThis.process);`,
  },
  {
    does: 'have itself debugged by a signal',
    body: `process.kill(process.pid, 'SIGUSR1'); await new Promise((done) => setTimeout(done, 50)); must((await need('inspector')).url());`,
  },
  {
    does: 'see network interfaces',
    body: `const os = await need('os'); must(Object.keys(os.networkInterfaces()).length > 0);`,
  },
  {
    does: 'see the connections of the machine',
    body: `must((await need('fs')).readFileSync('/proc/net/tcp', 'latin1').split('\\n').length > 2);`,
  },
];
