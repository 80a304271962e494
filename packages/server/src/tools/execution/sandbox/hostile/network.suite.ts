import { casesOf, type HostileCase } from './hostile-case.suite.ts';

const net = `const net = await need('net');`;
const listening = (at: string): string =>
  `await new Promise((yes, no) => { const it = net.createServer().on('error', no).listen(${at}, () => it.close(yes)); });`;

/** Attempts to communicate with anything except the host. */
export const network: readonly HostileCase[] = casesOf({
  'connect to a server of this machine': `${net} await dial(net, { port: input.tcp, host: '127.0.0.1' });`,
  'connect by IPv6': `${net} await dial(net, { port: input.tcp, host: '::ffff:127.0.0.1' });`,
  'connect by name': `${net} await dial(net, { port: input.tcp, host: 'localhost', family: 4 });`,
  'connect to an abstract socket': `${net} await dial(net, { path: input.abstract });`,
  'connect to a socket in a folder': `${net} await dial(net, { path: input.socketFile });`,
  'connect by the class of an existing socket': `const Socket = console._stdout?.constructor ?? (await need('net')).Socket; const it = new Socket();
      await new Promise((yes, no) => it.on('error', no).connect({ port: input.tcp, host: '127.0.0.1' }, () => { it.destroy(); yes(); }));`,
  'listen by TCP': `${net} ${listening("{ port: 0, host: '127.0.0.1' }")}`,
  'listen on all addresses': `${net} ${listening("{ port: 0, host: '0.0.0.0' }")}`,
  'listen on an abstract socket': `${net} ${listening("{ path: '\\0qm-hostile-' + process.pid }")}`,
  'listen on a socket in a folder': `${net} ${listening("{ path: input.commons + '/socket' }")}`,
  'send a datagram': `const it = (await need('dgram')).createSocket('udp4');
      await new Promise((yes, no) => it.on('error', no).send('canary', input.udp, '127.0.0.1', (e) => e ? no(e) : yes())).finally(() => it.close());`,
  'bind a UDP port': `const it = (await need('dgram')).createSocket('udp4');
      await new Promise((yes, no) => it.on('error', no).bind(0, '127.0.0.1', yes)).finally(() => it.close());`,
  'join a multicast group': `const it = (await need('dgram')).createSocket({ type: 'udp4', reuseAddr: true });
      await new Promise((yes, no) => it.on('error', no).bind(0, yes)); it.addMembership('224.0.0.251', '127.0.0.1'); it.close();`,
  'look up a host of the machine': `await (await need('dns/promises')).lookup('localhost');`,
  'send data to a name server': `const { Resolver } = await need('dns/promises'); const it = new Resolver({ timeout: 200, tries: 1 }); it.setServers(['127.0.0.1:' + input.udp]);
      await it.resolve4('secret.example.com').catch((cause) => { if (cause.code !== 'ETIMEOUT') throw cause; });`,
  fetch: `const send = globalThis.fetch; must((await send('http://127.0.0.1:' + input.tcp, { signal: AbortSignal.timeout(3000) })).ok);`,
  'open a WebSocket': `const it = new WebSocket('ws://127.0.0.1:' + input.tcp); await new Promise((yes, no) => { it.onopen = yes; it.onerror = (e) => /101|network error|Received/.test(e.message ?? e.error?.message) ? yes() : no(e); });`,
  'send an HTTP request': `const http = await need('http'); await new Promise((yes, no) => http.get({ port: input.tcp, host: '127.0.0.1' }, yes).on('error', no));`,
  'send an HTTP request through an agent': `const http = await need('http'); const agent = new http.Agent({ keepAlive: false });
      await new Promise((yes, no) => http.request({ agent, port: input.tcp, host: '127.0.0.1', method: 'POST' }, yes).on('error', no).end('secret'));`,
  'connect by TLS': `const tls = await need('tls'); await new Promise((yes, no) => { const it = tls.connect({ port: input.tcp, host: '127.0.0.1' }).on('error', (e) => /^(ERR_SSL|EPROTO)/.test(e.code) ? yes() : no(e)); it.on('secureConnect', yes); });`,
  'connect by HTTP/2': `const h2 = await need('http2'); await new Promise((yes, no) => { const it = h2.connect('http://127.0.0.1:' + input.tcp); it.on('connect', () => { it.destroy(); yes(); }); it.on('error', no); });`,
  'import a module from a server': `await import('http://127.0.0.1:' + input.tcp + '/a.mjs');`,
  'open the inspector': `const it = await need('inspector'); it.open(0, '127.0.0.1'); try { must(it.url()); } finally { it.close(); }`,
  'debug itself and read with the objects found': `const { Session } = await need('inspector'); const it = new Session(); it.connect();
      const found = await new Promise((yes) => it.post('Runtime.evaluate', { expression: 'process', includeCommandLineAPI: true }, (e, r) => yes(!e && r)));
      must(found); reach(input, globalThis.process);`,
  'have itself debugged by a signal': `process.kill(process.pid, 'SIGUSR1'); await new Promise((done) => setTimeout(done, 50)); must((await need('inspector')).url());`,
  'see network interfaces': `const os = await need('os'); must(Object.keys(os.networkInterfaces()).length > 0);`,
  'see the connections of the machine': `must((await need('fs')).readFileSync('/proc/net/tcp', 'latin1').split('\\n').length > 2);`,
});
