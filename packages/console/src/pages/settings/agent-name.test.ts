import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfAgent } from './agent-name.ts';

test('a user agent is named by its browser and its system', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  const names = {
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/156.0.0.0 Safari/537.36`]: 'Chrome 156 · Linux',
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`]:
      'Edge 140 · Windows',
    'Mozilla/5.0 (Android 14; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0': 'Firefox 150 · Android',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1':
      'Safari 18 · iOS',
    'curl/8.5.0': 'curl/8.5.0',
  };
  for (const [agent, name] of Object.entries(names)) assert.equal(nameOfAgent(agent), name);
});
