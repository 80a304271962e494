// Serves the floors of the HTTP benches: routes that do nothing beyond what the framework does. Runs as a process of
// its own, like the service.
import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';
import { Pool } from 'undici';

const app = fastify({ logger: false });
const bytes = readFileSync(process.argv[2] ?? process.env.BENCH_BYTES ?? '/dev/null');
const upstream = process.env.BENCH_UPSTREAM;

const executeSchema = {
  body: {
    type: 'object',
    required: ['bundle_id', 'plugin_id', 'input_params', 'credentials'],
    properties: {
      bundle_id: { type: 'string' },
      plugin_id: { type: 'string' },
      input_params: { type: 'object' },
      credentials: { type: 'object' },
    },
  },
};

app.get('/bytes', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
app.post('/validated', { schema: executeSchema }, (_request, reply) =>
  reply.send({ status: 'success', data: { status: 200, data: { result: 3 }, run_id: 'x', duration_ms: 0 } }),
);
if (upstream !== undefined) {
  const pool = new Pool(upstream, { connections: 64 });
  app.post('/proxied', { schema: executeSchema }, async (_request, reply) => {
    const answer = await pool.request({ method: 'GET', path: '/v6/key/pair/USD/CNY' });
    const body = (await answer.body.json()) as { conversion_rate: number };
    return reply.send({ status: 'success', data: { status: 200, data: { rate: body.conversion_rate } } });
  });
}
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
