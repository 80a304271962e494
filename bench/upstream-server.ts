// Simulates a third party: it answers every request immediately with the payload that the exchange-rate API documents.
import { createServer } from 'node:http';

const body = JSON.stringify({
  result: 'success',
  documentation: 'https://www.exchangerate-api.com/docs',
  terms_of_use: 'https://www.exchangerate-api.com/terms',
  time_last_update_unix: 1585267200,
  time_last_update_utc: 'Fri, 27 Mar 2020 00:00:00 +0000',
  time_next_update_unix: 1585353700,
  time_next_update_utc: 'Sat, 28 Mar 2020 00:00:00 +0000',
  base_code: 'USD',
  target_code: 'CNY',
  conversion_rate: 7.1,
});
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
